/**
 * Every kind of template, through our API and the simulator: a sync imports it, its variables and its payload skeleton are read,
 * and the skeleton is sent once as a single message and once by a campaign. The simulator checks every parameter.
 */
import { Readable } from 'node:stream';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beginCampaign } from '../../src/commands/campaigns/begin-campaign.ts';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { createChannel } from '../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { nothing } from '../../src/records/database/row.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { startTestSimulator, type SimulatorClient } from '../local/simulator/client.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { rowsOf } from '../support/callback-fixtures.ts';
import { providerProblems } from '../support/provider-request.ts';
import { templateFixtures, type TemplateFixture } from '../support/template-fixtures.ts';

let simulator: SimulatorClient;
let api: TestApi;
let channelKey: string;

beforeAll(async () => {
  simulator = await startTestSimulator();
  api = await startTestApi({
    dependencies: {
      provider: createCloudProvider({ baseUrl: simulator.baseUrl, connections: 8, timeoutMs: 10_000 }),
    },
  });
  const { businessAccountId, phoneNumberId, channelId } = await seedChannel();
  await simulator.control('accounts', { businessAccountId, phoneNumberIds: [phoneNumberId] });
  await postLedgerEntry(api.dependencies.database, { channelId, kind: 'recharge', amount: 100_000_000n });
  for (const fixture of sendable) {
    const { category, components, parameterFormat: parameter_format } = fixture;
    const template = { name: nameOf(fixture), language: 'en_US', category, components, parameter_format };
    await simulator.control('templates', { businessAccountId, template });
  }
  await call('POST', '/api/templates/sync');
});
afterAll(async () => {
  await api.dependencies.provider.close();
  await api.close();
  await simulator.close();
});

/** Uses an access token of the form that the simulator accepts. */
async function seedChannel() {
  const { workspaceId } = await createWorkspace(api.dependencies, { name: 'Every kind' });
  const place = { workspaceId, businessAccountId: '5551000', phoneNumberId: '5552000' };
  const { channelId } = await createChannel(api.dependencies, {
    ...place,
    displayPhoneNumber: '+49 30 1234567',
    accessToken: 'EAAtest',
  });
  channelKey = (await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' })).apiKey;
  return { ...place, channelId };
}

/** The skeletons link to files of a server that does not exist. */
const anyFile: Dependencies['outbound']['fetchFile'] = async () => ({
  ok: true,
  contentType: '',
  stream: Readable.from([Buffer.from('file')], { objectMode: false }),
});

/** Templates with a header of an unknown format cannot be sent. */
const sendable = templateFixtures.filter(({ kind }) => kind !== 'unknown parts');

const nameOf = ({ kind }: TemplateFixture): string => kind.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');

const call = (method: string, path: string, body?: unknown) =>
  api.send(method, path, { key: channelKey, ...(body !== undefined && { body }) });

async function templateIdOf(fixture: TemplateFixture): Promise<string> {
  const { body } = await call('GET', `/api/templates?limit=100&search=${nameOf(fixture)}`);
  const found = (body.data as { id: string; name: string }[]).find(({ name }) => name === nameOf(fixture));
  return found?.id ?? '';
}

/** Components of the one message that the provider accepted for this number. */
async function takenBy(to: string): Promise<readonly unknown[]> {
  const { recent } = (await simulator.query(`messages?limit=1&to=${to}`)) as {
    recent: { body: { template: { components?: unknown[] } } }[];
  };
  expect(recent).toHaveLength(1);
  return recent[0]?.body.template.components ?? [];
}

let numbers = 0;
/** A new valid number for every campaign; the simulator injects no failure for it. */
const newNumber = (): string => `49151${String(12_345_000 + (numbers += 1))}`;

it('imports every kind of template in one sync', async () => {
  const { body } = await call('POST', '/api/templates/sync');
  expect(body.data.added).toBe(0);
  expect(body.data.synced).toBeGreaterThanOrEqual(sendable.length);
});

const needsMarketingEndpoint = ({ kind }: TemplateFixture): boolean => kind === 'gif header';
const useMarketingEndpoint = (on: boolean) =>
  api.dependencies.database.query(sql.type(nothing)`
    UPDATE channel SET marketing_endpoint = ${on} WHERE phone_number_id = '5552000'`);

it('refuses a GIF on the ordinary endpoint', async () => {
  const gif = sendable.filter(needsMarketingEndpoint);
  const templateId = await templateIdOf(gif[0] as TemplateFixture);
  const skeleton = (await call('GET', `/api/templates/${templateId}/payload-skeleton`)).body.data;
  const message = `The template cannot be sent by this service, choose another: it has a header of format GIF, which only a MARKETING template of a channel with marketing_endpoint may have`;
  const sent = await call('POST', '/api/templates/external/message/send', skeleton);
  expect([sent.status, sent.body.error]).toEqual([400, [{ field: 'templateId', message }]]);
  const created = await call('POST', '/api/campaigns/auto-trigger', {
    name: 'GIF',
    template_id: templateId,
    contact_selection_type: 'quick_contacts',
    quick_contacts: [`+${newNumber()}`],
    variable_mapping: skeleton.variableMapping,
    send_type: 'IMMEDIATE',
  });
  expect([created.status, created.body.error]).toEqual([400, [{ field: 'template_id', message }]]);
});

describe.each(sendable)('a template of kind: $kind', (fixture) => {
  beforeEach(async () => void (await useMarketingEndpoint(needsMarketingEndpoint(fixture))));

  it('names the variables it requires', async () => {
    const { body } = await call('GET', `/api/templates/${await templateIdOf(fixture)}/variables`);
    expect(body).toEqual({ status: 'success', data: fixture.variables });
  });

  it('is accepted by the provider when its skeleton is sent unchanged', async () => {
    const skeleton = (await call('GET', `/api/templates/${await templateIdOf(fixture)}/payload-skeleton`))
      .body.data as { recipientPhoneNumber: string };
    const answer = await call('POST', '/api/templates/external/message/send', skeleton);
    expect(answer).toMatchObject({ status: 200, body: { data: { status: 'accepted' } } });
    expect(providerProblems(await takenBy(skeleton.recipientPhoneNumber))).toEqual([]);
  });

  it('is sent by a campaign with the mapping of its skeleton', async () => {
    const templateId = await templateIdOf(fixture);
    const { body } = await call('GET', `/api/templates/${templateId}/payload-skeleton`);
    const number = newNumber();
    const created = await call('POST', '/api/campaigns/auto-trigger', {
      name: fixture.kind,
      template_id: templateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: [`+${number}`],
      variable_mapping: body.data.variableMapping,
      send_type: 'IMMEDIATE',
    });
    expect(created.status).toBe(201);
    const campaignId = String(created.body.data.campaign.id);
    const signal = new AbortController().signal;
    const outbound = { ...api.dependencies.outbound, fetchFile: anyFile };
    const dependencies = { ...api.dependencies, outbound };
    await prepareCampaign(dependencies, campaignId, { heartbeat: () => undefined, signal });
    await beginCampaign(api.dependencies, campaignId);
    await runSendStep(api.dependencies, campaignId, { budgetMs: 3_000, draining: () => false });
    const recipients = sql.fragment`SELECT phone_number, state, reason FROM recipient WHERE campaign_id = ${campaignId}`;
    expect(await rowsOf(api.dependencies.database, recipients)).toEqual([
      { phone_number: number, state: 'ACCEPTED', reason: null },
    ]);
    expect(providerProblems(await takenBy(number))).toEqual([]);
  });
});
