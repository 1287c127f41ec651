import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventKeys } from '../../../src/domain/webhooks/event-key.ts';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { claimAttempts, recordDeliveryOutcomes } from '../../../src/records/webhooks/attempts.ts';
import {
  countImpairedWebhooks,
  disableFailingWebhooks,
} from '../../../src/records/webhooks/configurations.ts';
import { endInactiveDeliveries } from '../../../src/records/webhooks/delivery-scheduler.ts';
import type { SeededWorkspace, TestApi } from '../../support/api.ts';
import { startTestApi } from '../../support/api.ts';
import { contactEvent, query, handOut } from '../../support/webhook-fixtures.ts';

let api: TestApi;
let seeded: SeededWorkspace;
let other: SeededWorkspace;
const root = '/api/external-webhooks';

beforeAll(async () => {
  api = await startTestApi({ config: { outboundAllowCidrs: ['127.0.0.0/8'] } });
});
afterAll(() => api.close());
beforeEach(async () => {
  [seeded, other] = [await api.seedWorkspace(), await api.seedWorkspace()];
});

const valid = {
  title: 'Orders',
  url: 'https://example.com/hook',
  status: 'active',
  events: ['sent', 'failed'],
};
const call = (method: string, path: string, body?: unknown) =>
  api.send(method, `${root}${path}`, { key: seeded.workspaceKey, body });
async function created(
  overrides: object = {},
): Promise<{ readonly id: string; readonly [key: string]: unknown }> {
  const { status, body } = await call('POST', '', { ...valid, ...overrides });
  expect(status).toBe(201);
  return body.data;
}

const someEvents = 'one or more of GET /api/external-webhooks/events';

