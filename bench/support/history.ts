/**
 * A long history: sent campaigns, contacts, events, deliveries, callbacks and ledger entries of 50 workspaces, written by
 * Postgres itself: three times as fast as rows that a client copies in.
 */
import pg from 'pg';

const workspaces = 50;

type Statement = readonly [string, ...unknown[]];

/**
 * `rows` recipients, a fifth as many contacts, half as many of the rest; a campaign for every thirty recipients. As a
 * superuser, because what the rows refer to is not looked up.
 */
export async function seedHistory(ownerUrl: string, rows: number): Promise<void> {
  const { first, sideBySide } = statementsOf(rows);
  await run(ownerUrl, first);
  await Promise.all(sideBySide.map((statements) => run(ownerUrl, statements)));
}

async function run(ownerUrl: string, statements: readonly Statement[]): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  await client.query(
    `SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '512MB'`,
  );
  for (const [text, ...values] of statements) await client.query(text, values);
  await client.end();
}

function statementsOf(rows: number) {
  const half = Math.ceil(rows / 2);
  const days = `interval '30 days' * (n::float8 / $1)`;
  const first: readonly Statement[] = [
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
    // Workspace after workspace, as imports come.
    [
      `INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
       SELECT workspace.id, '49' || (15000000000 + n), '49', 'DE', 'csv_import'
       FROM workspace CROSS JOIN generate_series(1, $1::int / 5 / ${workspaces}) AS n
       ORDER BY workspace.id ON CONFLICT DO NOTHING`,
      rows,
    ],
    [
      `INSERT INTO campaign (workspace_id, channel_id, template_id, name, contact_selection_type, audience, send_type, status,
         preparation_status, total_contacts, created_by, created_at)
       SELECT channel.workspace_id, channel.id, template.id, 'history', 'all_contacts', '{}', 'IMMEDIATE', 'COMPLETED', 'READY',
         30, 'bench', now() - ${days}
       FROM generate_series(1, $1::int / 30) AS n
       JOIN workspace ON workspace.id = 1001 + n % ${workspaces}
       JOIN channel ON channel.workspace_id = workspace.id JOIN template ON template.workspace_id = workspace.id`,
      rows,
    ],
    [
      `INSERT INTO campaign_counter (campaign_id, claimed_position, delivered)
      SELECT id, 30, 30 FROM campaign ON CONFLICT DO NOTHING`,
    ],
    ['VACUUM ANALYZE'],
  ];
  const recipients: readonly Statement[] = [
    [
      `INSERT INTO recipient (campaign_id, position, phone_number, country, sendable, state, settlement, price, provider_message_id)
      SELECT campaign.id, n, '49' || (15000000000 + n), 'DE', true, 'DELIVERED', 'charged', 55000, 'wamid.' || campaign.id || n
      FROM campaign CROSS JOIN generate_series(1, 30) AS n
      WHERE name = 'history' AND NOT EXISTS (SELECT FROM recipient WHERE campaign_id = campaign.id AND position = 1)`,
    ],
    [
      `INSERT INTO provider_message (hash, recipient_id, day)
      SELECT hashtextextended(provider_message_id, 0), id, current_date - 1 - (hashtext(campaign_id::text) & 31) % 30
      FROM recipient WHERE provider_message_id IS NOT NULL ORDER BY 3, 1`,
    ],
    ['VACUUM ANALYZE recipient, provider_message'],
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
      `INSERT INTO provider_callback (body, received_at, applied_at)
       SELECT convert_to(repeat('x', 400), 'UTF8'), now() - ${days}, now() FROM generate_series($1::int, 1, -1) AS n`,
      half,
    ],
    ['VACUUM ANALYZE ledger_entry, provider_callback'],
  ];
  const events: readonly Statement[] = [
    [
      `INSERT INTO event (id, workspace_id, key, body, occurred_at, fanned_out_at)
       SELECT uuidv7(-(${days})), 1001 + n % ${workspaces}, 'sent', repeat('x', 300), now() - ${days}, now()
       FROM generate_series($1::int, 1, -1) AS n`,
      half,
    ],
    [
      `INSERT INTO webhook_delivery (id, workspace_id, webhook_id, event_id, event_key, state, dispatched_at, created_at)
       SELECT event.id, event.workspace_id, webhook.id, event.id, 'sent', 'delivered', occurred_at, occurred_at
       FROM event JOIN webhook_configuration AS webhook USING (workspace_id)
       WHERE NOT EXISTS (SELECT FROM webhook_delivery WHERE webhook_delivery.id = event.id) ORDER BY event.id`,
    ],
    ['VACUUM ANALYZE event, webhook_delivery'],
  ];
  return { first, sideBySide: [recipients, [...events, ...ledger]] };
}
