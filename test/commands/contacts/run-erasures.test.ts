import { randomUUID } from 'node:crypto';
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eraseContact } from '../../../src/commands/contacts/erase-contact.ts';
import { stepErasure } from '../../../src/commands/contacts/run-erasures.ts';
import type { Config } from '../../../src/config.ts';
import { decideConsent } from '../../../src/records/contacts/consents.ts';
import { limitSlice } from '../../../src/records/contacts/erasure-job.ts';
import { claimAttempts, recordDeliveryOutcomes } from '../../../src/records/webhooks/attempts.ts';
import { getWebhookDelivery } from '../../../src/records/webhooks/deliveries.ts';
import { fanOutEvents } from '../../../src/records/webhooks/events.ts';
import { createSecretBox } from '../../../src/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeConfiguration, makeWorkspace, query } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => query(database, 'TRUNCATE erasure, event, provider_callback, waiting_callback'));

const eraser = () => ({
  config: {} as Config,
  database: database.pool,
  logger: pino({ enabled: false }),
  secrets: createSecretBox(['a key of the tests, long enough']),
});

interface Person {
  readonly workspaceId: number;
  readonly contactId: string;
  readonly number: string;
}

let numbers = 0;

async function aPerson(): Promise<Person> {
  const workspaceId = await makeWorkspace(database);
  numbers += 1;
  await query(
    database,
    `WITH account AS (INSERT INTO business_account (id, workspace_id) VALUES ($2, $1))
     INSERT INTO channel (workspace_id, business_account_id, phone_number_id, display_phone_number, access_token_encrypted)
     VALUES ($1, $2, $3, '15550100000', '')`,
    [workspaceId, `account-${workspaceId}`, `phone-${workspaceId}`],
  );
  const number = `4915199${String(numbers).padStart(6, '0')}`;
  const [contact] = await query<{ id: string }>(
    database,
    `INSERT INTO contact (workspace_id, phone_number, source) VALUES ($1, $2, 'api') RETURNING id`,
    [workspaceId, number],
  );
  return { workspaceId, number, contactId: contact?.id ?? '' };
}

/** Writes `count` events that are `days` days old; the last of them names the person. Resolves to its id. */
async function writeEvents({ workspaceId, number }: Person, days: number, count = 1): Promise<string> {
  const [written] = await query<{ id: string }>(
    database,
    `WITH written AS (
       INSERT INTO event (id, workspace_id, key, body, fanned_out_at)
       SELECT uuidv7(make_interval(days => -$2::int)), $1, 'contact.updated',
         json_build_object('data', json_build_object('phone', CASE n WHEN $3 THEN $4::text ELSE 'another' END))::text, now()
       FROM generate_series(1, $3::int) AS n RETURNING id, body)
     SELECT id FROM written WHERE body LIKE '%' || $4 || '%'`,
    [workspaceId, days, count, number],
  );
  return written?.id ?? '';
}

async function writeCallback({ workspaceId, number }: Person, days: number): Promise<string> {
  const [written] = await query<{ id: string }>(
    database,
    `INSERT INTO provider_callback (body, received_at)
     VALUES (convert_to($1, 'UTF8'), now() - make_interval(days => $2::int)) RETURNING id`,
    [`{"phone_number_id":"phone-${workspaceId}","from":"${number}"}`, days],
  );
  return written?.id ?? '';
}

async function countNaming({ number }: Person): Promise<number> {
  const [found] = await query<{ n: number }>(
    database,
    `SELECT (SELECT count(*) FROM event WHERE body LIKE '%' || $1 || '%')::int
       + (SELECT count(*) FROM provider_callback WHERE position(convert_to($1, 'UTF8') IN body) > 0)::int AS n`,
    [number],
  );
  return found?.n ?? -1;
}

const queued = async (): Promise<number> => (await query(database, 'SELECT FROM erasure')).length;

