import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContact } from '../../src/api/contacts.ts';
import { sendMessage } from '../../src/api/messages.ts';
import { sweepMessages } from '../../src/commands/messages/send-single-message.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import { expireClaimedMessages, recordMessageResult } from '../../src/records/messages/outbound-messages.ts';
import { nothing } from '../../src/records/database/row.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import {
  createApplier,
  deliver,
  eventsOf,
  messagesCallback,
  rowsOf,
  status,
  subscribeToAll,
} from '../support/callback-fixtures.ts';
import {
  accept,
  createFakeProvider,
  refuse,
  type Answer,
  type FakeProvider,
} from '../support/fake-provider.ts';

let api: TestApi;
let provider: FakeProvider;
let answer: Answer = accept;

beforeAll(async () => {
  provider = createFakeProvider((message, count) => answer(message, count));
  api = await startTestApi({ endpoints: [sendMessage, createContact], dependencies: { provider } });
});
afterAll(() => api.close());

const path = '/api/templates/external/message/send';
const balance = 1_000_000n;

interface Sender extends SeededWorkspace {
  readonly templateId: string;
}

interface SenderSeed {
  readonly balance?: bigint;
  readonly status?: string;
  readonly components?: string;
}

/** A workspace that can send: money, an approved template and a subscription to every event. */
async function seedSender(seed: SenderSeed = {}, of = api): Promise<Sender> {
  const workspace = await of.seedWorkspace();
  const { database } = of.dependencies;
  const money = seed.balance ?? balance;
  if (money > 0n) {
    await postLedgerEntry(database, { channelId: workspace.channelId, kind: 'recharge', amount: money });
  }
  const templateId = randomUUID();
  const components = seed.components ?? '[{"type":"BODY","text":"Hi {{1}}, order {{2}}."}]';
  await database.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${templateId}, ${workspace.workspaceId}, ${workspace.businessAccountId}, ${templateId}, 'order_update',
      'en_US', 'UTILITY', ${seed.status ?? 'APPROVED'}, ${components}::jsonb)`);
  await subscribeToAll(database, workspace.workspaceId);
  answer = accept;
  return { ...workspace, templateId };
}

const request = ({ templateId }: Sender) => ({
  templateId,
  recipientPhoneNumber: '919876543210',
  countryCode: '+91',
  variables: ['Ada', 'A-1024'],
});

const send = (sender: Sender, overrides: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  api.send('POST', path, { key: sender.channelKey, body: { ...request(sender), ...overrides }, headers });

interface MessageLine {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly settlement: string;
  readonly source: string;
  readonly provider_message_id: string | null;
}

const messagesOf = ({ workspaceId }: SeededWorkspace) =>
  rowsOf<MessageLine>(
    api.dependencies.database,
    sql.fragment`SELECT id, state, reason, settlement, source, provider_message_id FROM message
      WHERE workspace_id = ${workspaceId} ORDER BY created_at`,
  );

async function walletOf({ channelId }: SeededWorkspace) {
  const [wallet] = await rowsOf<{ balance: number; reserved: number; ledger: number }>(
    api.dependencies.database,
    sql.fragment`SELECT balance, reserved, (SELECT COALESCE(sum(amount), 0) FROM ledger_entry
        WHERE ledger_entry.channel_id = wallet.channel_id) AS ledger
      FROM wallet WHERE channel_id = ${channelId}`,
  );
  return wallet;
}

/** UTILITY to India on the default card. */
const price = 1_400;
const untouched = { balance: Number(balance), reserved: 0, ledger: Number(balance) };
const charged = { balance: Number(balance) - price, reserved: 0, ledger: Number(balance) - price };

const sentCount = (sender: SeededWorkspace, since: number) =>
  provider.received.slice(since).filter(({ to }) => to === '919876543210' && sender !== undefined).length;

describe('POST /api/templates/external/message/send', () => {
  it('sends the message, charges it and answers with its ids', async () => {
    const sender = await seedSender();
    const response = await send(sender);
    const [message] = await messagesOf(sender);
    expect(response).toMatchObject({
      status: 200,
      body: {
        status: 'success',
        message: 'Template message sent successfully',
        data: {
          messageId: message?.id,
          providerMessageId: `wamid.${message?.id}`,
          status: 'accepted',
          recipientPhoneNumber: '919876543210',
          phoneNumberId: sender.phoneNumberId,
        },
      },
    });
    expect(message).toMatchObject({ state: 'ACCEPTED', settlement: 'charged', source: 'api' });
    expect(await walletOf(sender)).toEqual(charged);
  });

  it('hands the provider the template with its values and our own id', async () => {
    const sender = await seedSender();
    let handed: unknown;
    answer = (message, count) => {
      handed = message;
      return accept(message, count);
    };
    await send(sender);
    const [message] = await messagesOf(sender);
    expect(handed).toMatchObject({
      phoneNumberId: sender.phoneNumberId,
      accessToken: 'access token of the tests',
      to: '919876543210',
      callbackData: message?.id,
      template: {
        name: 'order_update',
        language: 'en_US',
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Ada' },
              { type: 'text', text: 'A-1024' },
            ],
          },
        ],
      },
    });
  });

  it('takes variableMapping too', async () => {
    const sender = await seedSender();
    const variableMapping = { body: { 1: 'Ada', 2: 'A-1024' } };
    expect(await send(sender, { variables: undefined, variableMapping })).toMatchObject({ status: 200 });
  });

  it.each([
    ['+919876543210', '+91', '919876543210'],
    ['91 98765 43210', '+91', '919876543210'],
    ['098765 43210', '+91', '919876543210'],
    ['https://wa.me/919876543210', '+91', '919876543210'],
    ['22507130401', '+225', '2250707130401'],
    ['5213312345601', '+52', '523312345601'],
    ['+377 44 123 456', '+377', '38344123456'],
    ['38344123456', '+383', '38344123456'],
    ['972599123456', '+970', '972599123456'],
  ])('reads the number %s with the code %s', async (recipientPhoneNumber, countryCode, to) => {
    const sender = await seedSender();
    expect(await send(sender, { recipientPhoneNumber, countryCode })).toMatchObject({
      status: 200,
      body: { data: { recipientPhoneNumber: to } },
    });
    expect(provider.received.at(-1)).toMatchObject({ to });
  });

  it('explains how to send values when they are missing', async () => {
    const refused = await send(await seedSender(), { variables: undefined });
    expect(refused.status).toBe(400);
    expect(refused.body.error).toContainEqual({
      field: 'variableMapping.body.1',
      message: 'variableMapping.body.1 is required, or send variables, in the order of the template',
    });
  });

  it('emits sent with messageSource api when the receipt comes, and gives the money back when it fails', async () => {
    const sender = await seedSender();
    const { body } = await send(sender);
    const { messageId, providerMessageId } = body.data;
    const receipt = (name: string, code?: number) =>
      messagesCallback(sender.phoneNumberId, {
        statuses: [
          status({
            status: name,
            providerMessageId,
            callbackData: messageId,
            ...(code !== undefined && { code }),
          }),
        ],
      });
    const applier = createApplier(api.dependencies.database);
    await deliver(applier, [receipt('sent'), receipt('sent'), receipt('failed', 131026)]);
    const events = await eventsOf(api.dependencies.database, sender.workspaceId);
    expect(events.map(({ eventKey, data }) => [eventKey, data.messageSource])).toEqual([
      ['sent', 'api'],
      ['failed', 'api'],
    ]);
    expect(await messagesOf(sender)).toMatchObject([
      { state: 'FAILED', reason: 'PROVIDER_131026', settlement: 'refunded' },
    ]);
    expect(await walletOf(sender)).toEqual(untouched);
  });

  it.each([
    ['a number with another code than countryCode', { recipientPhoneNumber: '+4915112345678' }],
    ['words instead of a number', { recipientPhoneNumber: 'my number' }],
    ['another country code', { countryCode: '+49' }],
    ['a country code without plus sign', { countryCode: '91' }],
    ['an impossible number', { recipientPhoneNumber: '91123' }],
    ['no number', { recipientPhoneNumber: undefined }],
    ['both kinds of variables', { variableMapping: { body: { 1: 'Ada', 2: 'A-1024' } } }],
    ['too few variables', { variables: ['Ada'] }],
    ['too many variables', { variables: ['Ada', 'A-1024', 'more'] }],
    ['an empty variable', { variables: ['Ada', ' '] }],
    ['no variables at all', { variables: undefined }],
    ['a number among the variables', { variables: ['Ada', 7] }],
    ['no template', { templateId: 'order_update' }],
  ])('answers 400 with the field when the request has %s', async (_, overrides) => {
    const sender = await seedSender();
    const since = provider.received.length;
    const response = await send(sender, overrides);
    expect(response).toMatchObject({ status: 400, body: { status: 'error', code: 400 } });
    expect(response.body.error[0].field).toEqual(expect.any(String));
    expect(provider.received.length).toBe(since);
    expect(await walletOf(sender)).toEqual(untouched);
  });

  it('answers 404 for an unknown template and one of another workspace or business account', async () => {
    const [sender, stranger] = [await seedSender(), await seedSender()];
    const other = await api.seedChannel(sender.workspaceId);
    for (const [key, templateId] of [
      [sender.channelKey, randomUUID()],
      [sender.channelKey, stranger.templateId],
      [other.channelKey, sender.templateId],
    ] as const) {
      const response = await api.send('POST', path, { key, body: { ...request(sender), templateId } });
      expect(response).toMatchObject({
        status: 404,
        body: { error_code: 'template_not_found', message: 'Template not found' },
      });
    }
  });

  it('answers 400 when the template is not approved', async () => {
    const sender = await seedSender({ status: 'PAUSED' });
    expect(await send(sender)).toMatchObject({
      status: 400,
      body: { error_code: 'template_not_approved', message: 'Template is not approved' },
    });
  });

  it.each([
    [{ type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS' }] }, 'a button of type ORDER_DETAILS'],
    [{ type: 'HEADER', format: 'HOLOGRAM' }, 'a header of format HOLOGRAM'],
    [{ type: 'CALENDAR' }, 'a component of type CALENDAR'],
  ])('answers 400 naming the part of a template that cannot be sent: %j', async (component, part) => {
    const components = [{ type: 'BODY', text: 'Pay' }, component];
    const sender = await seedSender({ components: JSON.stringify(components) });
    expect(await send(sender)).toMatchObject({
      status: 400,
      body: { message: `The template cannot be sent by this service, choose another: it has ${part}` },
    });
  });

  it('stores the provider’s ids of the recipient', async () => {
    const sender = await seedSender();
    const { database } = api.dependencies;
    await database.query(sql.type(nothing)`
      INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
      VALUES (${sender.workspaceId}, '919876543210', '91', 'IN', 'api')`);
    answer = async (message, count) => ({
      ...(await accept(message, count)),
      otherIds: ['91009876543210', 'IN.1'],
    });
    expect(await send(sender)).toMatchObject({ status: 200 });
    const ids = sql.fragment`SELECT provider_id FROM contact_identity WHERE workspace_id = ${sender.workspaceId}
      ORDER BY provider_id`;
    expect(await rowsOf(database, ids)).toEqual([{ provider_id: '91009876543210' }, { provider_id: 'IN.1' }]);
  });

  it.each(['REINSTATED', 'LOCKED', 'FLAGGED', 'UNARCHIVED'])(
    'sends a template that is %s',
    async (present) => {
      const sender = await seedSender({ status: present });
      expect(await send(sender)).toMatchObject({ status: 200 });
    },
  );

  it('takes the only channel of the template for a key of the workspace, and asks when there are several', async () => {
    const sender = await seedSender();
    const byWorkspaceKey = () => api.send('POST', path, { key: sender.workspaceKey, body: request(sender) });
    expect(await byWorkspaceKey()).toMatchObject({
      status: 200,
      body: { data: { phoneNumberId: sender.phoneNumberId } },
    });
    await api.seedChannel(sender.workspaceId, sender.businessAccountId);
    expect(await byWorkspaceKey()).toMatchObject({
      status: 400,
      body: { error_code: 'channel_required', message: 'Either channel_id or phone_number_id is required' },
    });
  });

  it('answers 400 when the wallet does not cover the message', async () => {
    const sender = await seedSender({ balance: BigInt(price) - 1n });
    expect(await send(sender)).toMatchObject({
      status: 400,
      body: { error_code: 'insufficient_balance', message: 'Insufficient wallet balance' },
    });
    expect(await messagesOf(sender)).toEqual([]);
  });

  it('spends no more than the wallet has when requests come together', async () => {
    const sender = await seedSender({ balance: BigInt(price) * 3n });
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(sender)));
    expect(answers.filter(({ status: code }) => code === 200)).toHaveLength(3);
    expect(answers.filter(({ status: code }) => code === 400)).toHaveLength(5);
    expect(await walletOf(sender)).toEqual({ balance: 0, reserved: 0, ledger: 0 });
  });

  it('answers 400 with the provider’s code and details when it refuses, and releases the money', async () => {
    const sender = await seedSender();
    answer = refuse(132000);
    expect(await send(sender)).toMatchObject({
      status: 400,
      body: { error: { providerCode: 132000, details: 'refused' } },
    });
    expect(await messagesOf(sender)).toMatchObject([
      { state: 'FAILED', reason: 'PROVIDER_132000', settlement: 'none' },
    ]);
    expect(await walletOf(sender)).toEqual(untouched);
    const events = await eventsOf(api.dependencies.database, sender.workspaceId);
    const [message] = await messagesOf(sender);
    expect(events).toMatchObject([
      {
        eventKey: 'failed',
        data: {
          status: {
            id: message?.id,
            status: 'failed',
            recipient_id: '919876543210',
            errors: [{ code: 132000, error_data: { details: 'refused' } }],
          },
          phoneNumberId: sender.phoneNumberId,
          messageSource: 'api',
          messageId: message?.id,
          campaignId: null,
        },
      },
    ]);
  });

  it('answers 502 and releases the money when the provider cannot be reached', async () => {
    const sender = await seedSender();
    answer = () => ({ kind: 'unreachable', cause: 'ECONNREFUSED' });
    expect(await send(sender)).toMatchObject({ status: 502, body: { code: 502 } });
    expect(await messagesOf(sender)).toMatchObject([{ state: 'FAILED', reason: 'PROVIDER_UNREACHABLE' }]);
    expect(await walletOf(sender)).toEqual(untouched);
    const [event] = await eventsOf(api.dependencies.database, sender.workspaceId);
    expect(event).toMatchObject({
      eventKey: 'failed',
      data: { status: { errors: [{ title: 'PROVIDER_UNREACHABLE' }] } },
    });
  });

  it('answers 502 and keeps message and reservation when the outcome is unknown; a receipt settles both', async () => {
    const sender = await seedSender();
    const since = provider.received.length;
    answer = () => ({ kind: 'unknown', cause: 'timeout' });
    const response = await send(sender);
    expect(response).toMatchObject({ status: 502 });
    expect(response.body.message).toContain('not known');
    const [message] = await messagesOf(sender);
    expect(message).toMatchObject({ state: 'UNKNOWN', reason: 'OUTCOME_UNKNOWN', settlement: 'reserved' });
    expect(await walletOf(sender)).toEqual({ ...untouched, reserved: price });
    expect(sentCount(sender, since)).toBe(1);

    const receipt = status({
      status: 'delivered',
      providerMessageId: 'wamid.late',
      callbackData: message?.id ?? '',
    });
    await deliver(createApplier(api.dependencies.database), [
      messagesCallback(sender.phoneNumberId, { statuses: [receipt] }),
    ]);
    expect(await messagesOf(sender)).toMatchObject([
      { state: 'DELIVERED', settlement: 'charged', reason: null, provider_message_id: 'wamid.late' },
    ]);
    expect(await walletOf(sender)).toEqual(charged);
  });

  it('retries when the provider asks for a slower pace, and answers with its rejection if that repeats', async () => {
    const sender = await seedSender();
    const since = provider.received.length;
    answer = (message, count) =>
      count === since + 1 ? refuse(130429)(message, count) : accept(message, count);
    expect(await send(sender)).toMatchObject({ status: 200 });
    expect(sentCount(sender, since)).toBe(2);
    answer = refuse(80007);
    expect(await send(sender)).toMatchObject({ status: 400, body: { error: { providerCode: 80007 } } });
  });

  it('answers 429 instead of waiting long for the channel', async () => {
    const sender = await seedSender();
    await api.dependencies.database.query(sql.type(nothing)`
      UPDATE channel_rate SET silent_until = now() + interval '4 minutes' WHERE channel_id = ${sender.channelId}`);
    const response = await send(sender);
    expect(response).toMatchObject({ status: 429 });
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(200);
    expect(await walletOf(sender)).toEqual(untouched);
  });

  it('records a paused template and an opt-out from the answer, as from a status', async () => {
    const sender = await seedSender();
    const { database } = api.dependencies;
    await database.query(sql.type(nothing)`
      INSERT INTO contact (workspace_id, phone_number, country_code, source)
      VALUES (${sender.workspaceId}, '919876543210', '91', 'csv_import')`);
    answer = refuse(131050);
    await send(sender);
    answer = refuse(132015);
    await send(sender);
    const [, event] = await eventsOf(database, sender.workspaceId);
    expect(event).toMatchObject({ eventKey: 'contact.updated', data: { contact: { subscribed: false } } });
    expect(await send(sender)).toMatchObject({ status: 400, body: { message: 'Template is not approved' } });
  });

  it('keeps the opt-out of a person who is no contact yet', async () => {
    const sender = await seedSender();
    answer = refuse(131050);
    await send(sender);
    const body = { phoneNumber: '9876543210', countryCode: '91' };
    const created = await api.send('POST', '/api/contacts', { key: sender.channelKey, body });
    expect(created).toMatchObject({ status: 201, body: { data: { subscribed: false } } });
  });

  it('refuses an operator’s key', async () => {
    const sender = await seedSender();
    const response = await api.send('POST', path, { key: sender.operatorKey, body: request(sender) });
    expect(response.status).toBe(401);
  });
});

describe('Idempotency-Key of a single send', () => {
  const keyed = (sender: Sender, key: string) => send(sender, {}, { 'Idempotency-Key': key });

  it('sends once and answers the same', async () => {
    const sender = await seedSender();
    const first = await keyed(sender, 'k1');
    const second = await keyed(sender, 'k1');
    expect(second.text).toBe(first.text);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await messagesOf(sender)).toHaveLength(1);
  });

  it('never sends again when the outcome was unknown', async () => {
    const sender = await seedSender();
    answer = () => ({ kind: 'unknown', cause: 'timeout' });
    const first = await keyed(sender, 'k2');
    answer = accept;
    const second = await keyed(sender, 'k2');
    expect([first.status, second.status]).toEqual([502, 502]);
    expect(await messagesOf(sender)).toHaveLength(1);
  });

  it.each<[string, Answer]>([
    ['refused', refuse(132000)],
    ['unreachable', () => ({ kind: 'unreachable', cause: 'ECONNREFUSED' })],
  ])('sends anew after the first try was %s', async (name, first) => {
    const sender = await seedSender();
    answer = first;
    await keyed(sender, `k3 ${name}`);
    answer = accept;
    expect(await keyed(sender, `k3 ${name}`)).toMatchObject({ status: 200 });
  });

  it('sends once when the same request comes several times at once', async () => {
    const sender = await seedSender();
    const answers = await Promise.all([keyed(sender, 'k4'), keyed(sender, 'k4'), keyed(sender, 'k4')]);
    expect(await messagesOf(sender)).toHaveLength(1);
    expect(answers.map(({ status: code }) => code).every((code) => code === 200 || code === 409)).toBe(true);
  });

  it('answers from the record when the process of the first request died', async () => {
    const sender = await seedSender();
    await keyed(sender, 'k5');
    const [message] = await messagesOf(sender);
    await api.dependencies.database.query(sql.type(nothing)`
      UPDATE idempotency_key SET response_status = NULL, response_body = NULL, created_at = now() - interval '1 hour'
      WHERE workspace_id = ${sender.workspaceId}`);
    const again = await keyed(sender, 'k5');
    expect(again).toMatchObject({
      status: 200,
      body: { data: { messageId: message?.id, status: 'accepted', phoneNumberId: sender.phoneNumberId } },
    });
    expect(await messagesOf(sender)).toHaveLength(1);
  });
});

describe('single sends whose process died', () => {
  it('become UNKNOWN after the grace period, and a late result still settles them', async () => {
    const sender = await seedSender();
    answer = () => new Promise(() => undefined);
    const controller = new AbortController();
    const hanging = fetch(`${api.baseUrl}${path}`, {
      method: 'POST',
      signal: controller.signal,
      headers: { 'X-API-Key': sender.channelKey, 'Content-Type': 'application/json' },
      body: JSON.stringify(request(sender)),
    }).catch(() => undefined);
    await expect.poll(() => messagesOf(sender)).toHaveLength(1);
    controller.abort();
    await hanging;

    const { database, config } = api.dependencies;
    expect(
      await sweepMessages({ ...api.dependencies, config: { ...config, outcomeGraceSeconds: 600 } }),
    ).toBe(0);
    expect(await expireClaimedMessages(database, { graceSeconds: 0, limit: 10 })).toBe(1);
    const [message] = await messagesOf(sender);
    expect(message).toMatchObject({ state: 'UNKNOWN', reason: 'OUTCOME_UNKNOWN', settlement: 'reserved' });

    await recordMessageResult(database, message?.id ?? '', {
      state: 'ACCEPTED',
      providerMessageId: 'wamid.x',
    });
    expect(await messagesOf(sender)).toMatchObject([
      { state: 'ACCEPTED', settlement: 'charged', reason: null },
    ]);
    expect(await walletOf(sender)).toEqual(charged);
  });
});

describe('Idempotency-Key after a crash between the provider’s answer and our record', () => {
  /** State after a crash: the provider has the message, and its response is not recorded. */
  async function crashed(key: string): Promise<{ readonly sender: Sender; readonly id: string }> {
    const sender = await seedSender();
    answer = () => new Promise(() => undefined);
    const controller = new AbortController();
    const hanging = fetch(`${api.baseUrl}${path}`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        'X-API-Key': sender.channelKey,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
      },
      body: JSON.stringify(request(sender)),
    }).catch(() => undefined);
    const since = provider.received.length;
    await expect.poll(() => provider.received.length).toBeGreaterThan(since);
    controller.abort();
    await hanging;
    const [message] = await messagesOf(sender);
    await api.dependencies.database.query(sql.type(nothing)`
      UPDATE idempotency_key SET created_at = now() - interval '1 hour' WHERE workspace_id = ${sender.workspaceId}`);
    answer = accept;
    return { sender, id: message?.id ?? '' };
  }

  it('never sends again, and says that the outcome is not known', async () => {
    const { sender } = await crashed('crash 1');
    const since = provider.received.length;
    for (let tries = 0; tries < 3; tries += 1) {
      const again = await send(sender, {}, { 'Idempotency-Key': 'crash 1' });
      expect(again).toMatchObject({ status: 502, body: { status: 'error', code: 502 } });
    }
    expect(provider.received).toHaveLength(since);
    expect(await messagesOf(sender)).toMatchObject([{ state: 'CLAIMED' }]);
  });

  it('answers with the message once a receipt has settled it', async () => {
    const { sender, id } = await crashed('crash 2');
    const since = provider.received.length;
    const receipt = status({ status: 'delivered', providerMessageId: 'wamid.crash', callbackData: id });
    await deliver(createApplier(api.dependencies.database), [
      messagesCallback(sender.phoneNumberId, { statuses: [receipt] }),
    ]);
    expect(await send(sender, {}, { 'Idempotency-Key': 'crash 2' })).toMatchObject({
      status: 200,
      body: { data: { messageId: id, providerMessageId: 'wamid.crash' } },
    });
    expect(provider.received).toHaveLength(since);
  });

  it('answers as the provider did at first when the message failed later', async () => {
    const { sender, id } = await crashed('crash 3');
    const since = provider.received.length;
    const receipt = status({
      status: 'failed',
      providerMessageId: 'wamid.crash3',
      callbackData: id,
      code: 131_026,
    });
    await deliver(createApplier(api.dependencies.database), [
      messagesCallback(sender.phoneNumberId, { statuses: [receipt] }),
    ]);
    expect(await send(sender, {}, { 'Idempotency-Key': 'crash 3' })).toMatchObject({
      status: 200,
      body: { data: { messageId: id, providerMessageId: 'wamid.crash3' } },
    });
    expect(provider.received).toHaveLength(since);
  });
});

it('names the message in the log line of a single send', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const logged = await startTestApi({
    endpoints: [sendMessage],
    dependencies: { provider, logger: logger as unknown as Dependencies['logger'] },
  });
  try {
    const requestLines = () => lines.filter(({ msg }) => msg === 'request');
    const sender = await seedSender({}, logged);
    const { body } = await logged.send('POST', path, { key: sender.channelKey, body: request(sender) });
    expect(body.data.messageId).toMatch(/^[0-9a-f-]{36}$/);
    await expect.poll(requestLines).toMatchObject([{ status: 200, messageId: body.data.messageId }]);
  } finally {
    await logged.close();
  }
});
