import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import {
  claimAttempts,
  listStillPending,
  recordDeliveryOutcomes,
} from '../../../src/records/webhooks/attempts.ts';
import {
  deleteWebhookConfiguration,
  updateWebhookConfiguration,
} from '../../../src/records/webhooks/configurations.ts';
import {
  countSchedulers,
  endInactiveDeliveries,
  findWaitingDelivery,
  forgetScheduler,
  returnDeliveries,
  scheduleDeliveries,
  type SchedulerLimits,
  sweepTimeouts,
} from '../../../src/records/webhooks/delivery-scheduler.ts';
import type { TestDatabase } from '../../support/database.ts';
import { serialiseEvent, type EventData } from '../../../src/domain/webhooks/new-event.ts';
import { createTestDatabase } from '../../support/database.ts';
import { connectLockHolder } from '../../support/lock-holder.ts';
import {
  contactEvent,
  handOut,
  makeConfiguration,
  makeWorkspace,
  query,
  schedulerLimits,
} from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => query(database, 'TRUNCATE event, webhook_delivery, webhook_configuration'));

/** Hands out at most 16 deliveries, at most 10 to one endpoint. */
const limits = { limit: 16, slowLimit: 4, perEndpoint: 10, slowPerShard: 4 };
const schedule = (overrides: Partial<SchedulerLimits> = {}) =>
  handOut(database.pool, { ...limits, ...overrides });
const claimOptions = { leaseSeconds: 15, expiryHours: 24 };

interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly dispatched_at: Date | null;
}

const deliveries = () => query<DeliveryRow>(database, 'SELECT * FROM webhook_delivery ORDER BY id');

/** Marks the endpoint as known to answer in time. */
const prove = () => query(database, 'UPDATE webhook_configuration SET proven_at = now()');

/** Emits and fans out `count` events for the workspace, whose endpoints are known to answer. */
async function backlog(workspaceId: number, count: number): Promise<void> {
  await prove();
  await emitEvents(
    database.pool,
    workspaceId,
    Array.from({ length: count }, () => contactEvent()),
  );
  await fanOutEvents(database.pool, count * 100);
}

describe('emitEvents', () => {
  it('writes nothing without a subscription', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId, { events: ['sent'] });
    await makeConfiguration(database.pool, workspaceId, { status: 'inactive' });
    await emitEvents(database.pool, workspaceId, [contactEvent()]);
    expect(await query(database, 'SELECT 1 FROM event')).toHaveLength(0);
  });

  it('stores the body that will be sent', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    const event = contactEvent({ firstName: 'a"\\\u0000\ud800 é👋' });
    await emitEvents(database.pool, workspaceId, [event]);
    const [stored] = await query<{ body: string; occurred_at: Date }>(database, 'SELECT * FROM event');
    expect(JSON.parse(stored?.body ?? '')).toEqual({
      eventKey: 'contact.created',
      workspaceId,
      timestamp: '2026-01-02T03:04:05.678Z',
      data: event.data,
    });
    expect(stored?.occurred_at).toEqual(event.occurredAt);
  });

  it('writes nothing when its transaction is rolled back', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    const failing = database.pool.transaction(async (transaction) => {
      await emitEvents(transaction, workspaceId, [contactEvent()]);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    expect(await query(database, 'SELECT 1 FROM event')).toHaveLength(0);
  });
});

describe('fanOutEvents', () => {
  it('makes one delivery per active subscribed configuration of the workspace', async () => {
    const [workspaceId, otherId] = [await makeWorkspace(database), await makeWorkspace(database)];
    const first = await makeConfiguration(database.pool, workspaceId);
    const second = await makeConfiguration(database.pool, workspaceId, {
      events: ['sent', 'contact.created'],
    });
    await makeConfiguration(database.pool, workspaceId, { events: ['sent'] });
    await makeConfiguration(database.pool, workspaceId, { status: 'inactive' });
    await makeConfiguration(database.pool, otherId);
    await emitEvents(database.pool, workspaceId, [contactEvent(), contactEvent()]);
    expect(await fanOutEvents(database.pool, 100)).toEqual({ events: 2, deliveries: 4 });
    expect(await fanOutEvents(database.pool, 100)).toEqual({ events: 0, deliveries: 0 });
    expect(new Set((await deliveries()).map((row) => row.webhook_id))).toEqual(
      new Set([first.id, second.id]),
    );
  });

  it('makes each delivery once when many processes run at the same time', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await emitEvents(
      database.pool,
      workspaceId,
      Array.from({ length: 200 }, () => contactEvent()),
    );
    const rounds = await Promise.all(Array.from({ length: 20 }, () => fanOutEvents(database.pool, 30)));
    expect(rounds.reduce((sum, { deliveries: made }) => sum + made, 0)).toBe(200);
    expect(await deliveries()).toHaveLength(200);
  });
});

