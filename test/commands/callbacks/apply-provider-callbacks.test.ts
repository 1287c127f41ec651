import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createCallbackPoll,
  startApplyingCallbacks,
} from '../../../src/commands/callbacks/apply-provider-callbacks.ts';
import { startPollingLoop } from '../../../src/concurrency/polling-loop.ts';
import { insertProviderCallbacks } from '../../../src/records/callbacks/provider-callbacks.ts';
import type { Connection, Database } from '../../../src/records/database/database.ts';
import { nothing } from '../../../src/records/database/row.ts';
import {
  createApplier,
  deliver,
  deliverAnyhow,
  eventsOf,
  fieldCallback,
  messagesCallback,
  rowsOf,
  status,
  subscribeToAll,
} from '../../support/callback-fixtures.ts';
import { claimBatch } from '../../../src/records/sending/claim-batch.ts';
import {
  anyTokens,
  checkBooks,
  messagePrice,
  seedCampaign,
  type SeededCampaign,
} from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ poolSize: 10 });
  // An unexpected error: this message cannot be saved.
  await database.owner.query(sql.type(nothing)`
    CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF NEW.type = ''poison'' THEN RAISE EXCEPTION ''poisoned by %'', NEW.phone_number; END IF; RETURN NEW; END'`);
  await database.owner.query(sql.type(nothing)`
    CREATE TRIGGER poison BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION refuse_poison()`);
});
afterAll(() => database.drop());

async function seed(recipients = 1): Promise<SeededCampaign> {
  const place = await seedCampaign(database.pool, { recipients });
  await subscribeToAll(database.pool, place.workspaceId);
  return place;
}

const message = (id: string, type = 'text') => ({
  id,
  from: '4915112345678',
  timestamp: '1749416383',
  type,
  text: { body: 'Hi' },
});

const inbound = (place: SeededCampaign, ...messages: ReturnType<typeof message>[]) =>
  messagesCallback(place.channelId, { messages });

const savedOf = async ({ channelId }: SeededCampaign) =>
  (
    await rowsOf<{ id: string }>(
      database.pool,
      sql.fragment`SELECT provider_message_id AS id FROM message WHERE channel_id = ${channelId}`,
    )
  )
    .map(({ id }) => id)
    .toSorted();

const errors = () =>
  rowsOf<{ error: string; applied: boolean }>(
    database.pool,
    sql.fragment`SELECT error, id NOT IN (SELECT id FROM waiting_callback) AS applied
      FROM provider_callback WHERE error IS NOT NULL`,
  );

const waiting = async () =>
  (await rowsOf(database.pool, sql.fragment`SELECT id FROM waiting_callback`)).length;

