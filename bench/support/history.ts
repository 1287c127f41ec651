/**
 * A long history: sent campaigns, contacts, events, deliveries, callbacks and ledger entries of 50 workspaces, written by
 * Postgres itself: three times as fast as rows that a client copies in.
 */
import pg from 'pg';

const workspaces = 50;

const grown = [
  'campaign, campaign_counter, recipient, provider_message',
  'contact, event, webhook_delivery',
  'ledger_entry, provider_callback',
];

/** Creates a partition for each day of the last month; otherwise all old rows would lie in the default partition. */
const lastMonthsPartitions = `DO $$
  DECLARE
    of text;
    day date;
  BEGIN
    FOREACH of IN ARRAY ARRAY['event', 'webhook_delivery', 'provider_callback'] LOOP
      FOR day IN SELECT (now() AT TIME ZONE 'UTC')::date - n FROM generate_series(1, 31) AS n LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (%s) WITH (%s)', of || to_char(day, '_YYYYMMDD'), of,
          partition_bound(of, day), partition_bound(of, day + 1),
          (SELECT array_to_string(reloptions, ', ') FROM pg_class WHERE oid = (of || '_default')::regclass));
      END LOOP;
    END LOOP;
  END $$`;

const untilNobodyAnalyses = `DO $$
  BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' AND datname = current_database()) LOOP
      PERFORM pg_sleep(0.1);
      PERFORM pg_stat_clear_snapshot();
    END LOOP;
  END $$`;

type Statement = readonly [string, ...unknown[]];

/**
 * Writes `rows` recipients, a fifth as many contacts, and half as many rows of the other tables; a campaign has thirty
 * recipients. `ownerUrl` must be a superuser's, because triggers and foreign keys are switched off.
 */
export async function seedHistory(ownerUrl: string, rows: number): Promise<void> {
  const { first, sideBySide } = statementsOf(rows);
  await run(ownerUrl, first);
  await Promise.all(sideBySide.map((statements) => run(ownerUrl, statements)));
  // Waits for running ANALYZE to end, then vacuums: pages not marked all-visible make index-only scans read the table.
  await run(ownerUrl, [[untilNobodyAnalyses]]);
  await Promise.all(grown.map((tables) => run(ownerUrl, [[`VACUUM ANALYZE ${tables}`]])));
}

async function run(ownerUrl: string, statements: readonly Statement[]): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  // Leaves synchronous_commit on: vacuum skips rows whose commit has not reached the disk.
  await client.query(`SET session_replication_role = replica; SET work_mem = '512MB'`);
  for (const [text, ...values] of statements) await client.query(text, values);
  await client.end();
}