describe('fan-out by workspace', () => {
  it('gives each the same share, however many events and configurations another has', async () => {
    const [large, small] = [await makeWorkspace(database), await makeWorkspace(database)];
    for (let index = 0; index < 50; index += 1) await makeConfiguration(database.pool, large);
    const { id } = await makeConfiguration(database.pool, small);
    await emitEvents(
      database.pool,
      large,
      Array.from({ length: 500 }, () => contactEvent()),
    );
    await emitEvents(database.pool, small, [contactEvent()]);
    // Half of a thousand: ten events of the one for fifty receivers each, the one event of the other.
    expect(await fanOutEvents(database.pool, 1000)).toEqual({ events: 11, deliveries: 501 });
    expect((await deliveries()).filter((row) => row.webhook_id === id)).toHaveLength(1);
  });

  it('finds the first of each by the index, beside a hundred thousand of one', async () => {
    const [large, small] = [await makeWorkspace(database), await makeWorkspace(database)];
    await makeConfiguration(database.pool, small);
    await query(
      database,
      `INSERT INTO event (workspace_id, key, body)
       SELECT $1, 'contact.created', '{}' FROM generate_series(1, 100000)`,
      [large],
    );
    await emitEvents(database.pool, small, [contactEvent()]);
    const { read } = await database.pool.transaction(async (transaction) => {
      expect(await fanOutEvents(transaction, 100)).toEqual({ events: 51, deliveries: 1 });
      return transaction.one(sql.unsafe`
        SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int4 AS read
        FROM pg_stat_xact_user_tables WHERE relname ~ '^event(_|$)'`);
    });
    expect(read).toBeLessThan(1_000);
  });
});

describe('a configuration with many deliveries pending', () => {
  const manyWaiting = async () => {
    const workspaceId = await makeWorkspace(database);
    const configuration = await makeConfiguration(database.pool, workspaceId);
    await prove();
    await query(
      database,
      `INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key)
       SELECT $1, $2, gen_random_uuid(), 'sent' FROM generate_series(1, 20000)`,
      [workspaceId, configuration.id],
    );
    return { workspaceId, id: configuration.id };
  };

  it('is deleted at once, although another transaction holds one of them', async () => {
    const { workspaceId, id } = await manyWaiting();
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM webhook_delivery ORDER BY id LIMIT 1 FOR UPDATE');
    await deleteWebhookConfiguration(database.pool, workspaceId, id);
    expect(await schedule()).toEqual([]);
    let ended = 0;
    for (let batch = 5_000; batch === 5_000; ended += batch)
      batch = (await endInactiveDeliveries(database.pool, 5_000)).length;
    expect(ended).toBe(19_999);
    await holder.query('COMMIT');
    await holder.end();
    expect(await endInactiveDeliveries(database.pool, 5_000)).toEqual(['endpoint_inactive']);
    const open = await query(
      database,
      `SELECT FROM webhook_delivery WHERE error_code IS DISTINCT FROM 'endpoint_inactive'`,
    );
    expect(open).toHaveLength(0);
  });

  it('starts no delivery while it is paused, and starts its waiting ones when it is active again', async () => {
    const { workspaceId, id } = await manyWaiting();
    const other = await manyWaiting();
    await updateWebhookConfiguration(database.pool, workspaceId, id, { status: 'inactive' });
    const dispatched = await schedule();
    expect(dispatched.length).toBeGreaterThan(0);
    const of = new Set(
      (await deliveries()).filter((row) => row.dispatched_at !== null).map((row) => row.webhook_id),
    );
    expect(of).toEqual(new Set([other.id]));
    expect(await endInactiveDeliveries(database.pool, 50_000)).toEqual([]);
    await query(database, 'DELETE FROM webhook_delivery WHERE webhook_id = $1', [other.id]);
    expect(await findWaitingDelivery(database.pool)).toBeUndefined();
    await updateWebhookConfiguration(database.pool, workspaceId, id, { status: 'active' });
    expect(await findWaitingDelivery(database.pool)).toBeDefined();
    expect((await schedule()).length).toBeGreaterThan(0);
  });
});