describe('createCallbackPoll', () => {
  it('applies the other elements when one fails, and stores the callback with its error', async () => {
    const place = await seed();
    await deliverAnyhow(createApplier(database.pool), [
      inbound(place, message('a')),
      inbound(place, message('b'), message('bad', 'poison'), message('c')),
      Buffer.from(
        '{"object":"whatsapp_business_account","entry":[{"changes":[{"field":"messages","value":7}]}]}',
      ),
      inbound(place, message('d')),
    ]);
    expect(await savedOf(place)).toEqual(['a', 'b', 'c', 'd']);
    const kept = await errors();
    expect(kept).toHaveLength(1);
    expect(kept[0]?.error).toMatch(/^element 1 \(message\): /);
    expect(kept[0]?.error).not.toContain('4915112345678');
    expect(await waiting()).toBe(0);
  });

  it('applies a callback again as a whole after a deadlock', async () => {
    const place = await seed();
    await database.owner.query(sql.type(nothing)`
      CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION USING ERRCODE = ''deadlock_detected''; END'`);
    await database.owner.query(sql.type(nothing)`
      CREATE TRIGGER deadlock BEFORE INSERT ON message FOR EACH ROW
      WHEN (NEW.provider_message_id = 'contended') EXECUTE FUNCTION deadlock()`);
    const before = await errors();
    const body = Buffer.from(JSON.stringify(inbound(place, message('first'), message('contended'))));
    await insertProviderCallbacks(database.pool, [body]);
    await createCallbackPoll(createApplier(database.pool))();
    expect(await errors()).toEqual(before);
    expect([await savedOf(place), await waiting()]).toEqual([[], 1]);
    await database.owner.query(sql.type(nothing)`DROP TRIGGER deadlock ON message`);
    await createCallbackPoll(createApplier(database.pool))();
    expect([await savedOf(place), await waiting()]).toEqual([['contended', 'first'], 0]);
  });

  it('ignores unknown phone number ids and accounts', async () => {
    const applier = createApplier(database.pool);
    const before = (await errors()).length;
    await deliver(applier, [
      messagesCallback('no such number', {
        messages: [message('x')],
        statuses: [status({ status: 'sent', providerMessageId: 'w' })],
      }),
      fieldCallback('no such account', 'message_template_status_update', {
        event: 'APPROVED',
        message_template_id: 1,
      }),
      fieldCallback('no such account', 'account_update', { event: 'DISABLED_UPDATE' }),
    ]);
    expect(await errors()).toHaveLength(before);
    expect(applier.complaints).toEqual([
      'the provider reported on an account',
      'callbacks for phone number ids of no channel',
    ]);
    expect(applier.lines.at(-1)).toMatchObject({ elements: 2, phoneNumberIds: ['no such number'] });
    expect(applier.orchestratorCalls).toEqual([]);
  });

  it('applies everything once when several workers share the work', async () => {
    const size = 60;
    const place = await seed(size);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET state = 'ACCEPTED', provider_message_id = 'wamid.' || id, settlement = 'charged', price = 1000
      WHERE campaign_id = ${place.campaignId}`);
    await database.pool.query(sql.type(nothing)`
      UPDATE campaign_counter SET pending = 0, accepted = ${size} WHERE campaign_id = ${place.campaignId}`);
    const recipients = await rowsOf<{ id: string }>(
      database.pool,
      sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${place.campaignId}`,
    );
    const callbacks = ['sent', 'delivered', 'read', 'sent'].flatMap((name) =>
      recipients.map(({ id }) =>
        Buffer.from(
          JSON.stringify(
            messagesCallback(place.channelId, {
              statuses: [status({ status: name, providerMessageId: `wamid.${id}`, callbackData: id })],
            }),
          ),
        ),
      ),
    );
    const appliers = [1, 2, 3].map(() => createApplier(database.pool));
    const loops = appliers.map((applier) => startApplyingCallbacks(applier));
    for (const callback of callbacks) await insertProviderCallbacks(database.pool, [callback]);
    await expect.poll(waiting).toBe(0);
    await Promise.all(loops.map((loop) => loop.stop()));

    const events = await eventsOf(database.pool, place.workspaceId);
    expect(events).toHaveLength(3 * size);
    const states = sql.fragment`SELECT DISTINCT state FROM recipient WHERE campaign_id = ${place.campaignId}`;
    expect(await rowsOf(database.pool, states)).toEqual([{ state: 'READ' }]);
    expect(await checkBooks(database.pool, place)).toMatchObject({ counters_fit: true });
    expect(appliers.flatMap(({ complaints }) => complaints)).toEqual([]);
  });

  it('leaves callbacks waiting when the database is away', async () => {
    const place = await seed();
    await insertProviderCallbacks(database.pool, [
      Buffer.from(JSON.stringify(inbound(place, message('later')))),
    ]);
    const away = { ...database.pool, transaction: () => Promise.reject(new Error('Connection terminated')) };
    await expect(createCallbackPoll(createApplier(away as typeof database.pool))()).rejects.toThrow(
      'terminated',
    );
    expect(await waiting()).toBe(1);
    await deliver(createApplier(database.pool), []);
    expect(await savedOf(place)).toEqual(['later']);
  });
});

