/**
 * Single sends through a provider over HTTP that gives every kind of answer: how often it is called, and what the caller
 * gets.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sendMessage } from '../../src/api/messages.ts';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { rowsOf } from '../support/callback-fixtures.ts';
import { checkBooks, messagePrice, seedCampaign, testSecrets } from '../support/campaign-factory.ts';
import {
  graphAccepted,
  graphRefused,
  startGraphServer,
  type GraphAnswer,
  type GraphServer,
} from '../support/graph-server.ts';

let api: TestApi;
let graph: GraphServer;
/** Responses to successive sends; accepted once the list is empty. */
let answers: GraphAnswer[] = [];

beforeAll(async () => {
  graph = await startGraphServer((message) => answers.shift() ?? graphAccepted(message));
  api = await startTestApi({
    endpoints: [sendMessage],
    dependencies: {
      provider: createCloudProvider({ baseUrl: graph.baseUrl, connections: 8, timeoutMs: 3_000 }),
      secrets: testSecrets,
    },
  });
});
afterAll(async () => {
  await api.dependencies.provider.close();
  await api.close();
  await graph.close();
});

async function seedSender() {
  const place = await seedCampaign(api.dependencies.database, { recipients: 0 });
  const { workspaceId, channelId } = place;
  const { apiKey } = await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' });
  const send = (idempotencyKey: string = randomUUID()) =>
    api.send('POST', '/api/templates/external/message/send', {
      key: apiKey,
      headers: { 'Idempotency-Key': idempotencyKey },
      body: {
        templateId: place.templateId,
        recipientPhoneNumber: '4915100000001',
        countryCode: '+49',
        variables: ['Ada'],
      },
    });
  const messages = () =>
    rowsOf<{ state: string; reason: string | null; settlement: string }>(
      api.dependencies.database,
      sql.fragment`SELECT state, reason, settlement FROM message WHERE workspace_id = ${workspaceId} ORDER BY created_at`,
    );
  const asked = () => graph.messages.filter(({ phoneNumberId }) => phoneNumberId === channelId).length;
  const books = () => checkBooks(api.dependencies.database, place);
  return { send, messages, asked, books };
}

const body = (value: unknown, rest: object = {}): GraphAnswer => ({ status: 200, body: value, ...rest });

describe('an accepted message', () => {
  it.each<[string, GraphAnswer, object]>([
    [
      'is held back',
      body({ messages: [{ id: 'wamid.1', message_status: 'held_for_quality_assessment' }] }),
      { providerMessageId: 'wamid.1', status: 'held_for_quality_assessment' },
    ],
    [
      'has no status',
      body({ messages: [{ id: 'wamid.2' }] }),
      { providerMessageId: 'wamid.2', status: 'accepted' },
    ],
    ['has a number for an id', body({ messages: [{ id: 4711 }] }), { providerMessageId: '4711' }],
    [
      'is answered with 201 and fields nobody knows',
      { status: 201, body: { new: [1], messages: [{ id: 'wamid.3', extra: {} }], contacts: [{}] } },
      { providerMessageId: 'wamid.3' },
    ],
  ])('may be one that %s', async (_, answer, data) => {
    const { send, books } = await seedSender();
    answers = [answer];
    expect(await send()).toMatchObject({ status: 200, body: { data } });
    expect(await books()).toMatchObject({ balance: 1_000_000_000n - messagePrice, reserved: 0n });
  });
});

describe('a message of unknown outcome', () => {
  it.each<[string, GraphAnswer]>([
    ['the provider never answers', 'hang'],
    ['the connection breaks off behind the request', 'drop'],
    ['a gateway answers', { status: 504, body: '<html>' }],
    ['a gateway has lost its backend', { status: 503, body: '<html>' }],
    ['the answer names no message', body({ messaging_product: 'whatsapp' })],
    ['the answer is cut off', body('{"messages":[{"id":"wam')],
  ])('is UNKNOWN, keeps its money and is never sent again when %s', async (_, answer) => {
    const { send, messages, asked, books } = await seedSender();
    answers = [answer];
    const key = randomUUID();
    expect(await send(key)).toMatchObject({ status: 502, body: { status: 'error', code: 502 } });
    expect(await send(key)).toMatchObject({ status: 502 });
    expect(asked()).toBe(1);
    expect(await messages()).toEqual([
      { state: 'UNKNOWN', reason: 'OUTCOME_UNKNOWN', settlement: 'reserved' },
    ]);
    expect(await books()).toMatchObject({ balance: 1_000_000_000n, reserved: messagePrice });
  });
});

