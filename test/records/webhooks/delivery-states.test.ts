/** The log of deliveries by state, over a million of them: a page reads what it shows and little more, however rare the state. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { row, nothing } from '../../../src/records/database/row.ts';
import { listDeliveries, type DeliveryFilter } from '../../../src/records/webhooks/deliveries.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeConfiguration, makeWorkspace } from '../../support/webhook-fixtures.ts';

let database: TestDatabase;
let workspaceId: number;
/** Configuration with 900,000 deliveries, nearly all delivered; the other has 100,000, nearly all failed. */
let healthy: string;
let failing: string;
const limit = 100;

beforeAll(async () => {
  database = await createTestDatabase();
  workspaceId = await makeWorkspace(database);
  healthy = (await makeConfiguration(database.pool, workspaceId)).id;
  failing = (await makeConfiguration(database.pool, workspaceId)).id;
  const load = (webhookId: string, count: number, common: string) =>
    database.owner.query(sql.type(nothing)`
      INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, cause, state, dispatched_at, error_code)
      SELECT ${workspaceId}, ${webhookId}, ${webhookId}, 'sent', 'resend', state,
        CASE WHEN n <> 10 THEN now() END, CASE WHEN state = 'failed' THEN 'timeout' END
      FROM generate_series(1, ${count}) AS n
      -- The oldest deliveries: a scan from the newest finds them last.
      CROSS JOIN LATERAL (SELECT CASE WHEN n <= 5 THEN 'failed' WHEN n <= 9 THEN 'delivered' WHEN n <= 12 THEN 'pending'
        WHEN n <= 14 THEN 'sending' ELSE ${common} END AS state) AS given`);
  await load(healthy, 900_000, 'delivered');
  await load(failing, 100_000, 'failed');
  await database.owner.query(sql.type(nothing)`ANALYZE webhook_delivery`);
}, 180_000);
afterAll(() => database.drop());

const Read = row(t.type({ rows: t.number }));

async function read(filter: Partial<DeliveryFilter>) {
  return database.pool.transaction(async (transaction) => {
    const rowsRead = () =>
      transaction.oneFirst(sql.type(Read)`
        SELECT (seq_tup_read + idx_tup_fetch)::int4 AS rows FROM pg_stat_xact_user_tables
        WHERE relname = 'webhook_delivery'`);
    const before = await rowsRead();
    const { items } = await listDeliveries(transaction, workspaceId, {
      states: [],
      beforeId: undefined,
      limit,
      ...filter,
    });
    return { found: items.length, rows: (await rowsRead()) - before };
  });
}

/** Rows read per configuration, with the one beyond the limit. */
const most = 4 * (limit + 1);

describe.each(['one configuration', 'all'])('of %s', (which) => {
  const of = (webhookId: string) => (which === 'all' ? {} : { webhookId });

  it.each([
    [['failed'], 5],
    [['pending'], 3],
    [['sending'], 2],
    [['pending', 'sending', 'failed'], 10],
    [[], limit],
  ] as const)('lists %j of those that were delivered', async (states, count) => {
    const { found, rows } = await read({ ...of(healthy), states });
    expect(found).toBeGreaterThanOrEqual(count);
    expect(rows).toBeLessThanOrEqual(most);
  });

  it.each([['delivered'], ['pending'], ['sending']] as const)(
    'lists %s of those that failed',
    async (state) => {
      expect((await read({ ...of(failing), states: [state] })).rows).toBeLessThanOrEqual(most);
    },
  );

  it('lists none of a day before all deliveries', async () => {
    const to = new Date(Date.now() - 24 * 3_600_000);
    for (const states of [[], ['delivered']] as const) {
      const { found, rows } = await read({ ...of(healthy), states, to });
      expect(found).toBe(0);
      expect(rows).toBeLessThan(10);
    }
  });
});
