/** A template that the provider pauses and reinstates, seen from outside while its campaign runs. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateData } from '../../src/codecs/event.ts';
import { createCallbackPoll } from '../../src/commands/callbacks/apply-provider-callbacks.ts';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import {
  appSecret,
  eventsOf,
  fieldCallback,
  rowsOf,
  signatureOf,
  subscribeToAll,
} from '../support/callback-fixtures.ts';
import { createCampaignFixture, until, type CampaignFixture } from '../support/campaign-fixture.ts';
import { refuse, accept } from '../support/fake-provider.ts';
import { bundleWorkflows, startTimeSkippingTemporal } from '../support/temporal.ts';

let api: TestApi;
let temporal: TestWorkflowEnvironment;
let workflowBundle: WorkflowBundleWithSourceMap;

beforeAll(async () => {
  [api, temporal, workflowBundle] = await Promise.all([
    startTestApi({ config: { providerAppSecret: appSecret } }),
    startTimeSkippingTemporal(),
    bundleWorkflows(),
  ]);
});
afterAll(async () => {
  await temporal?.teardown();
  await api?.close();
});

interface TemplateFixture {
  readonly workspaceId: number;
  readonly account: string;
  readonly providerTemplateId: string;
  readonly key: string;
}

async function templateFixtureOf({ campaignId }: CampaignFixture): Promise<TemplateFixture> {
  const { database } = api.dependencies;
  const [found] = await rowsOf<Omit<TemplateFixture, 'key'> & { readonly channelId: string }>(
    database,
    sql.fragment`SELECT campaign.workspace_id AS "workspaceId", business_account_id AS account,
        provider_template_id AS "providerTemplateId", channel_id AS "channelId"
      FROM campaign JOIN template ON template.id = template_id WHERE campaign.id = ${campaignId}`,
  );
  if (found === undefined) throw new Error('The campaign is gone');
  const { workspaceId, channelId } = found;
  await subscribeToAll(database, workspaceId);
  const { apiKey } = await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' });
  return { ...found, key: apiKey };
}

/** The provider's callback, and the worker that applies it. */
async function reportStatus(
  fixture: CampaignFixture,
  { account, providerTemplateId }: TemplateFixture,
  event: string,
): Promise<void> {
  const value = {
    event,
    message_template_id: providerTemplateId,
    message_template_name: 'hello',
    message_template_language: 'en-US',
    reason: event === 'PAUSED' ? 'LOW_QUALITY' : 'NONE',
  };
  const body = JSON.stringify(fieldCallback(account, 'message_template_status_update', value));
  const headers = { 'X-Hub-Signature-256': signatureOf(body) };
  expect((await api.send('POST', '/provider/webhook', { body, headers })).status).toBe(200);
  const { orchestrator } = fixture.dependencies;
  while ((await createCallbackPoll({ ...api.dependencies, orchestrator })()) > 0);
}

const recordOf = async ({ campaignId }: CampaignFixture, { key }: TemplateFixture) =>
  (await api.send('GET', `/api/campaigns/${campaignId}`, { key })).body.data;

const templateEvents = async ({ workspaceId }: TemplateFixture) =>
  (await eventsOf(api.dependencies.database, workspaceId))
    .filter(({ eventKey }) => eventKey === 'template')
    .map(({ data }) => data);

const servers = () => ({ database: api.dependencies.database, temporal, workflowBundle });

/** Starts again over the API; the workflow learns of it as of any change. */
async function startAgain(fixture: CampaignFixture, { key }: TemplateFixture) {
  const answer = await api.send('POST', `/api/campaigns/${fixture.campaignId}/start`, { key });
  if (answer.status === 202) await fixture.dependencies.orchestrator.refreshCampaign(fixture.campaignId);
  return answer;
}

describe('a template of a running campaign', () => {
  it('pauses the campaign when the provider pauses it, and lets the campaign start again once it is reinstated', async () => {
    let reinstate = (): void => undefined;
    const reinstated = new Promise<void>((resolve) => {
      reinstate = resolve;
    });
    // One message is answered after the pause: the campaign is not completed before.
    const fixture = await createCampaignFixture(servers(), {
      recipients: 200,
      messagesPerSecond: 100,
      answer: async (message, count) => {
        if (count === 150) await reinstated;
        return accept(message, count);
      },
    });
    const template = await templateFixtureOf(fixture);
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => fixture.provider.received.length > 20);
      await reportStatus(fixture, template, 'PAUSED');
      expect(await recordOf(fixture, template)).toMatchObject({
        status: 'PAUSED',
        pause_reason: 'TEMPLATE_UNAVAILABLE',
      });
      const { claimedPosition } = (await fixture.snapshot()).counts;
      expect(await startAgain(fixture, template)).toMatchObject({ status: 409 });

      await reportStatus(fixture, template, 'REINSTATED');
      expect(await recordOf(fixture, template)).toMatchObject({ status: 'PAUSED' });
      expect((await fixture.snapshot()).counts.claimedPosition).toBe(claimedPosition);
      expect(fixture.provider.received.length).toBeLessThanOrEqual(claimedPosition);
      reinstate();
      expect(await startAgain(fixture, template)).toMatchObject({ status: 202 });
      await fixture.result();
    });
    expect(await recordOf(fixture, template)).toMatchObject({
      status: 'COMPLETED',
      counters: { accepted: 200 },
    });
    expect(new Set(fixture.provider.received.map(({ to }) => to)).size).toBe(200);
    expect(fixture.provider.received).toHaveLength(200);
    const events = await templateEvents(template);
    expect(events.map(({ newStatus, reason }) => [newStatus, reason])).toEqual([
      ['PAUSED', 'LOW_QUALITY'],
      ['REINSTATED', null],
    ]);
    expect(events.every((data) => TemplateData.is(data))).toBe(true);
  });

  it('is recorded and emits one event when a rejection shows that it is paused', async () => {
    let refused = true;
    const fixture = await createCampaignFixture(servers(), {
      recipients: 60,
      answer: (message, count) => (refused ? refuse(132_015)(message, count) : accept(message, count)),
    });
    const template = await templateFixtureOf(fixture);
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.snapshot()).pauseReason === 'TEMPLATE_UNAVAILABLE');
      expect(await fixture.snapshot()).toMatchObject({ counts: { pending: 60, failed: 0, claimed: 0 } });
      await reportStatus(fixture, template, 'PAUSED');
      refused = false;
      await reportStatus(fixture, template, 'APPROVED');
      expect(await startAgain(fixture, template)).toMatchObject({ status: 202 });
      expect(await fixture.result()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 60 } });
    });
    expect(await templateEvents(template)).toMatchObject([
      {
        type: 'STATUS',
        newStatus: 'PAUSED',
        providerTemplateId: template.providerTemplateId,
        name: 'hello',
        language: 'en_US',
        reason: null,
        template: { provider_template_id: template.providerTemplateId, provider_template_status: 'PAUSED' },
      },
      { type: 'STATUS', newStatus: 'APPROVED' },
    ]);
  });
});