describe('scheduleDeliveries', () => {
  const webhooksOf = async (ids: readonly string[]) =>
    (await deliveries()).filter(({ id }) => ids.includes(id)).map((row) => row.webhook_id);

  it('hands every delivery out once, oldest first, when many processes run at the same time', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 8);
    const all = (await deliveries()).map(({ id }) => id);
    const handedOut: string[] = [];
    // One of four concurrent calls locks the shard; the others find it locked and return nothing.
    while (handedOut.length < all.length) {
      const rounds = await Promise.all(Array.from({ length: 4 }, () => schedule({ limit: 2 })));
      expect(rounds.flat().length).toBeLessThanOrEqual(8);
      handedOut.push(...rounds.flat());
    }
    expect(handedOut.toSorted()).toEqual(all);
    expect(await schedule()).toEqual([]);
  });

  it('visits every shard in a few polls, however few it may lock at a time', async () => {
    const workspaceId = await makeWorkspace(database);
    await Promise.all(Array.from({ length: 40 }, () => makeConfiguration(database.pool, workspaceId)));
    await backlog(workspaceId, 1);
    let handedOut = 0;
    for (let first = 0; first < 16; first += 4) {
      const shards = { count: 16, first, most: 4 };
      const round = await scheduleDeliveries(database.pool, { ...schedulerLimits, shards });
      expect(round.shards).toEqual([first, first + 1, first + 2, first + 3]);
      handedOut += round.deliveries.length;
    }
    expect(handedOut).toBe(40);
  });

  it('leaves a locked shard to its holder and takes the next one', async () => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT pg_advisory_xact_lock($1, 0)', [0x77686b]);
    const shards = { count: 4, first: 0, most: 2 };
    const round = await scheduleDeliveries(database.pool, { ...schedulerLimits, shards });
    await holder.query('ROLLBACK');
    await holder.end();
    expect(round.shards).toEqual([1, 2]);
  });

  it('keeps the cap of an endpoint until something ends', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 30);
    const first = await schedule();
    expect(first).toHaveLength(10);
    expect(await schedule()).toHaveLength(0);
    await claimAttempts(database.pool, first, claimOptions);
    expect(await schedule()).toHaveLength(0);
    await recordDeliveryOutcomes(database.pool, first.slice(0, 3).map(delivered));
    expect(await schedule()).toHaveLength(3);
  });

  it('alternates between endpoints, so that a backlog starves none', async () => {
    const [loudId, quietId] = [await makeWorkspace(database), await makeWorkspace(database)];
    await makeConfiguration(database.pool, loudId);
    const quiet = await makeConfiguration(database.pool, quietId);
    await backlog(loudId, 50);
    await schedule({ limit: 5 });
    await backlog(quietId, 1);
    expect(await webhooksOf(await schedule({ limit: 1 }))).toEqual([quiet.id]);
  });

  it('alternates between workspaces, however many endpoints one has', async () => {
    const [loudId, quietId] = [await makeWorkspace(database), await makeWorkspace(database)];
    await Promise.all(Array.from({ length: 20 }, () => makeConfiguration(database.pool, loudId)));
    const quiet = await makeConfiguration(database.pool, quietId);
    await backlog(loudId, 3);
    await schedule({ limit: 2 });
    await backlog(quietId, 1);
    // The loud workspace has two deliveries in flight; the quiet one has none.
    const [next] = await webhooksOf(await schedule({ limit: 1 }));
    expect(next).toBe(quiet.id);
  });

  it('leaves locked deliveries for the next poll, and so does a claim', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 3);
    const [first, second, third] = (await deliveries()).map(({ id }) => id);
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    const hold = (id: string | undefined) =>
      holder.query('SELECT FROM webhook_delivery WHERE id = $1 FOR UPDATE', [id]);
    await holder.query('BEGIN');
    await hold(first);
    expect((await schedule()).toSorted()).toEqual([second, third]);
    await hold(second);
    const both = [second, third] as string[];
    const claimed = await claimAttempts(database.pool, both, claimOptions);
    expect(claimed.map(({ id }) => id)).toEqual([third]);
    expect(await listStillPending(database.pool, both)).toEqual([second]);
    await holder.query('COMMIT');
    await holder.end();
    expect(await schedule()).toEqual([first]);
  });

  it('gives slow endpoints slots of their own, within the cap of their shard', async () => {
    const [slowWorkspace, fastWorkspace] = [await makeWorkspace(database), await makeWorkspace(database)];
    const slow = await Promise.all(
      Array.from({ length: 20 }, () => makeConfiguration(database.pool, slowWorkspace)),
    );
    await query(database, 'UPDATE webhook_configuration SET consecutive_timeouts = 1');
    const fast = await makeConfiguration(database.pool, fastWorkspace);
    await backlog(slowWorkspace, 5);
    await backlog(fastWorkspace, 30);
    const slowIds = new Set(slow.map(({ id }) => id));
    const one = { count: 1, first: 0, most: 1 };
    const first = await webhooksOf(await schedule({ limit: 8, shards: one, slowPerShard: 6 }));
    expect(first.filter((id) => id === fast.id)).toHaveLength(8);
    // One poll hands out four, each of another endpoint.
    expect(new Set(first.filter((id) => slowIds.has(id))).size).toBe(4);
    const second = await webhooksOf(await schedule({ limit: 1, shards: one, slowPerShard: 6 }));
    expect(second.filter((id) => slowIds.has(id))).toHaveLength(2);
    expect(await schedule({ limit: 0, shards: one, slowPerShard: 6 })).toHaveLength(0);
  });

  it('counts the slow ones of each shard separately', async () => {
    const workspaceId = await makeWorkspace(database);
    await Promise.all(Array.from({ length: 40 }, () => makeConfiguration(database.pool, workspaceId)));
    await backlog(workspaceId, 2);
    await query(database, 'UPDATE webhook_configuration SET consecutive_timeouts = 1');
    const two = { count: 2, first: 0, most: 2 };
    expect(await schedule({ shards: two, slowLimit: 100, slowPerShard: 7 })).toHaveLength(14);
  });

  it('treats an endpoint as slow while a request of it hangs', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 9);
    await claimAttempts(database.pool, await schedule({ limit: 2 }), claimOptions);
    await query(database, `UPDATE webhook_delivery SET attempted_at = attempted_at - interval '3 seconds'`);
    // Two of the four slots are taken by the requests that hang.
    expect(await schedule()).toHaveLength(2);
  });

  it('gives an unproven endpoint one delivery behind the proven ones, then slow slots', async () => {
    const [newWorkspace, knownWorkspace] = [await makeWorkspace(database), await makeWorkspace(database)];
    const known = await makeConfiguration(database.pool, knownWorkspace);
    await Promise.all(Array.from({ length: 20 }, () => makeConfiguration(database.pool, newWorkspace)));
    await backlog(newWorkspace, 3);
    await backlog(knownWorkspace, 3);
    await query(database, 'UPDATE webhook_configuration SET proven_at = NULL WHERE id <> $1', [known.id]);
    const wide = { limit: 50, slowLimit: 2, slowPerShard: 100 };
    expect(await webhooksOf(await schedule({ ...wide, limit: 1, slowLimit: 0 }))).toEqual([known.id]);
    const next = await webhooksOf(await schedule(wide));
    expect(next.filter((id) => id === known.id)).toHaveLength(2);
    expect(new Set(next).size).toBe(21);
    expect(next).toHaveLength(2 + 20 + 2);
    expect(await schedule(wide)).toHaveLength(2);
  });

  it('hands a delivery out again when its start failed', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 1);
    const ids = await schedule();
    await returnDeliveries(database.pool, ids);
    expect(await schedule()).toEqual(ids);
  });
});