describe('the words of an answer', () => {
  it('do not speak of time when the provider answered garbage', async () => {
    const { send } = await seedSender();
    answers = [body('garbage')];
    const { body: answer } = await send();
    expect(answer).toMatchObject({ error_code: 'outcome_unknown' });
    expect(answer.message).not.toContain('in time');
  });

  it('name the gateway that answered in place of the provider', async () => {
    const { send } = await seedSender();
    answers = [{ status: 404, body: '<html>' }];
    expect(await send()).toMatchObject({
      status: 502,
      body: { error_code: 'provider_unreachable', message: expect.stringContaining('HTTP 404') as string },
    });
  });

  it('say that the provider limits the rate when it answers a plain 429', async () => {
    const { send, messages } = await seedSender();
    const busy: GraphAnswer = { status: 429, body: 'slow down', headers: { 'retry-after': '30' } };
    answers = [busy];
    const answer = await send();
    expect(answer).toMatchObject({ status: 429, body: { error_code: 'rate_limited' } });
    expect(answer.body.message).toContain('provider');
    expect(answer.headers.get('retry-after')).toBe('30');
    expect(await messages()).toMatchObject([{ state: 'FAILED', reason: 'RATE_LIMITED', settlement: 'none' }]);
  });

  it('stand in the log with the cause', async () => {
    const warn = vi.spyOn(api.dependencies.logger, 'warn');
    const { send } = await seedSender();
    answers = [{ status: 404, body: '' }];
    await send();
    answers = [body('garbage')];
    await send();
    const causes = warn.mock.calls.map(([fields]) => (fields as { cause?: string }).cause);
    expect(causes).toEqual(['HTTP 404', 'answer without a message id']);
    warn.mockRestore();
  });
});

describe('a message that the provider does not accept', () => {
  it.each<[string, GraphAnswer, number, object | undefined]>([
    [
      'refuses it under HTTP 200',
      graphRefused(131_026, 200),
      400,
      { providerCode: 131_026, details: 'details of 131026' },
    ],
    [
      'gives details as text',
      { status: 400, body: { error: { code: 132_000, message: 'm', error_data: 'why' } } },
      400,
      { providerCode: 132_000, details: 'why' },
    ],
    [
      'gives no details',
      { status: 400, body: { error: { code: '132012', message: 'only words' } } },
      400,
      { providerCode: 132_012, details: 'only words' },
    ],
    [
      'answers with a page of HTML',
      { status: 503, body: '<html>', headers: { 'retry-after': '1' } },
      502,
      undefined,
    ],
    ['is not found', { status: 404, body: '' }, 502, undefined],
  ])('is answered with the error and costs nothing when it %s', async (_, answer, status, error) => {
    const { send, messages, asked, books } = await seedSender();
    answers = [answer];
    const answerToCaller = await send();
    expect(answerToCaller.status).toBe(status);
    expect(answerToCaller.body.error).toEqual(error);
    expect(asked()).toBe(1);
    expect(await messages()).toMatchObject([{ state: 'FAILED', settlement: 'none' }]);
    expect(await books()).toMatchObject({ balance: 1_000_000_000n, reserved: 0n });
  });

  it('is retried when the provider asks to wait a second, and rejected when it asks to wait a minute', async () => {
    const { send, asked } = await seedSender();
    const limited = { error: { code: 80_007, message: 'limit' } };
    const later = (seconds: string): GraphAnswer => ({
      status: 429,
      body: limited,
      headers: { 'retry-after': seconds },
    });
    answers = [later('1')];
    expect(await send()).toMatchObject({ status: 200 });
    expect(asked()).toBe(2);
    answers = [later('60')];
    expect(await send()).toMatchObject({ status: 400, body: { error: { providerCode: 80_007 } } });
    expect(asked()).toBe(3);
  });
});
