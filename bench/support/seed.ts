/** A prepared, running campaign of any size, written by one statement: what sending begins with. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { SecretBox } from '../../src/secrets.ts';

export interface Seeded {
  readonly campaignId: string;
  readonly channelId: string;
}

export async function seedRunningCampaign(
  client: pg.Client,
  secrets: SecretBox,
  { recipients, messagesPerSecond }: { readonly recipients: number; readonly messagesPerSecond: number },
): Promise<Seeded> {
  const [channelId, templateId, campaignId, account] = [
    randomUUID(),
    randomUUID(),
    randomUUID(),
    randomUUID(),
  ];
  const { rows } = await client.query<{ id: number }>(
    `INSERT INTO workspace (name) VALUES ('bench') RETURNING id`,
  );
  const workspaceId = rows[0]?.id;
  const run = (text: string, values: unknown[]) => client.query(text, values);
  await run('INSERT INTO workspace_feature (workspace_id) VALUES ($1)', [workspaceId]);
  await run('INSERT INTO business_account (id, workspace_id) VALUES ($1, $2)', [account, workspaceId]);
  await run(
    `INSERT INTO channel (id, workspace_id, business_account_id, phone_number_id, display_phone_number,
      access_token_encrypted, messages_per_second) VALUES ($1, $2, $3, $4, '15550100000', $5, $6)`,
    [
      channelId,
      workspaceId,
      account,
      channelId,
      secrets.encrypt('token', `channel ${channelId}`),
      messagesPerSecond,
    ],
  );
  await run('INSERT INTO channel_rate (channel_id) VALUES ($1)', [channelId]);
  await run('INSERT INTO wallet (channel_id, workspace_id, balance) VALUES ($1, $2, $3)', [
    channelId,
    workspaceId,
    1_000_000_000_000,
  ]);
  await run(
    `INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount) VALUES ($1, $2, 'recharge', $3)`,
    [channelId, workspaceId, 1_000_000_000_000],
  );
  await run(
    `INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category,
      status, components) VALUES ($1, $2, $3, $4, 'hello', 'en_US', 'UTILITY', 'APPROVED', '[]')`,
    [templateId, workspaceId, account, templateId],
  );
  const plan = {
    components: [{ type: 'body', parameters: [{ type: 'text', text: '' }] }],
    holes: [{ path: [0, 'parameters', 0, 'text'], slot: 0 }],
  };
  await run(
    `INSERT INTO campaign (id, workspace_id, channel_id, template_id, name, contact_selection_type, audience,
      message_plan, send_type, status, preparation_status, total_contacts, created_by, started_at)
    VALUES ($1, $2, $3, $4, 'bench', 'all_contacts', '{}', $5, 'IMMEDIATE', 'RUNNING', 'READY', $6, 'bench', now())`,
    [campaignId, workspaceId, channelId, templateId, JSON.stringify(plan), recipients],
  );
  await run('INSERT INTO campaign_counter (campaign_id, pending) VALUES ($1, $2)', [campaignId, recipients]);
  await run(
    `INSERT INTO recipient (campaign_id, position, phone_number, country, sendable, state, variables)
    SELECT $1, n, (4915100000000 + n)::text, 'DE', true, 'PENDING', ARRAY['Ada ' || n] FROM generate_series(1, $2::int) AS n`,
    [campaignId, recipients],
  );
  // Skipped without recipients: a new table has no statistics, while ANALYZE would record that it is empty.
  if (recipients > 0) await run('ANALYZE recipient', []);
  return { campaignId, channelId };
}

/** Adds campaigns on the first campaign's channel. Their ids sort before it. */
export async function seedBeside(
  client: pg.Client,
  { campaignId }: Seeded,
  { campaigns, recipients }: { readonly campaigns: number; readonly recipients: number },
): Promise<readonly string[]> {
  const ids = Array.from({ length: campaigns }, () => randomUUID());
  await client.query(
    `INSERT INTO campaign (id, workspace_id, channel_id, template_id, name, contact_selection_type, audience,
      message_plan, send_type, status, preparation_status, total_contacts, created_by, started_at)
    SELECT unnest($2::uuid[]), workspace_id, channel_id, template_id, name, contact_selection_type, audience,
      message_plan, send_type, status, preparation_status, total_contacts, created_by, now() FROM campaign WHERE id = $1`,
    [campaignId, ids],
  );
  await client.query(
    `INSERT INTO campaign_counter (campaign_id, pending) SELECT unnest($1::uuid[]), $2::int`,
    [ids, recipients],
  );
  await client.query(
    `INSERT INTO recipient (campaign_id, position, phone_number, country, sendable, state, variables)
    SELECT id, n, (4915100000000 + n)::text, 'DE', true, 'PENDING', ARRAY['Ada']
    FROM unnest($1::uuid[]) AS id, generate_series(1, $2::int) AS n`,
    [ids, recipients],
  );
  await client.query('ANALYZE');
  return [campaignId, ...ids];
}