describe('countSchedulers', () => {
  it('counts the schedulers with a recent heartbeat and removes the dead ones', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    expect(await countSchedulers(database.pool, first)).toBe(1);
    expect(await countSchedulers(database.pool, second)).toBe(2);
    await query(
      database,
      `UPDATE webhook_scheduler SET seen_at = now() - interval '20 seconds' WHERE id = $1`,
      [first],
    );
    expect(await countSchedulers(database.pool, second)).toBe(1);
    await query(
      database,
      `UPDATE webhook_scheduler SET seen_at = now() - interval '1 minute' WHERE id = $1`,
      [first],
    );
    await countSchedulers(database.pool, second);
    expect(await query(database, 'SELECT FROM webhook_scheduler')).toHaveLength(1);
    await forgetScheduler(database.pool, second);
    expect(await query(database, 'SELECT FROM webhook_scheduler')).toHaveLength(0);
  });
});

const delivered = (id: string) => ({
  id,
  state: 'delivered' as const,
  errorCode: null,
  responseStatus: 200,
  responseExcerpt: 'ok',
  durationMs: 12,
});
const timedOut = (id: string) => ({
  ...delivered(id),
  state: 'failed' as const,
  errorCode: 'timeout' as const,
  responseStatus: null,
  responseExcerpt: null,
});