describe('POST /api/external-webhooks', () => {
  it('answers 201 with the record, without the secret', async () => {
    const { status, body, text } = await call('POST', '', { ...valid, secret: 'open sesame' });
    expect(status).toBe(201);
    expect(body).toEqual({
      status: 'success',
      message: 'Webhook created successfully',
      data: {
        id: expect.any(String),
        ...valid,
        hasSecret: true,
        disabled_reason: null,
        health: 'healthy',
        recentAttempts: 0,
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
      },
    });
    expect(text).not.toContain('sesame');
  });

  it('stores the secret encrypted', async () => {
    const { id } = await created({ secret: 'open sesame' });
    const [row] = await query<{ secret_encrypted: Buffer }>(
      api.database,
      'SELECT secret_encrypted FROM webhook_configuration WHERE id = $1',
      [id],
    );
    expect(row?.secret_encrypted.includes('sesame')).toBe(false);
    const sealed = row?.secret_encrypted ?? Buffer.alloc(0);
    expect(api.dependencies.secrets.decrypt(sealed, `webhook ${id}`)).toBe('open sesame');
  });

  it('is active by default', async () => {
    expect(await created({ status: undefined })).toMatchObject({ status: 'active', hasSecret: false });
    expect(await created({ status: 'inactive' })).toMatchObject({ status: 'inactive' });
  });

  it.each(['channelKey', 'workspaceKey', 'operatorKey'] as const)('takes the %s', async (kind) => {
    const { status } = await api.send('POST', root, { key: seeded[kind], body: valid });
    expect(status).toBe(201);
  });

  it.each([
    ['title', { title: undefined }, 'title is required'],
    ['title', { title: '  ' }, 'title must not be empty'],
    ['title', { title: 'x'.repeat(256) }, 'title must be at most 255 characters long'],
    ['url', { url: undefined }, 'url is required'],
    ['url', { url: 'example.com' }, 'url must be a valid URL, such as https://example.com/path'],
    ['url', { url: `https://example.com/${'x'.repeat(2048)}` }, 'url must be at most 2048 characters long'],
    ['url', { url: 'ftp://example.com/' }, 'url must use http or https'],
    ['url', { url: 'https://a:b@example.com/' }, 'url must not contain a user name or password'],
    ['url', { url: 'http://10.0.0.1/' }, 'url must not point to a private or reserved address'],
    ['url', { url: 'http://169.254.169.254/latest' }, 'url must not point to a private or reserved address'],
    ['url', { url: 'http://[::ffff:10.0.0.1]/' }, 'url must not point to a private or reserved address'],
    ['events', { events: undefined }, `events is required: ${someEvents}`],
    ['events', { events: [] }, `events must hold at least one event key, and none twice: ${someEvents}`],
    [
      'events',
      { events: ['sent', 'sent'] },
      `events must hold at least one event key, and none twice: ${someEvents}`,
    ],
    ['events.1', { events: ['sent', 'nonsense'] }, expect.stringMatching(/^events\.1 must be one of/)],
    ['events', { events: 'sent' }, 'events must be an array'],
    ['status', { status: 'paused' }, 'status must be one of active, inactive'],
    ['secret', { secret: '' }, 'secret must be a text of 1 to 255 characters'],
    ['secret', { secret: 'x'.repeat(256) }, 'secret must be a text of 1 to 255 characters'],
    ['secret', { secret: 7 }, expect.any(String)],
  ])('refuses a bad %s: %j', async (field, overrides, message) => {
    const { status, body } = await call('POST', '', { ...valid, ...overrides });
    expect(status).toBe(400);
    expect(body).toMatchObject({ status: 'error', code: 400, message, error: [{ field, message }] });
  });

  it('names the problems in the order in which the fields are declared', async () => {
    const { body } = await call('POST', '', { secret: '', events: [], status: 'off', url: '', title: '' });
    expect(body.error.map(({ field }: { field: string }) => field)).toEqual([
      'title',
      'url',
      'status',
      'events',
      'secret',
    ]);
  });

  it.each(['x'.repeat(255), '👋'.repeat(255), ' ', 'whsec_x'])(
    'takes any secret of 1 to 255 characters',
    async (secret) => {
      expect(await created({ secret })).toMatchObject({ hasSecret: true });
    },
  );

  it('takes loopback addresses that the configuration of the service allows', async () => {
    expect(await created({ url: 'http://localhost:9999/hook' })).toMatchObject({
      url: 'http://localhost:9999/hook',
    });
  });

  it('takes 50 configurations and no more, even when they come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 55 }, () => call('POST', '', valid)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(statuses.filter((status) => status === 400)).toHaveLength(5);
  });
});

describe('GET /api/external-webhooks', () => {
  it('pages through the configurations of the workspace, oldest first', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      ids.push((await created({ title: `n${index}` })).id);
    }
    const first = await call('GET', '');
    expect(first.body.pagination).toEqual({ page: 1, limit: 10, total: 12, totalPages: 2 });
    expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 10));
    const second = await call('GET', '?page=2&limit=7');
    expect(second.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(7));
  });

  it('shows nothing of another workspace', async () => {
    await created();
    const { body } = await api.send('GET', root, { key: other.workspaceKey });
    expect(body).toMatchObject({ data: [], pagination: { total: 0, totalPages: 0 } });
  });

  it.each(['page=0', 'page=x', 'limit=0', 'limit=101', 'limit=1.5'])('refuses ?%s', async (search) => {
    expect((await call('GET', `?${search}`)).status).toBe(400);
  });
});

