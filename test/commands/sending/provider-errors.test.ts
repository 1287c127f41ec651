/** Every row of the provider's error table, returned by a provider over HTTP; checks the effects through the API. */
import { applyWaitingOptOuts } from '../../../src/commands/callbacks/change-subscription.ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it, type ExpectStatic } from 'vitest';
import { sendMessage } from '../../../src/api/messages.ts';
import { receiveProviderCallback } from '../../../src/api/provider-webhook.ts';
import { createCallbackPoll } from '../../../src/commands/callbacks/apply-provider-callbacks.ts';
import { createApiKey } from '../../../src/commands/workspaces/api-keys.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import {
  providerErrorRule,
  type ProviderErrorRule,
  providerErrorTable,
} from '../../../src/domain/sending/provider-error.ts';
import { createCloudProvider } from '../../../src/provider/cloud-provider.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { createIdleOrchestrator, startTestApi, type TestApi } from '../../support/api.ts';
import {
  appSecret,
  eventsOf,
  messagesCallback,
  rowsOf,
  signatureOf,
  status as statusOf,
  subscribeToAll,
} from '../../support/callback-fixtures.ts';
import {
  checkBooks,
  seedCampaign,
  testSecrets,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import {
  graphAccepted,
  graphRefused,
  startGraphServer,
  type GraphServer,
} from '../../support/graph-server.ts';

let api: TestApi;
let graph: GraphServer;
/** Error code that a sending number answers to the first recipient; all others are accepted. */
const refusing = new Map<string, number>();
const synced: string[] = [];

const unlucky = '4915100000001';

beforeAll(async () => {
  graph = await startGraphServer((message) => {
    const code = refusing.get(message.phoneNumberId);
    if (code === undefined || message.to !== `+${unlucky}`) return graphAccepted(message);
    return graphRefused(code, serverErrors.has(code) ? 500 : 400);
  });
  api = await startTestApi({
    endpoints: [sendMessage, receiveProviderCallback],
    config: { providerAppSecret: appSecret, databasePoolSize: 8 },
    dependencies: {
      provider: createCloudProvider({ baseUrl: graph.baseUrl, connections: 16, timeoutMs: 10_000 }),
      secrets: testSecrets,
      orchestrator: createIdleOrchestrator({
        startTemplateSync: async (account) => void synced.push(account),
      }),
    },
  });
});
afterAll(async () => {
  await api.dependencies.provider.close();
  await api.close();
  await graph.close();
});

const serverErrors: ReadonlySet<number> = new Set([1, 2, 131_000, 131_016, 133_004]);
const notListed = [200, 299, 999_999];
const codes = [...providerErrorTable.flatMap((row) => row.codes), ...notListed];

interface Fixture extends SeededCampaign {
  readonly channelKey: string;
  readonly account: string;
}

/** A running campaign with two recipients, both of them contacts, and a key to send by hand. */
async function seedFixture(): Promise<Fixture> {
  const { database } = api.dependencies;
  const fixture = await seedCampaign(database, { recipients: 2 });
  const { workspaceId, channelId, campaignId } = fixture;
  await database.query(sql.type(nothing)`
    WITH person AS (
      INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
      SELECT ${workspaceId}, phone_number, '49', 'DE', 'csv_import' FROM recipient WHERE campaign_id = ${campaignId}
      RETURNING id, phone_number)
    UPDATE recipient SET contact_id = person.id FROM person
    WHERE campaign_id = ${campaignId} AND recipient.phone_number = person.phone_number`);
  await subscribeToAll(database, workspaceId);
  const key = await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' });
  const [channel] = await rowsOf<{ account: string }>(
    database,
    sql.fragment`SELECT business_account_id AS account FROM channel WHERE id = ${channelId}`,
  );
  return { ...fixture, channelKey: key.apiKey, account: channel?.account ?? '' };
}

/** Waits until the provider was called: a step on a busy machine may be over before it begins. */
async function runCampaign({ campaignId, channelId }: Fixture): Promise<void> {
  const isAsked = () => graph.messages.some(({ phoneNumberId }) => phoneNumberId === channelId);
  while (!isAsked()) {
    await runSendStep(api.dependencies, campaignId, { budgetMs: 900, draining: () => false });
  }
}

const sendByHand = ({ templateId, channelKey }: Fixture) =>
  api.send('POST', '/api/templates/external/message/send', {
    key: channelKey,
    body: { templateId, recipientPhoneNumber: unlucky, countryCode: '+49', variables: ['Ada'] },
  });

let turn: Promise<void> = Promise.resolve();

/** Applies waiting callbacks, those of concurrent tests too; each test waits for the batch that includes its own. */
function applyInTurn(): Promise<void> {
  turn = turn.then(async () => {
    while ((await createCallbackPoll(api.dependencies)()) > 0);
  });
  return turn;
}

/** The provider accepts the message first and reports the failure by callback. */
async function reportFailure({ channelId }: Fixture, messageId: string, code: number): Promise<void> {
  const failed = statusOf({
    status: 'failed',
    providerMessageId: `wamid.${messageId}`,
    callbackData: messageId,
    code,
  });
  const body = JSON.stringify(messagesCallback(channelId, { statuses: [failed] }));
  const answer = await api.send('POST', '/provider/webhook', {
    body,
    headers: { 'X-Hub-Signature-256': signatureOf(body) },
  });
  expect(answer.status).toBe(200);
  await applyInTurn();
}

interface Line {
  readonly state: string;
  readonly reason: string | null;
  readonly settlement: string;
}

const recipientsOf = ({ campaignId }: Fixture) =>
  rowsOf<Line & { readonly id: string; readonly waits: boolean }>(
    api.dependencies.database,
    sql.fragment`SELECT recipient.id, state, reason, settlement, EXISTS (SELECT FROM recipient_retry
        WHERE recipient_retry.campaign_id = recipient.campaign_id
          AND recipient_retry.position = recipient.position) AS waits
      FROM recipient WHERE campaign_id = ${campaignId} ORDER BY position`,
  );

const messagesOf = ({ workspaceId }: Fixture) =>
  rowsOf<Line & { readonly id: string }>(
    api.dependencies.database,
    sql.fragment`SELECT id, state, reason, settlement FROM message WHERE workspace_id = ${workspaceId}`,
  );

interface Surroundings {
  readonly campaign: string;
  readonly template: string;
  readonly subscribed: boolean;
  readonly blocked: readonly string[];
  readonly slowed: boolean;
}

/** State that a failure may change beyond its message. */
async function surroundingsOf({ campaignId }: Fixture): Promise<Surroundings | undefined> {
  const [found] = await rowsOf<Surroundings>(
    api.dependencies.database,
    sql.fragment`SELECT concat_ws(' ', campaign.status, campaign.pause_reason) AS campaign, template.status AS template,
        channel.blocked_countries AS blocked, channel_rate.factor < 1 AS slowed,
        (SELECT subscribed FROM contact WHERE contact.workspace_id = campaign.workspace_id
          AND phone_number = ${unlucky}) AS subscribed
      FROM campaign JOIN template ON template.id = campaign.template_id JOIN channel ON channel.id = campaign.channel_id
      JOIN channel_rate ON channel_rate.channel_id = channel.id
      WHERE campaign.id = ${campaignId}`,
  );
  return found;
}

const effectOf = (rule: ProviderErrorRule) => ('effect' in rule ? rule.effect : undefined);

function expectedSurroundings(rule: ProviderErrorRule): Surroundings {
  const effect = effectOf(rule);
  const pauses: Readonly<Record<string, string>> = {
    pause_template: 'PAUSED TEMPLATE_UNAVAILABLE',
    pause_channel: 'PAUSED CHANNEL_BLOCKED',
  };
  const templates: Readonly<Record<string, string>> = {
    template_paused: 'PAUSED',
    template_disabled: 'DISABLED',
  };
  return {
    campaign: pauses[rule.kind] ?? 'RUNNING',
    template: templates[effect ?? ''] ?? 'APPROVED',
    subscribed: effect !== 'unsubscribe_contact',
    blocked: effect === 'block_country' ? ['DE'] : [],
    slowed: rule.kind === 'throttle',
  };
}

/** Takes the test's own `poll`: while several tests run, the shared one may not know which of them asks. */
async function expectAround(
  poll: ExpectStatic['poll'],
  fixture: Fixture,
  rule: ProviderErrorRule,
): Promise<void> {
  // A test beside this one may have taken its opt-out, and still be applying it.
  await poll(async () => {
    await applyWaitingOptOuts(api.dependencies);
    return surroundingsOf(fixture);
  }).toEqual(expectedSurroundings(rule));
  const asked = synced.filter((account) => account === fixture.account);
  expect(asked).toHaveLength(effectOf(rule) === 'resync_templates' ? 1 : 0);
}

async function expectBooksFit(fixture: Fixture): Promise<void> {
  const books = await checkBooks(api.dependencies.database, fixture);
  expect(books.ledger).toBe(books.balance);
  expect(books.reserved).toBe(0n);
  expect(books.counters_fit).toBe(true);
}

const failedEvents = async ({ workspaceId }: Fixture) =>
  (await eventsOf(api.dependencies.database, workspaceId)).filter(({ eventKey }) => eventKey === 'failed');

/** True if a message with this error fails for good at once. */
const endsMessage = ({ kind }: ProviderErrorRule): boolean => kind === 'fail';
const waitsItsTurn = ({ kind }: ProviderErrorRule): boolean =>
  kind === 'retry' || kind === 'retry_recipient' || kind === 'retry_once';

describe.concurrent.each(codes.map((code) => ({ code })))('error $code of the provider', ({ code }) => {
  const httpStatus = serverErrors.has(code) ? 500 : 400;
  const rule = providerErrorRule({ code, httpStatus });
  const reason = `PROVIDER_${code}`;

  it('in the answer to a campaign', async ({ expect: { poll } }) => {
    const fixture = await seedFixture();
    refusing.set(fixture.channelId, code);
    await runCampaign(fixture);
    const [first, second] = await recipientsOf(fixture);
    expect(first).toMatchObject(
      endsMessage(rule)
        ? { state: 'FAILED', reason, settlement: 'none' }
        : { state: 'PENDING', settlement: 'none' },
    );
    if (waitsItsTurn(rule)) expect(first?.waits).toBe(true);
    if (endsMessage(rule) || waitsItsTurn(rule)) expect(second).toMatchObject({ state: 'ACCEPTED' });
    await expectAround(poll, fixture, rule);
    await expectBooksFit(fixture);
    const failed = {
      data: { messageId: first?.id, messageSource: 'campaign', status: { errors: [{ code }] } },
    };
    expect(await failedEvents(fixture)).toMatchObject(endsMessage(rule) ? [failed] : []);
  });

  it('in the answer to a single send', async ({ expect: { poll } }) => {
    const fixture = await seedFixture();
    refusing.set(fixture.channelId, code);
    expect(await sendByHand(fixture)).toMatchObject({
      status: 400,
      body: { status: 'error', code: 400, error: { providerCode: code, details: `details of ${code}` } },
    });
    expect(await messagesOf(fixture)).toMatchObject([{ state: 'FAILED', reason, settlement: 'none' }]);
    await expectAround(poll, fixture, rule);
    await expectBooksFit(fixture);
    expect(await failedEvents(fixture)).toMatchObject([
      { data: { campaignId: null, messageSource: 'api', status: { errors: [{ code }] } } },
    ]);
  });

  it('in a callback about a campaign', async ({ expect: { poll } }) => {
    const fixture = await seedFixture();
    await runCampaign(fixture);
    const [accepted] = await recipientsOf(fixture);
    await reportFailure(fixture, accepted?.id ?? '', code);
    const [first, second] = await recipientsOf(fixture);
    expect(first).toMatchObject({ state: 'FAILED', reason, settlement: 'refunded' });
    expect(second).toMatchObject({ state: 'ACCEPTED', settlement: 'charged' });
    await expectAround(poll, fixture, rule);
    await expectBooksFit(fixture);
    expect(await failedEvents(fixture)).toMatchObject([
      { data: { messageSource: 'campaign', status: { errors: [{ code }] } } },
    ]);
  });

  it('in a callback about a single send', async ({ expect: { poll } }) => {
    const fixture = await seedFixture();
    const { body } = await sendByHand(fixture);
    await reportFailure(fixture, String(body.data.messageId), code);
    expect(await messagesOf(fixture)).toMatchObject([{ state: 'FAILED', reason, settlement: 'refunded' }]);
    await expectAround(poll, fixture, rule);
    await expectBooksFit(fixture);
    expect(await failedEvents(fixture)).toMatchObject([
      { data: { messageSource: 'api', status: { errors: [{ code }] } } },
    ]);
  });
});