describe('claimAttempts', () => {
  async function oneDelivery() {
    const workspaceId = await makeWorkspace(database);
    const configuration = await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 1);
    const [id = ''] = await schedule();
    return { workspaceId, configuration, id };
  }
  const stored = async () => (await deliveries())[0];

  it('gives the attempt to exactly one of many', async () => {
    const { id, configuration, workspaceId } = await oneDelivery();
    const claims = await Promise.all(
      Array.from({ length: 20 }, () => claimAttempts(database.pool, [id], claimOptions)),
    );
    expect(claims.flat()).toHaveLength(1);
    expect(claims.flat()[0]).toMatchObject({
      id,
      workspaceId,
      webhookId: configuration.id,
      eventKey: 'contact.created',
      url: configuration.url,
      secretEncrypted: null,
    });
    expect(await stored()).toMatchObject({ state: 'sending' });
  });

  it('lets the delivery wait if the configuration was paused, and gives the attempt once it is active', async () => {
    const { id, workspaceId, configuration } = await oneDelivery();
    const before = await stored();
    await updateWebhookConfiguration(database.pool, workspaceId, configuration.id, { status: 'inactive' });
    expect(await claimAttempts(database.pool, [id], claimOptions)).toEqual([]);
    expect(await deliveries()).toMatchObject([
      { ...before, id: expect.not.stringMatching(id), dispatched_at: null },
    ]);
    expect(await schedule()).toEqual([]);
    await updateWebhookConfiguration(database.pool, workspaceId, configuration.id, { status: 'active' });
    const [next = ''] = await schedule();
    expect(await claimAttempts(database.pool, [next], claimOptions)).toMatchObject([
      { id: next, refusal: null },
    ]);
  });

  it('refuses when the configuration was deleted', async () => {
    const { id, workspaceId, configuration } = await oneDelivery();
    await deleteWebhookConfiguration(database.pool, workspaceId, configuration.id);
    expect(await claimAttempts(database.pool, [id], claimOptions)).toMatchObject([
      { id, refusal: 'endpoint_inactive' },
    ]);
    expect(await stored()).toMatchObject({ state: 'failed', error_code: 'endpoint_inactive' });
  });

  it('refuses when the delivery is too old', async () => {
    const { id } = await oneDelivery();
    await query(database, `UPDATE webhook_delivery SET created_at = now() - interval '25 hours'`);
    expect(await claimAttempts(database.pool, [id], claimOptions)).toMatchObject([
      { id, refusal: 'expired' },
    ]);
    expect(await stored()).toMatchObject({ state: 'failed', error_code: 'expired' });
  });

  it.each([
    [262_144, 'sending', null],
    [262_145, 'failed', 'payload_too_large'],
  ])('counts bytes, not characters: %i bytes are %s', async (bytes, state, errorCode) => {
    const { id } = await oneDelivery();
    // Two bytes a character, and one of one byte where the number is odd.
    const body = 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2);
    await query(database, 'UPDATE event SET body = $1', [body]);
    await claimAttempts(database.pool, [id], claimOptions);
    expect(await stored()).toMatchObject({ state, error_code: errorCode });
  });

  it('refuses an event whose data was left out because it is too large', async () => {
    const { id } = await oneDelivery();
    const occurredAt = new Date();
    const write = async (text: string) => {
      const data = { contact: { firstName: text } } as unknown as EventData<'contact.updated'>;
      const body = serialiseEvent(1001, { eventKey: 'contact.updated', occurredAt, data });
      await query(database, 'UPDATE event SET body = $1', [body]);
      return body;
    };
    const body = await write('é'.repeat(131_072));
    expect(JSON.parse(body)).toEqual({
      eventKey: 'contact.updated',
      workspaceId: 1001,
      timestamp: occurredAt.toISOString(),
      data: { too_large: true },
    });
    await claimAttempts(database.pool, [id], claimOptions);
    expect(await stored()).toMatchObject({ state: 'failed', error_code: 'payload_too_large' });
    const other = await oneDelivery();
    expect((await write('"data":{"too_large":true}}')).length).toBeLessThan(300);
    await claimAttempts(database.pool, [other.id], claimOptions);
    const states = await query(database, 'SELECT state FROM webhook_delivery WHERE id = $1', [other.id]);
    expect(states).toEqual([{ state: 'sending' }]);
  });

  it('ignores an unknown id', async () => {
    expect(await claimAttempts(database.pool, [randomUUID()], claimOptions)).toEqual([]);
  });
});

