import { connect } from 'node:net';
import fc from 'fast-check';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receiveProviderCallback, verifyProviderWebhook } from '../../src/api/provider-webhook.ts';
import { readNotification } from '../../src/provider/notification.ts';
import { row } from '../../src/records/database/row.ts';
import { openRaw } from '../support/raw-request.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import {
  appSecret,
  createApplier,
  deliver,
  messagesCallback,
  signatureOf,
  status,
} from '../support/callback-fixtures.ts';

let api: TestApi;
const path = '/provider/webhook';

beforeAll(async () => {
  api = await startTestApi({
    endpoints: [verifyProviderWebhook, receiveProviderCallback],
    config: { providerAppSecret: appSecret, providerVerifyToken: 'verify me' },
  });
});
afterAll(() => api.close());

const post = (body: string | Buffer, signature: string | null = signatureOf(body)) =>
  api.send('POST', path, {
    body,
    headers: signature === null ? {} : { 'X-Hub-Signature-256': signature },
  });

/** Notifications with arbitrary JSON in place of each part. */
const oddChanges = (
  anything: unknown,
  phoneNumberId: string,
): Readonly<Record<string, readonly unknown[]>> => ({
  message: [
    {
      field: 'messages',
      value: {
        metadata: { phone_number_id: 10001 },
        contacts: anything,
        messages: [anything, { id: anything }],
      },
    },
    { field: 'messages', value: { metadata: anything, messages: anything } },
    {
      field: 'smb_message_echoes',
      value: {
        metadata: { phone_number_id: phoneNumberId },
        message_echoes: [anything, { id: 5, to: anything }],
      },
    },
  ],
  statuses: [
    {
      field: 'messages',
      value: {
        metadata: { phone_number_id: phoneNumberId },
        statuses: [
          anything,
          { id: 4711, status: 'sent', pricing: anything, timestamp: anything },
          { id: 'wamid.odd', status: 'failed', errors: anything, biz_opaque_callback_data: anything },
          { id: 'wamid.odd', status: 'failed', errors: [anything, { code: anything }] },
        ],
        errors: anything,
      },
    },
  ],
  account: [
    { field: 'message_template_status_update', value: { message_template_id: anything, event: anything } },
    { field: 'account_update', value: { event: anything, ban_info: anything } },
    {
      field: 'user_preferences',
      value: {
        metadata: { phone_number_id: phoneNumberId },
        user_preferences: [anything, { wa_id: 1, value: anything }],
      },
    },
    { field: anything, value: anything },
  ],
});

const storedBodies = async (): Promise<readonly string[]> =>
  api.dependencies.database.anyFirst(sql.type(row(t.type({ body: t.string })))`
    SELECT encode(body, 'hex') AS body FROM provider_callback ORDER BY id`);

const isStored = async (body: string | Buffer): Promise<boolean> =>
  (await storedBodies()).includes(Buffer.from(body).toString('hex'));

describe('GET /provider/webhook', () => {
  const verify = (query: string) => api.send('GET', `${path}?${query}`);

  it('echoes the challenge as text when the token is right', async () => {
    const answer = await verify('hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=verify%20me');
    expect(answer).toMatchObject({ status: 200, text: '1158201444' });
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
  });

  it.each([
    ['a wrong token', 'hub.mode=subscribe&hub.challenge=1&hub.verify_token=guess'],
    ['no token', 'hub.mode=subscribe&hub.challenge=1'],
    ['another mode', 'hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=verify%20me'],
    ['nothing at all', ''],
  ])('refuses %s with 403', async (_, query) => {
    expect((await verify(query)).status).toBe(403);
  });
});