/** Creates contacts and locks them in another transaction until `release`. */
async function holdContacts({ workspaceId }: SeededCampaign, count: number) {
  await database.pool.query(sql.type(nothing)`
    INSERT INTO contact (workspace_id, phone_number, source)
    SELECT ${workspaceId}, (4915100000000 + n)::text, 'test' FROM generate_series(1, ${count}) AS n`);
  const holder = new pg.Client({ connectionString: database.ownerUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM contact WHERE workspace_id = $1 FOR UPDATE', [workspaceId]);
  return async () => {
    await holder.query('ROLLBACK');
    await holder.end();
  };
}

/** The database, and for how long its transactions waited at most for locks until they gave up. */
function watchPatience() {
  let waitedMs = 0;
  const transaction = <T>(work: (connection: Connection) => Promise<T>): Promise<T> =>
    database.pool.transaction(async (connection) => {
      let patienceMs = 0;
      const query: Connection['query'] = (statement) => {
        if (statement.sql.includes("'lock_timeout'")) patienceMs = Number(statement.values[0]);
        return connection.query(statement);
      };
      try {
        return await work({ ...connection, query });
      } catch (error) {
        waitedMs += patienceMs;
        throw error;
      }
    });
  return { pool: { ...database.pool, transaction } as Database, waitedMs: () => waitedMs };
}

const stopOf = (place: SeededCampaign, from: string): Buffer =>
  Buffer.from(
    JSON.stringify(
      inbound(place, { ...message(`stop-${place.channelId}-${from}`), from, text: { body: 'STOP' } }),
    ),
  );

describe('contacts that an import holds', () => {
  it('delay no callback of another tenant, however many they are', async () => {
    const [busy, other] = [await seed(), await seed()];
    const release = await holdContacts(busy, 15);
    const numbers = Array.from({ length: 15 }, (_, index) => String(4_915_100_000_001 + index));
    await insertProviderCallbacks(database.pool, [
      ...numbers.map((from) => stopOf(busy, from)),
      stopOf(other, '4915112345678'),
    ]);
    const { pool, waitedMs } = watchPatience();
    await createCallbackPoll(createApplier(pool), { restMs: 60_000 })();
    // Once for the batch, and some milliseconds for each locked contact; a second for each would be 15 s.
    expect(waitedMs()).toBeGreaterThan(0);
    expect(waitedMs()).toBeLessThanOrEqual(1_000);
    const unsubscribed = sql.fragment`SELECT phone_number FROM contact WHERE workspace_id = ${other.workspaceId} AND NOT subscribed`;
    expect(await rowsOf(database.pool, unsubscribed)).toEqual([{ phone_number: '4915112345678' }]);
    expect(await savedOf(other)).toHaveLength(1);
    expect(await savedOf(busy)).toHaveLength(0);
    await release();
    const again = createCallbackPoll(createApplier(database.pool));
    while ((await again()) > 0);
    expect(await savedOf(busy)).toHaveLength(15);
    expect(await waiting()).toBe(0);
  });

  it('are not sent to once they opted out, and are unsubscribed when the import releases them', async () => {
    const place = await seed(3);
    const release = await holdContacts(place, 3);
    await database.pool.query(sql.type(nothing)`
      UPDATE recipient SET contact_id = contact.id FROM contact
      WHERE campaign_id = ${place.campaignId} AND contact.workspace_id = ${place.workspaceId}
        AND contact.phone_number = recipient.phone_number`);
    await insertProviderCallbacks(database.pool, [stopOf(place, '4915100000002')]);
    await createCallbackPoll(createApplier(database.pool))();
    const claim = await claimBatch(database.pool, {
      ...anyTokens,
      ...place,
      claimId: randomUUID(),
      epoch: 0,
      limit: 10,
      prices: new Map([['', messagePrice]]),
    });
    expect(claim.kind === 'batch' && claim.recipients.map(({ position }) => position)).toEqual([1, 3]);
    await release();
    await createCallbackPoll(createApplier(database.pool))();
    expect(
      await rowsOf(
        database.pool,
        sql.fragment`SELECT phone_number FROM contact WHERE workspace_id = ${place.workspaceId} AND NOT subscribed`,
      ),
    ).toEqual([{ phone_number: '4915100000002' }]);
    expect(await rowsOf(database.pool, sql.fragment`SELECT FROM waiting_opt_out`)).toEqual([]);
  });
});

it.each([
  ['for the first time', false],
  ['while the channel rests', true],
])(
  'notes for claims that the provider reports an opt-out of a contact that an import holds, %s',
  async (_, rests) => {
    const place = await seed(2);
    const release = await holdContacts(place, 2);
    await database.pool.query(sql.type(nothing)`
    UPDATE recipient SET state = 'ACCEPTED', provider_message_id = 'wamid.' || recipient.id, contact_id = contact.id FROM contact
    WHERE campaign_id = ${place.campaignId} AND contact.workspace_id = ${place.workspaceId}
      AND contact.phone_number = recipient.phone_number`);
    await database.pool.query(sql.type(nothing)`
    UPDATE campaign_counter SET pending = 0, accepted = 2 WHERE campaign_id = ${place.campaignId}`);
    const [first] = await rowsOf<{ id: string }>(
      database.pool,
      sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${place.campaignId} AND position = 1`,
    );
    const callback = messagesCallback(place.channelId, {
      // To +49 151 00000001.
      statuses: [
        status({
          status: 'failed',
          providerMessageId: `wamid.${first?.id}`,
          callbackData: first?.id ?? '',
          code: 131050,
        }),
      ],
    });
    const poll = createCallbackPoll(createApplier(database.pool), { restMs: 60_000 });
    const others = rests ? ['4915100000002'] : [];
    await insertProviderCallbacks(
      database.pool,
      others.map((from) => stopOf(place, from)),
    );
    await poll();
    await insertProviderCallbacks(database.pool, [Buffer.from(JSON.stringify(callback))]);
    await poll();
    const noted = sql.fragment`SELECT phone_number FROM waiting_opt_out JOIN contact ON contact.id = contact_id
    WHERE waiting_opt_out.workspace_id = ${place.workspaceId} ORDER BY phone_number`;
    expect(await rowsOf(database.pool, noted)).toEqual(
      ['4915100000001', ...others].map((number) => ({ phone_number: number })),
    );
    await release();
    const again = createCallbackPoll(createApplier(database.pool));
    while ((await again()) > 0);
    expect(await rowsOf(database.pool, noted)).toEqual([]);
    const subscribed = sql.fragment`SELECT phone_number FROM contact WHERE workspace_id = ${place.workspaceId} AND subscribed`;
    expect(await rowsOf(database.pool, subscribed)).toEqual(rests ? [] : [{ phone_number: '4915100000002' }]);
  },
);

describe('a row that another transaction keeps locked', () => {
  const delivered = ({ campaignId, channelId }: SeededCampaign) =>
    rowsOf<{ id: string }>(
      database.pool,
      sql.fragment`SELECT id FROM recipient WHERE campaign_id = ${campaignId} AND sendable ORDER BY position`,
    ).then((rows) =>
      rows.map(({ id }) =>
        Buffer.from(
          JSON.stringify(
            messagesCallback(channelId, {
              statuses: [status({ status: 'delivered', providerMessageId: `wamid.${id}`, callbackData: id })],
            }),
          ),
        ),
      ),
    );
  const locks = {
    wallet: (place: SeededCampaign) => `SELECT FROM wallet WHERE channel_id = '${place.channelId}'`,
    counter: (place: SeededCampaign) =>
      `SELECT FROM campaign_counter WHERE campaign_id = '${place.campaignId}'`,
    recipient: (place: SeededCampaign) => `SELECT FROM recipient WHERE campaign_id = '${place.campaignId}'`,
  };

  it.each(Object.entries(locks))(
    'does not delay the opt-out of another tenant (%s)',
    async (_, statement) => {
      const [busy, other] = [await seed(300), await seed()];
      await database.pool.query(sql.type(nothing)`
        UPDATE recipient SET state = 'ACCEPTED', provider_message_id = 'wamid.' || id, settlement = 'charged', price = 0
        WHERE campaign_id = ${busy.campaignId}`);
      await database.pool.query(sql.type(nothing)`
        UPDATE campaign_counter SET pending = 0, accepted = 300 WHERE campaign_id = ${busy.campaignId}`);
      const statuses = await delivered(busy);
      const holder = new pg.Client({ connectionString: database.ownerUrl });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query(`${statement(busy)} FOR UPDATE`);
      const { pool, waitedMs } = watchPatience();
      const applyNext = createCallbackPoll(createApplier(pool));
      try {
        await insertProviderCallbacks(database.pool, [...statuses, stopOf(other, '4915112345678')]);
        await applyNext();
        // However many callbacks meet the lock, which lasts until the test ends.
        expect(waitedMs()).toBeLessThanOrEqual(1_000);
        expect(await savedOf(other)).toHaveLength(1);
        await insertProviderCallbacks(database.pool, [...statuses, stopOf(other, '4915187654321')]);
        await applyNext();
        expect(await savedOf(other)).toHaveLength(2);
      } finally {
        await holder.query('ROLLBACK');
        await holder.end();
      }
      const again = createCallbackPoll(createApplier(database.pool));
      while ((await again()) > 0);
      expect(await waiting()).toBe(0);
      const states = sql.fragment`SELECT DISTINCT state FROM recipient WHERE campaign_id = ${busy.campaignId}`;
      expect(await rowsOf(database.pool, states)).toEqual([{ state: 'DELIVERED' }]);
    },
  );
});

it('applies an opt-out before the statuses that arrived earlier', async () => {
  const [busy, other] = [await seed(), await seed()];
  const unknown = Array.from({ length: 1_000 }, (_, index) =>
    Buffer.from(
      JSON.stringify(
        messagesCallback(busy.channelId, {
          statuses: [status({ status: 'sent', providerMessageId: `wamid.backlog-${index}` })],
        }),
      ),
    ),
  );
  await insertProviderCallbacks(database.pool, unknown);
  await insertProviderCallbacks(database.pool, [stopOf(other, '4915112345678')]);
  const applyNext = createCallbackPoll(createApplier(database.pool));
  expect(await applyNext()).toBe(400);
  expect(await savedOf(other)).toHaveLength(1);
  // Many messages leave room for statuses.
  await insertProviderCallbacks(
    database.pool,
    Array.from({ length: 500 }, (_, index) => stopOf(other, String(4_915_200_000_000 + index))),
  );
  await applyNext();
  expect((await savedOf(other)).length).toBe(301);
  while ((await applyNext()) > 0);
  expect(await waiting()).toBe(0);
});

describe('startPollingLoop', () => {
  it('continues after failures, and logs a series of them once', async () => {
    const lines: string[] = [];
    const write = (_: object, text: string) => lines.push(text);
    const logger = { info: write, warn: write, error: write } as unknown as Parameters<
      typeof startPollingLoop
    >[0]['logger'];
    let rounds = 0;
    const loop = startPollingLoop({
      name: 'test',
      logger,
      idleMs: 1,
      work: async () => {
        rounds += 1;
        if (rounds <= 2) throw new Error('away');
        return false;
      },
    });
    await expect.poll(() => rounds).toBeGreaterThan(3);
    await loop.stop();
    const stoppedAt = rounds;
    expect(lines).toEqual(['loop failed, trying again', 'loop works again']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(rounds).toBe(stoppedAt);
  });
});
