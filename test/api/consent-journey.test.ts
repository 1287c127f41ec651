/** A Mexican contact from the first campaign to the erasure, against a provider that writes the number in its own way. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stepErasure } from '../../src/commands/contacts/run-erasures.ts';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import { createCallbackPoll } from '../../src/commands/callbacks/apply-provider-callbacks.ts';
import { beginCampaign } from '../../src/commands/campaigns/begin-campaign.ts';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { updateChannel } from '../../src/commands/workspaces/channels.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { personOfNumber } from '../../local/simulator/callbacks/person.ts';
import { startTestSimulator, type SimulatorClient } from '../local/simulator/client.ts';
import { tablesWith } from '../support/tables-with.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { appSecret, createApplier, subscribeToAll } from '../support/callback-fixtures.ts';

let simulator: SimulatorClient;
let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;

beforeAll(async () => {
  simulator = await startTestSimulator({ appSecret });
  api = await startTestApi({
    dependencies: {
      provider: createCloudProvider({ baseUrl: simulator.baseUrl, connections: 8, timeoutMs: 10_000 }),
    },
  });
  workspace = await api.seedWorkspace();
  const { businessAccountId, phoneNumberId, channelId, workspaceId } = workspace;
  await updateChannel(api.dependencies, { channelId, accessToken: 'EAAtest' });
  await simulator.control('accounts', { businessAccountId, phoneNumberIds: [phoneNumberId] });
  await simulator.control('callbacks', { url: `${api.baseUrl}/provider/webhook` });
  const { database } = api.dependencies;
  await postLedgerEntry(database, { channelId, kind: 'recharge', amount: 100_000_000n });
  await subscribeToAll(database, workspaceId);
  await call('POST', '/api/templates/sync');
  const { body } = await call('GET', '/api/templates?limit=100&search=plain_notice');
  templateId = body.data[0].id;
});
afterAll(async () => {
  await api.dependencies.provider.close();
  await api.close();
  await simulator.close();
});

const call = (method: string, path: string, body?: unknown) =>
  api.send(method, path, { key: workspace.channelKey, ...(body !== undefined && { body }) });

const everybody = { contact_selection_type: 'all_contacts' };
const imported = {
  contact_selection_type: 'csv_contacts',
  csv_contacts_string: 'phone,country\n+525512345678,MX\n+4915112345678,DE',
  csv_mapping: { phone_column: 0, country_code_column: 1 },
};

const creation = (audience: object) => ({
  name: 'Journey',
  template_id: templateId,
  send_type: 'IMMEDIATE',
  ...audience,
});

async function prepared(audience: object): Promise<string> {
  const { body } = await call('POST', '/api/campaigns/auto-trigger', creation(audience));
  const campaignId: string = body.data.campaign.id;
  const watched = { heartbeat: () => undefined, signal: new AbortController().signal };
  await prepareCampaign(api.dependencies, campaignId, watched);
  return campaignId;
}

/** Returns the campaign after the send, and the numbers it sent to. */
async function sent(campaignId: string) {
  await beginCampaign(api.dependencies, campaignId);
  await runSendStep(api.dependencies, campaignId, { budgetMs: 5_000, draining: () => false });
  const { data } = (await call('GET', `/api/campaigns/${campaignId}/recipients?state=ACCEPTED`)).body;
  const campaign = (await call('GET', `/api/campaigns/${campaignId}`)).body.data;
  return {
    campaign,
    to: data.map(({ phone_number: number }: { phone_number: string | null }) => number),
  };
}

async function callbacksApplied(): Promise<void> {
  await simulator.control('flush');
  const applier = createApplier(api.dependencies.database, { secrets: api.dependencies.secrets });
  while ((await createCallbackPoll(applier)()) > 0);
}

it('unsubscribes a person who sends STOP from another form of the number, and an erasure does not undo it', async () => {
  const contact = (
    await call('POST', '/api/contacts', { phoneNumber: '+525512345678', firstName: 'Xochitl' })
  ).body.data;
  await call('POST', '/api/contacts', { phoneNumber: '+4915112345678' });
  const first = await sent(await prepared(everybody));
  expect(first.to.toSorted()).toEqual(['4915112345678', '525512345678']);
  const waiting = await prepared(everybody);

  // No receipt has come yet and the reply quotes no message: the number's form is known from the answer to the send.
  const { phoneNumberId } = workspace;
  await simulator.control('inbound', { from: '5215512345678', text: 'STOP', phoneNumberId });
  await callbacksApplied();
  const people = (await call('GET', '/api/contacts')).body.data;
  expect(people).toHaveLength(2);
  expect(people.find(({ id }: { id: string }) => id === contact.id)).toMatchObject({ subscribed: false });

  const before = await sent(waiting);
  expect(before.to).toEqual(['4915112345678']);
  expect(before.campaign).toMatchObject({ total_contacts: 1, total_contacts_skipped: 1 });
  expect((await sent(await prepared(everybody))).to).toEqual(['4915112345678']);
  await callbacksApplied();

  expect(await call('DELETE', `/api/contacts/${contact.id}?erase=true`)).toMatchObject({ status: 200 });
  while (await stepErasure(api.dependencies, 0));
  for (const text of [
    '525512345678',
    '5215512345678',
    '5512345678',
    'Xochitl',
    personOfNumber('525512345678').userId,
  ]) {
    expect([text, await tablesWith(api.dependencies.database, text)]).toEqual([text, []]);
  }
  expect(await tablesWith(api.dependencies.database, contact.id)).toContain('contact');

  // The hash outlives the erasure: the dry run and the campaign both skip the number.
  const { body: checked } = await call('POST', '/api/campaigns/check', creation(imported));
  expect(checked.data).toMatchObject({ total_contacts: 1, skipped_reasons: { UNSUBSCRIBED: 1 } });
  const again = await sent(await prepared(imported));
  expect(again.to).toEqual(['4915112345678']);
  expect(again.campaign).toMatchObject({ total_contacts: 1, skipped_reasons: { UNSUBSCRIBED: 1 } });
  const registered = (await call('GET', '/api/contacts')).body.data;
  expect(registered.filter(({ countryCode }: { countryCode: string }) => countryCode === '52')).toMatchObject(
    [{ subscribed: false }],
  );
});