describe('recordDeliveryOutcomes', () => {
  async function sending(count: number) {
    const workspaceId = await makeWorkspace(database);
    const configuration = await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, count);
    const ids = await schedule();
    await claimAttempts(database.pool, ids, claimOptions);
    return { ids, configuration: { ...configuration, workspaceId } };
  }
  const health = async () =>
    (
      await query<{ consecutive_failures: number; consecutive_timeouts: number; failing_since: Date | null }>(
        database,
        'SELECT consecutive_failures, consecutive_timeouts, failing_since FROM webhook_configuration',
      )
    )[0];

  it('counts failures and time-outs, and forgets them after a success', async () => {
    const { ids } = await sending(3);
    await recordDeliveryOutcomes(database.pool, ids.slice(0, 2).map(timedOut));
    expect(await health()).toMatchObject({ consecutive_failures: 2, consecutive_timeouts: 2 });
    expect((await health())?.failing_since).toBeInstanceOf(Date);
    await recordDeliveryOutcomes(database.pool, ids.slice(2).map(delivered));
    expect(await health()).toEqual({ consecutive_failures: 0, consecutive_timeouts: 0, failing_since: null });
  });

  it('keeps the moment since when the endpoint fails', async () => {
    const { ids } = await sending(2);
    await recordDeliveryOutcomes(database.pool, ids.slice(0, 1).map(timedOut));
    const since = (await health())?.failing_since;
    await recordDeliveryOutcomes(database.pool, [
      { ...timedOut(ids[1] ?? ''), errorCode: 'non_2xx', responseStatus: 500 },
    ]);
    expect(await health()).toEqual({
      consecutive_failures: 2,
      consecutive_timeouts: 0,
      failing_since: since,
    });
  });

  it('counts an endpoint as proven after its first attempt that did not time out, until its URL changes', async () => {
    const { ids, configuration } = await sending(3);
    const proven = async () =>
      (
        await query<{ proven: boolean }>(
          database,
          'SELECT proven_at IS NOT NULL AS proven FROM webhook_configuration',
        )
      )[0]?.proven;
    await query(database, 'UPDATE webhook_configuration SET proven_at = NULL');
    await recordDeliveryOutcomes(database.pool, ids.slice(0, 1).map(timedOut));
    expect(await proven()).toBe(false);
    await recordDeliveryOutcomes(database.pool, [
      { ...timedOut(ids[1] ?? ''), errorCode: 'non_2xx', responseStatus: 500 },
    ]);
    expect(await proven()).toBe(true);
    const change = (url: string) =>
      updateWebhookConfiguration(database.pool, configuration.workspaceId, configuration.id, { url });
    await change(configuration.url);
    expect(await proven()).toBe(true);
    await change('http://127.0.0.1:9/other');
    expect(await proven()).toBe(false);
  });

  it('does not change a recorded outcome', async () => {
    const { ids } = await sending(1);
    await recordDeliveryOutcomes(database.pool, ids.map(delivered));
    await recordDeliveryOutcomes(database.pool, ids.map(timedOut));
    expect((await deliveries())[0]).toMatchObject({ state: 'delivered', error_code: null });
  });

  it('corrects an interruption that was declared too early', async () => {
    const { ids } = await sending(1);
    await query(database, `UPDATE webhook_delivery SET sending_until = now() - interval '1 second'`);
    await sweepTimeouts(database.pool, { expiryHours: 24, redispatchSeconds: 120 });
    expect((await deliveries())[0]).toMatchObject({ state: 'failed', error_code: 'interrupted' });
    await recordDeliveryOutcomes(database.pool, ids.map(delivered));
    expect((await deliveries())[0]).toMatchObject({ state: 'delivered', error_code: null });
  });
});