describe('PATCH /api/external-webhooks/:id', () => {
  it('changes what is named and keeps the rest', async () => {
    const before = await created();
    const { status, body } = await call('PATCH', `/${before.id}`, {
      events: ['read'],
      url: 'https://example.com/other',
      status: 'inactive',
    });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      ...before,
      events: ['read'],
      url: 'https://example.com/other',
      status: 'inactive',
      updatedAt: expect.any(String),
    });
    expect(body.message).toBe('Webhook updated successfully');
    expect((await call('GET', `/${before.id}`)).body.data).toEqual(body.data);
  });

  it.each([{}, { title: 'Another' }, { nonsense: 1 }])(
    'leaves everything as it is for %j',
    async (change) => {
      const before = await created();
      const { status, body } = await call('PATCH', `/${before.id}`, change);
      expect(status).toBe(200);
      expect(body.data).toEqual(before);
    },
  );

  it('keeps the secret, rotates it and removes it', async () => {
    const { id } = await created({ secret: 'first' });
    const stored = async () =>
      (
        await query<{
          secret_encrypted: Buffer | null;
          previous_secret_encrypted: Buffer | null;
          hours: number | null;
        }>(
          api.database,
          `SELECT secret_encrypted, previous_secret_encrypted,
            round(extract(epoch FROM previous_secret_expires_at - now()) / 3600)::int AS hours
           FROM webhook_configuration WHERE id = $1`,
          [id],
        )
      )[0];
    const { decrypt } = api.dependencies.secrets;
    expect((await call('PATCH', `/${id}`, { status: 'inactive' })).body.data.hasSecret).toBe(true);
    await call('PATCH', `/${id}`, { secret: 'second' });
    const rotated = await stored();
    expect(decrypt(rotated?.secret_encrypted ?? Buffer.alloc(0), `webhook ${id}`)).toBe('second');
    expect(decrypt(rotated?.previous_secret_encrypted ?? Buffer.alloc(0), `webhook ${id}`)).toBe('first');
    expect(rotated?.hours).toBe(24);
    // A client that lost the answer repeats the request; the previous secret must go on signing.
    await call('PATCH', `/${id}`, { secret: 'second', status: 'active' });
    expect(await stored()).toEqual(rotated);
    expect((await call('PATCH', `/${id}`, { secret: null })).body.data.hasSecret).toBe(false);
    expect(await stored()).toEqual({ secret_encrypted: null, previous_secret_encrypted: null, hours: null });
  });

  it('replaces a secret that cannot be decrypted any more', async () => {
    const { id } = await created({ secret: 'first' });
    await query(api.database, `UPDATE webhook_configuration SET secret_encrypted = 'lost' WHERE id = $1`, [
      id,
    ]);
    expect((await call('PATCH', `/${id}`, { secret: 'second' })).status).toBe(200);
  });

  it.each([{ url: 'http://192.168.0.1/' }, { url: '' }, { events: [] }, { status: 'off' }, { secret: '' }])(
    'refuses %j',
    async (change) => {
      const { id } = await created();
      expect((await call('PATCH', `/${id}`, change)).status).toBe(400);
    },
  );
});