describe('the request to erase a person', () => {
  it('neither reads nor locks events and callbacks', async () => {
    const person = await aPerson();
    const holder = new pg.Client({ connectionString: database.ownerUrl });
    await holder.connect();
    try {
      await holder.query(
        'BEGIN; LOCK TABLE event, webhook_delivery, provider_callback, unmatched_status, idempotency_key',
      );
      await eraseContact(eraser(), person);
    } finally {
      await holder.end();
    }
    const [contact] = await query(database, 'SELECT phone_number FROM contact WHERE id = $1', [
      person.contactId,
    ]);
    expect(contact).toEqual({ phone_number: null });
  });

  it('keeps an opt-out that comes while it begins', async () => {
    const person = await aPerson();
    const { workspaceId, contactId } = person;
    const optOut = {
      contactIds: [contactId],
      decision: { category: 'ALL', allows: false },
      source: 'person',
      at: new Date(),
    } as const;
    const { pool } = database;
    // Between the first read of the contact and the first transaction of the request.
    const interrupted = new Proxy(pool, {
      get: (target, name) =>
        name === 'transaction'
          ? async (...given: Parameters<typeof pool.transaction>) => {
              await decideConsent(pool, workspaceId, optOut);
              return pool.transaction(...given);
            }
          : Reflect.get(target, name),
    });
    await eraseContact({ ...eraser(), database: interrupted }, person);
    const kept = await query(database, 'SELECT FROM opted_out_number WHERE workspace_id = $1', [workspaceId]);
    expect(kept).toHaveLength(1);
  });

  it('hides the data that the job has not cleared yet, and stops its deliveries', async () => {
    const person = await aPerson();
    const { workspaceId } = person;
    const webhookId = randomUUID();
    await makeConfiguration(database.pool, workspaceId, { id: webhookId, events: ['contact.updated'] });
    const eventId = await writeEvents(person, 0);
    await query(database, 'UPDATE event SET fanned_out_at = NULL WHERE id = $1', [eventId]);
    await fanOutEvents(database.pool, 10);
    const [delivery] = await query<{ id: string }>(
      database,
      `UPDATE webhook_delivery SET response_excerpt = 'heard of ' || $2 WHERE event_id = $1 RETURNING id`,
      [eventId, person.number],
    );
    const deliveryId = delivery?.id ?? '';
    const read = async () =>
      JSON.stringify(await getWebhookDelivery(database.pool, workspaceId, { webhookId, deliveryId }));
    expect((await read()).split(person.number)).toHaveLength(3);
    await eraseContact(eraser(), person);
    expect(await countNaming(person)).toBe(1);
    expect(await read()).not.toContain(person.number);
    expect(
      await claimAttempts(database.pool, [deliveryId], { leaseSeconds: 60, expiryHours: 24 }),
    ).toMatchObject([{ refusal: 'erased', body: '' }]);
    while (await stepErasure(eraser(), 0));
    const [after] = await query(database, 'SELECT response_excerpt FROM webhook_delivery WHERE id = $1', [
      deliveryId,
    ]);
    expect(after).toEqual({ response_excerpt: null });
  });
});

