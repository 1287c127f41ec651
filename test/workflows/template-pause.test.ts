/** A template that the provider pauses and reinstates, seen from outside while its campaign runs. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateData } from '../../src/codecs/event.ts';
import { createCallbackRounds } from '../../src/commands/callbacks/apply-provider-callbacks.ts';
import { createApiKey } from '../../src/commands/workspaces/create-api-key.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import {
  appSecret,
  eventsOf,
  fieldCallback,
  rowsOf,
  signatureOf,
  subscribeToAll,
} from '../support/callback-fixtures.ts';
import { setCampaignScene, until, type Scene } from '../support/campaign-scene.ts';
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

interface Place {
  readonly workspaceId: number;
  readonly account: string;
  readonly providerTemplateId: string;
  readonly key: string;
}

async function placeOf({ campaignId }: Scene): Promise<Place> {
  const { database } = api.dependencies;
  const [found] = await rowsOf<Omit<Place, 'key'> & { readonly channelId: string }>(
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
async function tell(scene: Scene, { account, providerTemplateId }: Place, event: string): Promise<void> {
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
  const { orchestrator } = scene.dependencies;
  while ((await createCallbackRounds({ ...api.dependencies, orchestrator })()) > 0);
}

const recordOf = async ({ campaignId }: Scene, { key }: Place) =>
  (await api.send('GET', `/api/campaigns/${campaignId}`, { key })).body.data;

const templateEvents = async ({ workspaceId }: Place) =>
  (await eventsOf(api.dependencies.database, workspaceId))
    .filter(({ eventKey }) => eventKey === 'template')
    .map(({ data }) => data);

const stage = () => ({ database: api.dependencies.database, temporal, workflowBundle });

/** Starts again over the API; the workflow learns of it as of any change. */
async function startAgain(scene: Scene, { key }: Place) {
  const answer = await api.send('POST', `/api/campaigns/${scene.campaignId}/start`, { key });
  if (answer.status === 202) await scene.dependencies.orchestrator.refreshCampaign(scene.campaignId);
  return answer;
}

describe('a template of a running campaign', () => {
  it('pauses it when the provider pauses the template, and lets it start again once it is reinstated', async () => {
    const scene = await setCampaignScene(stage(), { recipients: 200, messagesPerSecond: 100 });
    const place = await placeOf(scene);
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => scene.provider.received.length > 20);
      await tell(scene, place, 'PAUSED');
      expect(await recordOf(scene, place)).toMatchObject({
        status: 'PAUSED',
        pause_reason: 'TEMPLATE_UNAVAILABLE',
      });
      expect(await startAgain(scene, place)).toMatchObject({ status: 409 });

      await tell(scene, place, 'REINSTATED');
      expect(await recordOf(scene, place)).toMatchObject({ status: 'PAUSED' });
      const left = scene.provider.received.length;
      expect(left).toBeLessThan(200);
      expect(await startAgain(scene, place)).toMatchObject({ status: 202 });
      await scene.result();
    });
    expect(await recordOf(scene, place)).toMatchObject({ status: 'COMPLETED', counters: { accepted: 200 } });
    expect(new Set(scene.provider.received.map(({ to }) => to)).size).toBe(200);
    expect(scene.provider.received).toHaveLength(200);
    const events = await templateEvents(place);
    expect(events.map(({ newStatus, reason }) => [newStatus, reason])).toEqual([
      ['PAUSED', 'LOW_QUALITY'],
      ['REINSTATED', null],
    ]);
    expect(events.every((data) => TemplateData.is(data))).toBe(true);
  });

  it('is noted and told once when a refusal shows that it is paused', async () => {
    let refused = true;
    const scene = await setCampaignScene(stage(), {
      recipients: 60,
      answer: (message, count) => (refused ? refuse(132_015)(message, count) : accept(message, count)),
    });
    const place = await placeOf(scene);
    await scene.withWorker(async () => {
      await scene.start();
      await until(async () => (await scene.standing()).pauseReason === 'TEMPLATE_UNAVAILABLE');
      expect(await scene.standing()).toMatchObject({ counts: { pending: 60, failed: 0, claimed: 0 } });
      await tell(scene, place, 'PAUSED');
      refused = false;
      await tell(scene, place, 'APPROVED');
      expect(await startAgain(scene, place)).toMatchObject({ status: 202 });
      expect(await scene.result()).toMatchObject({ status: 'COMPLETED', counts: { accepted: 60 } });
    });
    expect(await templateEvents(place)).toMatchObject([
      {
        type: 'STATUS',
        newStatus: 'PAUSED',
        providerTemplateId: place.providerTemplateId,
        name: 'hello',
        language: 'en_US',
        reason: null,
        template: { provider_template_id: place.providerTemplateId, provider_template_status: 'PAUSED' },
      },
      { type: 'STATUS', newStatus: 'APPROVED' },
    ]);
  });
});