describe('DELETE /api/external-webhooks/:id', () => {
  it('removes the configuration', async () => {
    const { id } = await created();
    const { status, body } = await call('DELETE', `/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'success', message: 'Webhook deleted successfully' });
    expect((await call('GET', `/${id}`)).status).toBe(404);
    expect((await call('DELETE', `/${id}`)).status).toBe(404);
  });
});

describe('an id that names nothing here', () => {
  it.each([
    ['GET', '', undefined],
    ['PATCH', '', {}],
    ['DELETE', '', undefined],
    ['GET', '/health', undefined],
    ['GET', '/deliveries', undefined],
    ['GET', `/deliveries/${randomUUID()}`, undefined],
    ['POST', `/deliveries/${randomUUID()}/resend`, undefined],
    ['POST', '/test', { eventKey: 'sent' }],
  ])('is 404: %s %s', async (method, suffix, body) => {
    const { id } = await created();
    for (const [name, key] of [
      [id, other.workspaceKey],
      [randomUUID(), seeded.workspaceKey],
      ['nonsense', seeded.workspaceKey],
    ] as const) {
      const answer = await api.send(method, `${root}/${name}${suffix}`, { key, body });
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ status: 'error', code: 404 });
    }
    expect((await call('GET', `/${id}`)).status).toBe(200);
  });
});

describe('GET /api/external-webhooks/:id/health', () => {
  /** Records one delivery for each of the given outcomes, one at a time. */
  async function outcomes(errorCodes: readonly ('non_2xx' | 'timeout' | null)[]): Promise<void> {
    const { pool } = api.database;
    await emitEvents(
      pool,
      seeded.workspaceId,
      errorCodes.map(() => contactEvent()),
    );
    await fanOutEvents(pool, 100);
    const ids = await handOut(pool);
    await claimAttempts(pool, ids, { leaseSeconds: 15, expiryHours: 24 });
    for (const [at, errorCode] of errorCodes.entries()) {
      const state = errorCode === null ? 'delivered' : 'failed';
      const result = { id: ids[at] ?? '', state, errorCode, durationMs: 5 } as const;
      await recordDeliveryOutcomes(pool, [{ ...result, responseStatus: null, responseExcerpt: null }]);
    }
  }

  it('follows the last 20 attempts, on the record too', async () => {
    const { id } = await created({ events: ['contact.created'] });
    const health = async () => (await call('GET', `/${id}/health`)).body.data;
    const record = async () => (await call('GET', `/${id}`)).body.data;
    const nothing = { webhookId: id, failingSince: null, consecutiveFailures: 0, waiting: 0 };
    expect(await health()).toEqual({ ...nothing, health: 'healthy' });
    await outcomes(['non_2xx', 'timeout']);
    expect(await record()).toMatchObject({
      health: 'failing',
      recentAttempts: 2,
      status: 'active',
      disabled_reason: null,
    });
    await query(
      api.database,
      `UPDATE webhook_configuration SET failing_since = '2026-01-02T03:04:05Z' WHERE id = $1`,
      [id],
    );
    await outcomes(['non_2xx']);
    await emitEvents(api.database.pool, seeded.workspaceId, [contactEvent()]);
    await fanOutEvents(api.database.pool, 100);
    expect(await health()).toEqual({
      webhookId: id,
      health: 'failing',
      failingSince: '2026-01-02T03:04:05.000Z',
      consecutiveFailures: 3,
      waiting: 1,
    });
    await outcomes([null]);
    expect(await health()).toMatchObject({ health: 'degraded', failingSince: null, consecutiveFailures: 0 });
    await outcomes(Array.from({ length: 19 }, () => null));
    expect(await record()).toMatchObject({ health: 'healthy' });
    await outcomes(['timeout']);
    expect(await record()).toMatchObject({ health: 'degraded' });
  });

  it('is reset by another address', async () => {
    const { id } = await created({ events: ['contact.created'] });
    await outcomes(['timeout']);
    await call('PATCH', `/${id}`, { events: ['contact.created', 'sent'] });
    expect((await call('GET', `/${id}`)).body.data.health).toBe('failing');
    const { body } = await call('PATCH', `/${id}`, { url: 'http://127.0.0.1:9/other' });
    expect(body.data.health).toBe('healthy');
    expect((await call('GET', `/${id}/health`)).body.data).toMatchObject({
      consecutiveFailures: 0,
      failingSince: null,
    });
  });

  it('disables a receiver that only failed for three days, ends what waits for it, and enables it again', async () => {
    const { id, title } = await created({ events: ['contact.created'] });
    const { pool } = api.database;
    const record = async () => (await call('GET', `/${id}`)).body.data;
    const since = (hours: number) =>
      query(
        api.database,
        `UPDATE webhook_configuration SET failing_since = now() - interval '1 hour' * $1 WHERE id = $2`,
        [hours, id],
      );
    await outcomes(Array.from({ length: 9 }, () => 'timeout' as const));
    await since(80);
    await outcomes([]);
    // Nine failures are too few, and 71 hours too short.
    expect(await disableFailingWebhooks(pool, 72)).toEqual([]);
    await outcomes(['non_2xx']);
    await since(71);
    expect(await disableFailingWebhooks(pool, 72)).toEqual([]);
    await since(73);
    await emitEvents(pool, seeded.workspaceId, [contactEvent()]);
    await fanOutEvents(pool, 100);
    // Two processes at once do it once.
    const disabled = await Promise.all([disableFailingWebhooks(pool, 72), disableFailingWebhooks(pool, 72)]);
    expect(disabled.flat()).toEqual([{ id, workspaceId: seeded.workspaceId, title }]);
    expect(await record()).toMatchObject({
      status: 'disabled',
      disabled_reason: 'failing',
      health: 'disabled',
    });
    expect(await countImpairedWebhooks(pool)).toContainEqual({ health: 'disabled', count: 1 });
    expect(await endInactiveDeliveries(pool, 100)).toContain('disabled');
    const log = await call('GET', `/${id}/deliveries?state=failed&limit=1`);
    expect(log.body.data[0]).toMatchObject({ state: 'failed', errorCode: 'disabled', attemptedAt: null });

    const key = seeded.workspaceKey;
    const notices = await api.send('GET', '/api/notices', { key });
    expect(notices.body.data[0]).toMatchObject({
      kind: 'webhook_disabled',
      subject: { type: 'webhook', id, name: title },
    });
    const [entry] = await query(
      api.database,
      `SELECT action, key_id FROM audit_entry WHERE object_id = $1 ORDER BY id DESC`,
      [id],
    );
    expect(entry).toEqual({ action: 'webhook.disable', key_id: null });

    // A disabled webhook receives no events, and stays disabled until it is set active.
    await emitEvents(pool, seeded.workspaceId, [contactEvent()]);
    expect(await fanOutEvents(pool, 100)).toMatchObject({ deliveries: 0 });
    expect((await call('PATCH', `/${id}`, { events: ['contact.created'] })).body.data.status).toBe(
      'disabled',
    );
    expect((await call('PATCH', `/${id}`, { status: 'disabled' })).status).toBe(400);
    const { body } = await call('PATCH', `/${id}`, { status: 'active' });
    expect(body.data).toMatchObject({ status: 'active', disabled_reason: null, health: 'healthy' });
    await outcomes([null]);
    expect(await record()).toMatchObject({ status: 'active', health: 'healthy' });
  });
});

describe('GET /api/external-webhooks/events', () => {
  it('describes the ten events, each with a schema and an example', async () => {
    const { status, body } = await call('GET', '/events');
    expect(status).toBe(200);
    expect(body.data.map(({ eventKey }: { eventKey: string }) => eventKey)).toEqual(eventKeys);
    for (const { eventKey, description, schema, example } of body.data) {
      expect(description).toMatch(/\.$/);
      expect(schema).toMatchObject({
        type: 'object',
        required: ['eventKey', 'workspaceId', 'timestamp', 'data'],
      });
      expect(example).toMatchObject({ eventKey, workspaceId: seeded.workspaceId });
    }
  });
});

describe('the delivery log', () => {
  async function withDeliveries(count: number) {
    const { id } = await created({ events: ['contact.created'] });
    await emitEvents(
      api.database.pool,
      seeded.workspaceId,
      Array.from({ length: count }, () => contactEvent()),
    );
    await fanOutEvents(api.database.pool, 1000);
    return id;
  }
  const ids = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map((row) => row.id);

  it('shows the fields of a delivery', async () => {
    const id = await withDeliveries(1);
    const { status, body } = await call('GET', `/${id}/deliveries`);
    expect(status).toBe(200);
    expect(body.pagination).toEqual({ limit: 100, nextCursor: null });
    expect(body.data).toEqual([
      {
        id: expect.any(String),
        webhookId: id,
        eventId: expect.any(String),
        eventKey: 'contact.created',
        state: 'pending',
        errorCode: null,
        responseStatus: null,
        responseExcerpt: null,
        durationMs: null,
        attemptedAt: null,
        createdAt: expect.any(String),
      },
    ]);
    const { payload, ...delivery } = (await call('GET', `/${id}/deliveries/${body.data[0].id}`)).body.data;
    expect(delivery).toEqual(body.data[0]);
    expect(JSON.parse(payload)).toMatchObject({
      eventKey: 'contact.created',
      workspaceId: seeded.workspaceId,
    });
  });

  it('pages by cursor, newest first, without gap or repetition', async () => {
    const id = await withDeliveries(25);
    const all = ids(await call('GET', `/${id}/deliveries`));
    expect(all).toEqual([...all].sort().reverse());
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer = await call(
        'GET',
        `/${id}/deliveries?limit=10${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...ids(answer));
      cursor = answer.body.pagination.nextCursor;
    }
    expect(seen).toEqual(all);
  });

  it('is filtered by state and by event', async () => {
    const id = await withDeliveries(4);
    const [first = '', second = ''] = ids(await call('GET', `/${id}/deliveries`));
    await query(api.database, `UPDATE webhook_delivery SET state = 'delivered' WHERE id = $1`, [first]);
    await query(
      api.database,
      `UPDATE webhook_delivery SET state = 'failed', error_code = 'timeout' WHERE id = $1`,
      [second],
    );
    expect(ids(await call('GET', `/${id}/deliveries?state=failed`))).toEqual([second]);
    expect(ids(await call('GET', `/${id}/deliveries?state=failed&state=delivered`))).toEqual([first, second]);
    expect(ids(await call('GET', `/${id}/deliveries?eventKey=sent`))).toEqual([]);
    expect(ids(await call('GET', `/${id}/deliveries?eventKey=sent&eventKey=contact.created`))).toHaveLength(
      4,
    );
  });

  it.each(['state=open', 'eventKey=x', 'cursor=x', 'limit=0', 'limit=1001'])(
    'refuses ?%s',
    async (search) => {
      const id = await withDeliveries(0);
      expect((await call('GET', `/${id}/deliveries?${search}`)).status).toBe(400);
    },
  );

  it('takes a resend as a new delivery of the same event, as often as asked', async () => {
    const id = await withDeliveries(1);
    const [first] = (await call('GET', `/${id}/deliveries`)).body.data;
    const resent = await call('POST', `/${id}/deliveries/${first.id}/resend`);
    expect(resent.status).toBe(202);
    expect(resent.body).toMatchObject({
      status: 'success',
      data: { eventId: first.eventId, state: 'pending' },
    });
    expect(resent.body.data.id).not.toBe(first.id);
    await call('POST', `/${id}/deliveries/${first.id}/resend`);
    expect(ids(await call('GET', `/${id}/deliveries`))).toHaveLength(3);
  });

  it('answers 404 to a resend when the event is no longer kept', async () => {
    const id = await withDeliveries(1);
    const [first] = (await call('GET', `/${id}/deliveries`)).body.data;
    await query(api.database, 'DELETE FROM event WHERE id = $1', [first.eventId]);
    const { status, body } = await call('POST', `/${id}/deliveries/${first.id}/resend`);
    expect(status).toBe(404);
    expect(body.message).toBe('Event not found');
  });

  it.each(eventKeys)('sends a test event %s to this configuration only', async (eventKey) => {
    const [{ id }, { id: bystander }] = [await created(), await created({ events: [...eventKeys] })];
    const { status, body } = await call('POST', `/${id}/test`, { eventKey });
    expect(status).toBe(202);
    expect(body.data).toMatchObject({ webhookId: id, eventKey, state: 'pending' });
    await fanOutEvents(api.database.pool, 1000);
    expect(ids(await call('GET', `/${id}/deliveries`))).toHaveLength(1);
    expect(ids(await call('GET', `/${bystander}/deliveries`))).toHaveLength(0);
  });

  it('refuses a test without a known event key', async () => {
    const { id } = await created();
    expect((await call('POST', `/${id}/test`, {})).status).toBe(400);
    expect((await call('POST', `/${id}/test`, { eventKey: 'x' })).status).toBe(400);
  });
});
