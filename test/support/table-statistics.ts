/** Sets what Postgres believes about its tables, so that plans can be tested without waiting for ANALYZE or for its samples. */
import type pg from 'pg';

/** States of a table's statistics: none, as of an empty table, as if all rows had one other owner, or analyzed. */
export const knowledges = ['none', 'empty', 'one other owner', 'analyzed'] as const;
export type Knowledge = (typeof knowledges)[number];

/** Owner column of each table, with the value of an owner that the test does not use. */
const owners: Readonly<Record<string, string>> = {
  campaign_id: '00000000-0000-4000-8000-000000000001',
  webhook_id: '00000000-0000-4000-8000-000000000002',
  channel_id: '00000000-0000-4000-8000-000000000003',
  workspace_id: '999999',
  state: 'DELIVERED',
};

/** Sets the statistics of all tables and partitions. Autovacuum must be off for them. */
export async function setStatistics(owner: pg.Client, knowledge: Knowledge): Promise<void> {
  if (knowledge === 'analyzed') {
    await owner.query('ANALYZE');
    return;
  }
  const { rows: tables } = await owner.query<{ readonly name: string; readonly kind: string }>(
    `SELECT relname AS name, relkind AS kind FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
  );
  for (const { name, kind } of tables) await setTable(owner, name, kind === 'p', knowledge);
}

async function setTable(
  owner: pg.Client,
  table: string,
  isPartitioned: boolean,
  knowledge: Knowledge,
): Promise<void> {
  await owner.query(
    `SELECT pg_clear_attribute_stats('public', $1, attname, inherited) FROM pg_attribute, unnest(ARRAY[false, true]) AS inherited
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [table],
  );
  await owner.query(`SELECT pg_clear_relation_stats('public', $1)`, [table]);
  if (knowledge === 'none') return;
  const rows = knowledge === 'empty' ? 0 : 60_000;
  await owner.query(
    `SELECT pg_restore_relation_stats('schemaname', 'public', 'relname', $1::text, 'relpages', $2::int, 'reltuples', $3::real)`,
    [table, Math.ceil(rows / 40), rows],
  );
  if (knowledge === 'empty') return;
  const { rows: columns } = await owner.query<{ readonly name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname = ANY ($2)`,
    [table, Object.keys(owners)],
  );
  for (const { name } of columns)
    await owner.query(
      `SELECT pg_restore_attribute_stats('schemaname', 'public', 'relname', $1::text, 'attname', $2::text, 'inherited', $3::bool,
         'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real,
         'most_common_vals', format('{%s}', $4::text), 'most_common_freqs', '{1}'::real[])`,
      [table, name, isPartitioned, owners[name]],
    );
}