describe('POST /provider/webhook', () => {
  const notification = (id: string) =>
    JSON.stringify(
      messagesCallback('10001', { statuses: [status({ status: 'sent', providerMessageId: id })] }),
    );

  it('stores the unchanged bytes before it answers', async () => {
    const body = `${notification('wamid.bytes').replace('sent', 's\\u0065nt')}  \n`;
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'success' } });
    expect(await isStored(body)).toBe(true);
  });

  it('stores what jsonb and text could not hold', async () => {
    const body = notification('wamid.\\u0000\\ud800');
    expect((await post(body)).status).toBe(200);
    expect(await isStored(body)).toBe(true);
  });

  it.each([
    ['no signature', null],
    ['an empty one', ''],
    ['one without scheme', signatureOf('x').slice(7)],
    ['one of another body', signatureOf('another body')],
    ['one under another algorithm', 'sha1=0123456789012345678901234567890123456789'],
    ['garbage', 'sha256=zz'],
  ])('answers 401 and stores nothing with %s', async (name, signature) => {
    const body = notification(`wamid.unsigned.${name}`);
    expect((await post(body, signature)).status).toBe(401);
    expect(await isStored(body)).toBe(false);
  });

  it('answers 401 when the body was cut on its way', async () => {
    const body = notification('wamid.cut');
    expect((await post(body.slice(0, -10), signatureOf(body))).status).toBe(401);
  });

  it.each(['{"object":', '[]', '"text"', 'null', '', 'garbage'])(
    'answers 400 to %j, signed but no notification',
    async (body) => {
      expect((await post(body)).status).toBe(400);
      expect(await isStored(body)).toBe(false);
    },
  );

  it('stores kinds and fields it does not know', async () => {
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: 7, changes: [{ field: 'calls', value: { statuses: [1] } }, 5] }],
    });
    expect((await post(body)).status).toBe(200);
    expect(await isStored(body)).toBe(true);
  });

  it('takes up to 4 MB and refuses more with 413', async () => {
    const filler = (size: number) => JSON.stringify({ object: 'x', entry: [], filler: 'f'.repeat(size) });
    expect((await post(filler(4 * 1024 * 1024 - 60))).status).toBe(200);
    expect((await post(filler(10 * 1024 * 1024))).status).toBe(413);
  });

  it.each([
    ['text/plain', ''],
    ['application/json; charset=utf-8', ''],
    ['application/x-www-form-urlencoded', ''],
    ['application/json', '\uFEFF'],
  ])('stores a notification of content type %s, with %j in front', async (contentType, mark) => {
    const body = `${mark}${notification('wamid.called')}`;
    const headers = { 'X-Hub-Signature-256': signatureOf(body), 'Content-Type': contentType };
    expect((await api.send('POST', path, { body, headers })).status).toBe(200);
    expect(await isStored(body)).toBe(true);
    expect(readNotification(Buffer.from(body))).toMatchObject([{ kind: 'status' }]);
  });

  it('refuses one without a signature before its body has come', async () => {
    const { socket, closed } = openRaw(api.port);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n{`);
    // A request whose body does not come is answered 408.
    expect(await closed).toContain('HTTP/1.1 401');
  });

  it('stores nothing of a body that breaks off, and keeps serving', async () => {
    const body = notification('wamid.broken-off');
    const before = (await storedBodies()).length;
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
        `X-Hub-Signature-256: ${signatureOf(body)}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -5)}`,
    );
    await new Promise<void>((done) => {
      socket.end(() => done());
    });
    expect((await post(notification('wamid.after'))).status).toBe(200);
    expect(await storedBodies()).toHaveLength(before + 1);
  });

  it.each(['message', 'statuses', 'account'])(
    'takes whatever JSON stands where a %s should, and applies the good status beside it',
    async (place) => {
      const applier = createApplier(api.dependencies.database);
      const { phoneNumberId, businessAccountId } = await api.seedWorkspace();
      await fc.assert(
        fc.asyncProperty(fc.jsonValue(), async (anything) => {
          const good = messagesCallback(phoneNumberId, {
            statuses: [status({ status: 'sent', providerMessageId: 'wamid.good' })],
          });
          const odd = oddChanges(anything, phoneNumberId)[place] ?? [];
          const body = JSON.stringify({
            object: 'whatsapp_business_account',
            entry: [{ id: businessAccountId, changes: odd }, anything, ...(good['entry'] as object[])],
          });
          expect((await post(body)).status).toBe(200);
          expect(readNotification(Buffer.from(body)).at(-1)).toMatchObject({
            kind: 'status',
            providerMessageId: 'wamid.good',
          });
        }),
        { numRuns: 60 },
      );
      await deliver(applier, []);
      const left = sql.type(row(t.type({ n: t.number })))`
        SELECT count(*)::int AS n FROM provider_callback LEFT JOIN waiting_callback AS waiting USING (id)
        WHERE waiting.id IS NOT NULL OR error IS NOT NULL`;
      expect(await api.dependencies.database.oneFirst(left)).toBe(0);
    },
  );

  it.each([
    ['depth', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['objects', `{"a":[${Array(200_000).fill('{}').join(',')}]}`],
    ['keys', `{${Array.from({ length: 20_000 }, (_, at) => `"${at}":0`).join(',')}}`],
  ])('refuses a body whose parsing would block: %s', async (_, body) => {
    const before = (await storedBodies()).length;
    expect((await post(body)).status).toBe(400);
    expect(await storedBodies()).toHaveLength(before);
  });

  it('takes a body of almost 4 MB full of statuses', async () => {
    const statuses = Array.from({ length: 9_000 }, (_, n) => ({
      ...status({ status: 'failed', providerMessageId: `wamid.full.${n}`, code: 131026 }),
      conversation: { id: 'c'.repeat(100), origin: { type: 'marketing' } },
    }));
    const body = JSON.stringify(messagesCallback('10001', { statuses }));
    expect((await post(body)).status).toBe(200);
  });

  it('loses none of many that come at the same time', async () => {
    const before = (await storedBodies()).length;
    const bodies = Array.from({ length: 120 }, (_, n) => notification(`wamid.many.${n}`));
    const answers = await Promise.all(bodies.map((body) => post(body)));
    expect(answers.every(({ status: code }) => code === 200)).toBe(true);
    const stored = (await storedBodies()).slice(before).map((hex) => Buffer.from(hex, 'hex'));
    const ids = stored
      .flatMap((body) => readNotification(body))
      .map((item) => 'providerMessageId' in item && item.providerMessageId);
    expect(ids.toSorted()).toEqual(bodies.map((_, n) => `wamid.many.${n}`).toSorted());
  });

  it('answers 503 when the database is away, so that the provider sends it again', async () => {
    const failing = await startTestApi({
      endpoints: [receiveProviderCallback],
      config: { providerAppSecret: appSecret },
      database: api.database,
      dependencies: {
        callbackInbox: async () => {
          throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
        },
      },
    });
    try {
      const body = notification('wamid.away');
      const headers = { 'X-Hub-Signature-256': signatureOf(body) };
      expect((await failing.send('POST', path, { body, headers })).status).toBe(503);
    } finally {
      await failing.close();
    }
  });
});