describe('the erasure job', () => {
  it('keeps no answer of an endpoint that comes after it', async () => {
    const person = await aPerson();
    const webhookId = randomUUID();
    await makeConfiguration(database.pool, person.workspaceId, {
      id: webhookId,
      events: ['contact.updated'],
    });
    const eventId = await writeEvents(person, 0);
    await query(database, 'UPDATE event SET fanned_out_at = NULL WHERE id = $1', [eventId]);
    await fanOutEvents(database.pool, 10);
    const [delivery] = await query<{ id: string }>(
      database,
      'SELECT id FROM webhook_delivery WHERE event_id = $1',
      [eventId],
    );
    const id = delivery?.id ?? '';
    await claimAttempts(database.pool, [id], { leaseSeconds: 60, expiryHours: 24 });
    await eraseContact(eraser(), person);
    while (await stepErasure(eraser(), 0));
    const responseExcerpt = `heard of ${person.number}`;
    const answer = { errorCode: null, responseStatus: 200, responseExcerpt, durationMs: 1 };
    await recordDeliveryOutcomes(database.pool, [{ id, state: 'delivered', ...answer }]);
    const recorded = 'SELECT state, error_code, response_excerpt FROM webhook_delivery WHERE id = $1';
    expect(await query(database, recorded, [id])).toEqual([
      { state: 'delivered', error_code: null, response_excerpt: null },
    ]);
  });

  it('clears every day, a bounded slice a step, whichever workers die in between', async () => {
    const person = await aPerson();
    for (const days of [40, 2, 1, 0]) {
      await writeEvents(person, days, days === 2 ? 45_000 : 10);
      await writeCallback(person, days);
    }
    await eraseContact(eraser(), person);
    expect(await countNaming(person)).toBe(8);
    // The step of a worker that dies before the commit is rolled back.
    const dying = {
      ...eraser(),
      database: {
        ...database.pool,
        query: () => Promise.reject(new Error('killed')),
        transaction: (work: Parameters<typeof database.pool.transaction>[0]) =>
          database.pool.transaction(async (transaction) => {
            await work(transaction);
            throw new Error('killed');
          }),
      } as unknown as typeof database.pool,
    };
    let steps = 0;
    for (let more = true; more; steps += 1) {
      const left = await countNaming(person);
      await expect(stepErasure(dying, 0)).rejects.toThrow('killed');
      expect(await countNaming(person)).toBe(left);
      more = await stepErasure(eraser(), 0);
      if (more) expect(left - (await countNaming(person))).toBeLessThanOrEqual(2);
    }
    expect(await countNaming(person)).toBe(0);
    expect(await queued()).toBe(0);
    // 41 days, two more slices of the large one, the end, and the step that finds nothing.
    expect(steps).toBe(45);
  });

  it('is shared by several workers', async () => {
    const people = [await aPerson(), await aPerson(), await aPerson()];
    for (const person of people) {
      for (const days of [3, 1, 0]) await writeEvents(person, days, 2_000);
      await eraseContact(eraser(), person);
    }
    const work = async () => {
      while ((await queued()) > 0) await stepErasure(eraser(), 0);
    };
    await Promise.all([work(), work(), work()]);
    expect(await Promise.all(people.map(countNaming))).toEqual([0, 0, 0]);
  });

  it('keeps a callback until it is applied, and later rows of a person who registers the number again', async () => {
    const person = await aPerson();
    const callbackId = await writeCallback(person, 0);
    await query(database, 'INSERT INTO waiting_callback (id, size) VALUES ($1, 1)', [callbackId]);
    await eraseContact(eraser(), person);
    await writeEvents(person, 0);
    while (await stepErasure(eraser(), 0));
    expect([await countNaming(person), await queued()]).toEqual([2, 1]);
    await query(database, 'DELETE FROM waiting_callback WHERE id = $1', [callbackId]);
    await query(database, 'UPDATE erasure SET next_step_at = now()');
    while (await stepErasure(eraser(), 0));
    expect([await countNaming(person), await queued()]).toEqual([1, 0]);
  });

  it('keeps callbacks of other workspaces that contain the same digits', async () => {
    const [person, other] = [await aPerson(), await aPerson()];
    await writeCallback(person, 0);
    const kept = await writeCallback({ ...other, number: person.number }, 0);
    await eraseContact(eraser(), person);
    while (await stepErasure(eraser(), 0));
    expect(await query(database, 'SELECT id FROM provider_callback')).toEqual([{ id: kept }]);
  });

  it('advances others at once while one waits for a callback', async () => {
    const [waiting, person] = [await aPerson(), await aPerson()];
    const callbackId = await writeCallback(waiting, 0);
    await query(database, 'INSERT INTO waiting_callback (id, size) VALUES ($1, 1)', [callbackId]);
    for (const days of [5, 3, 0]) await writeEvents(person, days);
    await eraseContact(eraser(), waiting);
    await eraseContact(eraser(), person);
    // The loop of a worker calls again at once after true.
    while (await stepErasure(eraser(), 0));
    expect([await countNaming(person), await queued()]).toEqual([0, 1]);
  });

  it('covers what was written before the clock was set back', async () => {
    const person = await aPerson();
    await writeEvents(person, -1);
    await writeCallback(person, -1);
    await eraseContact(eraser(), person);
    await query(database, `UPDATE erasure SET next_step_at = now() + interval '1 hour'`);
    while (await stepErasure(eraser(), 0));
    expect([await countNaming(person), await queued()]).toEqual([0, 0]);
  });

  it('advances others while the step of one fails', async () => {
    const people = [await aPerson(), await aPerson()];
    for (const person of people) {
      await writeEvents(person, 1);
      await eraseContact(eraser(), person);
    }
    await query(
      database,
      `CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`,
    );
    await query(
      database,
      `CREATE TRIGGER refuses BEFORE UPDATE ON event FOR EACH ROW
       WHEN (OLD.workspace_id = ${people[0]?.workspaceId}) EXECUTE FUNCTION refuse_event()`,
    );
    while (await stepErasure(eraser(), 0));
    expect(await Promise.all(people.map(countNaming))).toEqual([1, 0]);
    await query(database, 'DROP TRIGGER refuses ON event');
    expect([await stepErasure(eraser(), 0), await queued()]).toEqual([false, 1]);
    await query(database, 'UPDATE erasure SET next_step_at = now()');
    while (await stepErasure(eraser(), 0));
    expect([await Promise.all(people.map(countNaming)), await queued()]).toEqual([[0, 0], 0]);
  });

  it('gives a workspace its turn before another has finished many', async () => {
    const crowd = await aPerson();
    for (let n = 0; n < 200; n += 1) {
      await query(
        database,
        `INSERT INTO erasure (contact_id, workspace_id, names, former_numbers, requested_at)
         VALUES (gen_random_uuid(), $1, ARRAY['nobody'], '{}', now() - interval '1 minute')`,
        [crowd.workspaceId],
      );
    }
    const person = await aPerson();
    await writeEvents(person, 0);
    await eraseContact(eraser(), person);
    const isQueued = async () =>
      (await query(database, 'SELECT FROM erasure WHERE contact_id = $1', [person.contactId])).length > 0;
    let steps = 0;
    for (; await isQueued(); steps += 1) await stepErasure(eraser(), 0);
    // Two steps of its own, each chosen with a probability of one half.
    expect(steps).toBeLessThan(100);
    expect(await queued()).toBeGreaterThan(100);
  });

  it('takes half the rows after each step that took too long', async () => {
    const person = await aPerson();
    await eraseContact(eraser(), person);
    await writeEvents(person, 1);
    const halvings = async () => (await query(database, 'SELECT halvings FROM erasure'))[0]?.['halvings'];
    await query(
      database,
      `CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE query_canceled; END $$`,
    );
    await query(
      database,
      'CREATE TRIGGER takes_long BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION take_long()',
    );
    for (let step = 1; step <= 3; step += 1) {
      expect(await stepErasure(eraser(), 0)).toBe(true);
      expect(await halvings()).toBe(step);
      expect(await stepErasure(eraser(), 0)).toBe(false);
      await query(database, 'UPDATE erasure SET next_step_at = now()');
    }
    await query(database, 'DROP TRIGGER takes_long ON event');
    await stepErasure(eraser(), 0);
    expect(await halvings()).toBe(2);
    while (await stepErasure(eraser(), 0));
    expect([await countNaming(person), await queued()]).toEqual([0, 0]);
  });

  it.each([0, 1, 4])('reads at most its share of a day after %i halvings', async (halvings) => {
    await query(
      database,
      `INSERT INTO event (id, workspace_id, key, body)
       SELECT uuidv7(make_interval(secs => n / 1000.0) - interval '2 days'), 1, 'sent', '{}' FROM generate_series(1, 21000) AS n`,
    );
    const from = new Date(Date.now() - 2 * 24 * 3_600_000 - 60_000);
    const to = new Date(from.getTime() + 600_000);
    const slice = await limitSlice(database.pool, { from, to }, halvings);
    const [read] = await query<{ n: number }>(
      database,
      'SELECT count(*)::int AS n FROM event WHERE uuid_extract_timestamp(id) >= $1 AND uuid_extract_timestamp(id) < $2',
      [slice.from, slice.to],
    );
    expect(read?.n).toBeLessThanOrEqual(20_000 / 2 ** halvings);
    expect(read?.n).toBeGreaterThan(19_000 / 2 ** halvings);
  });

  it('waits until transactions that knew the person have ended', async () => {
    await eraseContact(eraser(), await aPerson());
    expect([await stepErasure(eraser(), 5), await queued()]).toEqual([false, 1]);
  });
});
