/** A workspace with one channel, one template and a prepared campaign, as rows; every call makes new ones. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { type BookDifference, listBookDifferences } from '../../src/records/operations/books.ts';
import type { Database } from '../../src/records/database/database.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createSecretBox } from '../../src/secrets.ts';
import * as t from 'io-ts';
import { row } from '../../src/records/database/row.ts';

export const testSecretsKey = 'a secret key of the tests';
export const testSecrets = createSecretBox([testSecretsKey]);

export interface CampaignSeed {
  readonly recipients: number;
  /** Micro-units; a message costs 1000. */
  readonly balance?: bigint;
  readonly messagesPerSecond?: number;
  readonly status?: 'DRAFT' | 'RUNNING';
  readonly broadcastsPerMonth?: number | null;
  /** The account's messaging limit: different people in 24 hours. */
  readonly messagingLimit?: number;
}

export interface SeededCampaign {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly templateId: string;
  readonly campaignId: string;
}

export const messagePrice = 1_000n;

/** Rate settings that never delay a claim. */
export const anyTokens = {
  stepId: '00000000-0000-7000-8000-000000000000',
  aheadMs: 60_000,
  notBefore: 0,
  perSecond: 1_000_000,
  answerWithinMs: 30_000,
};

export async function seedCampaign(database: Database, seed: CampaignSeed): Promise<SeededCampaign> {
  const workspaceId = await database.oneFirst(sql.type(row(t.type({ id: t.number })))`
    INSERT INTO workspace (name) VALUES ('Test') RETURNING id`);
  const [channelId, templateId, campaignId] = [randomUUID(), randomUUID(), randomUUID()];
  const account = randomUUID();
  const status = seed.status ?? 'RUNNING';
  const plan = {
    components: [{ type: 'body', parameters: [{ type: 'text', text: '' }] }],
    holes: [{ path: [0, 'parameters', 0, 'text'], slot: 0 }],
  };
  const balance = seed.balance ?? 1_000_000_000n;
  await database.transaction(async (transaction) => {
    const run = (statement: ReturnType<typeof sql.fragment>) =>
      transaction.query(sql.type(nothing)`${statement}`);
    await run(sql.fragment`INSERT INTO workspace_feature (workspace_id, broadcasts_per_month)
      VALUES (${workspaceId}, ${seed.broadcastsPerMonth ?? null})`);
    await run(
      sql.fragment`INSERT INTO business_account (id, workspace_id, messaging_limit)
        VALUES (${account}, ${workspaceId}, ${seed.messagingLimit ?? null})`,
    );
    await run(sql.fragment`INSERT INTO channel (id, workspace_id, business_account_id, phone_number_id,
        display_phone_number, access_token_encrypted, messages_per_second)
      VALUES (${channelId}, ${workspaceId}, ${account}, ${channelId}, '15550100000',
        ${sql.binary(testSecrets.encrypt('token', `channel ${channelId}`))}, ${seed.messagesPerSecond ?? 100_000})`);
    await run(sql.fragment`INSERT INTO channel_rate (channel_id) VALUES (${channelId})`);
    await run(sql.fragment`INSERT INTO wallet (channel_id, workspace_id, balance)
      VALUES (${channelId}, ${workspaceId}, ${balance})`);
    if (balance > 0n) {
      await run(sql.fragment`INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
        VALUES (${channelId}, ${workspaceId}, 'recharge', ${balance})`);
    }
    await run(sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
      VALUES (${workspaceId}, 'UTILITY', '', ${messagePrice}), (${workspaceId}, 'UTILITY', 'DE', ${messagePrice})`);
    await run(sql.fragment`INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name,
        language, category, status, components)
      VALUES (${templateId}, ${workspaceId}, ${account}, ${templateId}, 'hello', 'en_US', 'UTILITY', 'APPROVED',
        '[{"type":"BODY","text":"Hi {{1}}"}]')`);
    // Without it, a campaign that begins would wait for its first statuses.
    await run(
      sql.fragment`INSERT INTO template_delivery (template_id, delivered_at) VALUES (${templateId}, now())`,
    );
    await run(sql.fragment`INSERT INTO campaign (id, workspace_id, channel_id, template_id, name,
        contact_selection_type, audience, message_plan, send_type, status, preparation_status, total_contacts,
        created_by, started_at)
      VALUES (${campaignId}, ${workspaceId}, ${channelId}, ${templateId}, 'Test', 'quick_contacts', '{}',
        ${JSON.stringify(plan)}::jsonb, 'IMMEDIATE', ${status}, 'READY', ${seed.recipients}, 'key',
        CASE WHEN ${status} = 'RUNNING' THEN now() END)`);
    await run(sql.fragment`INSERT INTO campaign_counter (campaign_id, pending)
      VALUES (${campaignId}, ${seed.recipients})`);
    await run(sql.fragment`INSERT INTO recipient (campaign_id, position, phone_number, country, sendable, state, variables)
      SELECT ${campaignId}, n, (4915100000000 + n)::text, 'DE', true, 'PENDING', ARRAY['Ada ' || n]
      FROM generate_series(1, ${seed.recipients}) AS n`);
  });
  return { workspaceId, channelId, templateId, campaignId };
}

const WalletSums = row(t.type({ balance: t.bigint, reserved: t.bigint }));

/**
 * What should agree in a channel and one of its campaigns, by `sql/checks/books.sql`: `ledger` with `balance`, `owed` (reserved for
 * recipients and single messages) with `reserved`; `counters_fit` and `totals_fit` say whether counters and totals equal the recipients.
 */
export async function checkBooks(database: Database, { channelId, campaignId }: SeededCampaign) {
  const differences = await listBookDifferences(database);
  const { balance, reserved } = await database.one(sql.type(WalletSums)`
    SELECT balance, reserved FROM wallet WHERE channel_id = ${channelId}`);
  const find = (kind: BookDifference['kind'], id: string) =>
    differences.find((difference) => difference.kind === kind && difference.id === id)?.found;
  return {
    balance,
    reserved,
    ledger: BigInt(find('ledger-differs-from-balance', channelId) ?? balance),
    owed: BigInt(find('reserved-differs-from-messages', channelId) ?? reserved),
    counters_fit: find('counters-differ-from-rows', campaignId) === undefined,
    totals_fit: find('totals-differ-from-rows', campaignId) === undefined,
  };
}