function statementsOf(rows: number) {
  const half = Math.ceil(rows / 2);
  const days = `interval '30 days' * (n::float8 / $1)`;
  const first: readonly Statement[] = [
    [lastMonthsPartitions],
    [
      `INSERT INTO workspace (name) SELECT 'history' FROM generate_series(1, $1::int - (SELECT count(*) FROM workspace)::int)`,
      workspaces,
    ],
    [
      `INSERT INTO business_account (id, workspace_id) SELECT id::text, id FROM workspace ON CONFLICT DO NOTHING`,
    ],
    [
      `INSERT INTO channel (workspace_id, business_account_id, phone_number_id, display_phone_number, access_token_encrypted)
      SELECT id, id::text, id::text, '15550100000', '' FROM workspace ON CONFLICT DO NOTHING`,
    ],
    [`INSERT INTO channel_rate (channel_id) SELECT id FROM channel ON CONFLICT DO NOTHING`],
    [
      `INSERT INTO wallet (channel_id, workspace_id, balance) SELECT id, workspace_id, 1000000000000 FROM channel
      ON CONFLICT DO NOTHING`,
    ],
    [
      `INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status, components)
      SELECT id, id::text, id::text, 'hello', 'en', 'MARKETING', 'APPROVED', '[]' FROM workspace ON CONFLICT DO NOTHING`,
    ],
    [
      `INSERT INTO webhook_configuration (workspace_id, title, url, status, events, proven_at)
      SELECT id, 'history', 'https://receiver.example/', 'active', '{sent}', now() FROM workspace
      WHERE NOT EXISTS (SELECT FROM webhook_configuration WHERE workspace_id = workspace.id)`,
    ],
    // Ordered by workspace, as imports write them.
    [
      `INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
       SELECT workspace.id, '49' || (15000000000 + n), '49', 'DE', 'csv_import'
       FROM workspace CROSS JOIN generate_series(1, $1::int / 5 / ${workspaces}) AS n
       ORDER BY workspace.id ON CONFLICT DO NOTHING`,
      rows,
    ],
    ['VACUUM ANALYZE'],
  ];
  const recipients: readonly Statement[] = [
    [
      // One statement that does not read its own rows from tables: these have no statistics, so a join would take hours.
      `WITH made AS (
         INSERT INTO campaign (workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type, status,
           preparation_status, total_contacts, created_by, created_at)
         SELECT channel.workspace_id, channel.id, template.id, 'history', 'all_contacts', '{}', 'IMMEDIATE', 'COMPLETED', 'READY',
           30, 'bench', now() - 30 * ${days}
         FROM generate_series(1, $1::int / 30) AS n
         JOIN channel ON channel.workspace_id = 1001 + n % ${workspaces} JOIN template USING (workspace_id)
         RETURNING id, created_at
       ), counted AS (
         INSERT INTO campaign_counter (campaign_id, claimed_position, delivered) SELECT id, 30, 30 FROM made
       ), person AS (
         INSERT INTO recipient
           (campaign_id, position, phone_number, country, sendable, state, settlement, price, provider_message_id)
         SELECT id, n, '49' || (15000000000 + n), 'DE', true, 'DELIVERED', 'charged', 55000, 'wamid.' || to_char(created_at, 'YYYYMMDD') || id || n
         FROM (SELECT id, created_at, generate_series(1, 30) AS n FROM made) AS people
         RETURNING id, provider_message_id
       )
       INSERT INTO provider_message (hash, recipient_id, day)
       -- Recipients that were written together have the same day.
       SELECT hashtextextended(provider_message_id, 0), id, to_date(substring(provider_message_id FROM 7 FOR 8), 'YYYYMMDD')
       FROM person ORDER BY 3, 1`,
      rows,
    ],
  ];
  const ledger: readonly Statement[] = [
    [
      `INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
       SELECT channel.id, workspace_id, 'charge', -55000 FROM generate_series(1, $1::int / ${workspaces}) AS n CROSS JOIN channel`,
      half,
    ],
    [
      `INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
       SELECT channel_id, wallet.workspace_id, 'adjustment', balance - sum(amount)
       FROM wallet JOIN ledger_entry USING (channel_id) GROUP BY 1, 2, balance HAVING balance <> sum(amount)`,
    ],
    [
      `INSERT INTO provider_callback (body, received_at)
       SELECT convert_to(repeat('x', 400), 'UTF8'), now() - ${days} FROM generate_series($1::int, 1, -1) AS n`,
      half,
    ],
  ];
  const events: readonly Statement[] = [
    [
      `WITH made AS (
         INSERT INTO event (id, workspace_id, key, body, occurred_at, fanned_out_at)
         SELECT uuidv7(-(${days})), 1001 + n % ${workspaces}, 'sent', repeat('x', 300), now() - ${days}, now()
         FROM generate_series($1::int, 1, -1) AS n
         RETURNING id, workspace_id, occurred_at
       )
       INSERT INTO webhook_delivery (id, workspace_id, webhook_id, event_id, event_key, state, dispatched_at, created_at)
       SELECT made.id, made.workspace_id, webhook.id, made.id, 'sent', 'delivered', occurred_at, occurred_at
       FROM made JOIN webhook_configuration AS webhook USING (workspace_id)`,
      half,
    ],
  ];
  return { first, sideBySide: [recipients, events, ledger] };
}

/** Prints the ten largest tables; each daily partition counts as a table. */
export async function printSizes(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query<{ line: string }>(`
    SELECT format('%s: %s rows, %s, indexes %s', relname, reltuples::bigint, pg_size_pretty(pg_relation_size(oid)),
      pg_size_pretty(pg_indexes_size(oid))) AS line
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY pg_total_relation_size(oid) DESC LIMIT 10`);
  process.stdout.write(`${tables.map(({ line }) => line).join('\n')}\n`);
}