describe('sweepTimeouts', () => {
  const sweep = () => sweepTimeouts(database.pool, { expiryHours: 24, redispatchSeconds: 120 });

  it('leaves deliveries in flight alone', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 3);
    const [first = ''] = await schedule({ limit: 2 });
    await claimAttempts(database.pool, [first], claimOptions);
    expect(await sweep()).toEqual({ interrupted: 0, expired: 0, returned: 0 });
  });

  it('does not wait for times from before the clock was set back', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 2);
    const [first = ''] = await schedule({ limit: 2 });
    await claimAttempts(database.pool, [first], claimOptions);
    await query(
      database,
      `UPDATE webhook_delivery SET dispatched_at = now() + interval '1 hour', sending_until = sending_until + interval '1 hour'`,
    );
    expect(await sweep()).toEqual({ interrupted: 1, expired: 0, returned: 1 });
  });

  it('expires what waited for longer than the limit, dispatched or not', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 2);
    await schedule({ limit: 1 });
    await query(
      database,
      `UPDATE webhook_delivery SET id = uuidv7(interval '-25 hours'), created_at = now() - interval '25 hours'`,
    );
    expect(await sweep()).toMatchObject({ expired: 2 });
    expect((await deliveries()).map(({ state, error_code: code }) => [state, code])).toEqual([
      ['failed', 'expired'],
      ['failed', 'expired'],
    ]);
  });

  it('leaves late deliveries alone that are claimed at that moment, dispatched or not', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 2);
    await schedule({ limit: 1 });
    await query(
      database,
      `UPDATE webhook_delivery SET id = uuidv7(interval '-25 hours'), created_at = now() - interval '25 hours'`,
    );
    const holder = await connectLockHolder(database.ownerUrl);
    await holder.hold(
      `UPDATE webhook_delivery SET state = 'sending', sending_until = now() + interval '15 seconds'`,
    );
    const swept = sweep();
    await holder.untilWaiting(1, swept);
    await holder.release();
    expect(await swept).toMatchObject({ expired: 0 });
    expect((await deliveries()).map(({ state }) => state)).toEqual(['sending', 'sending']);
    await holder.end();
  });

  it('puts a delivery whose start was lost back into the queue', async () => {
    const workspaceId = await makeWorkspace(database);
    await makeConfiguration(database.pool, workspaceId);
    await backlog(workspaceId, 1);
    const ids = await schedule();
    await query(database, `UPDATE webhook_delivery SET dispatched_at = now() - interval '3 minutes'`);
    expect(await sweep()).toMatchObject({ returned: 1 });
    expect(await schedule()).toEqual(ids);
  });
});
