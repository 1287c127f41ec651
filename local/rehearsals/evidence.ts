/** Reads both sides: our database, and the simulator's list of accepted messages. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import pg from 'pg';
import { sqlFolder } from '../../src/records/database/migrate.ts';
import type { DevFile } from '../stack/dev-file.ts';
import { probeNumberPrefix } from './chaos/probe.ts';
import type { Books, Evidence } from './verdict.ts';

export async function withClient<T>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  // A killed server emits 'error' on an idle client; queries reject by themselves.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export interface CampaignGauges {
  readonly status: string;
  readonly total: number;
  /** Recipients with a final outcome. */
  readonly settled: number;
}

export function readGauges(
  dev: Pick<DevFile, 'databaseUrl'>,
  campaignId: string,
): Promise<CampaignGauges | undefined> {
  return withClient(dev.databaseUrl, async (client) => {
    const { rows } = await client.query<CampaignGauges>(
      `SELECT status, total_contacts AS total, total_contacts - pending - claimed AS settled
      FROM campaign JOIN campaign_counter ON campaign_id = id WHERE id = $1`,
      [campaignId],
    );
    return rows[0];
  });
}

export interface BadOutcomes {
  readonly unknown: number;
  /** Recipients that FAILED by the answer to the request; those that a receipt failed later are not included. */
  readonly refused: number;
}

export function readBadOutcomes(dev: Pick<DevFile, 'databaseUrl'>, campaignId: string): Promise<BadOutcomes> {
  return withClient(dev.databaseUrl, async (client) => {
    const { rows } = await client.query<BadOutcomes>(
      `SELECT count(*) FILTER (WHERE state = 'UNKNOWN')::int AS unknown, count(*) FILTER (WHERE state = 'FAILED')::int AS refused
      FROM recipient WHERE campaign_id = $1 AND provider_message_id IS NULL`,
      [campaignId],
    );
    return rows[0] ?? { unknown: 0, refused: 0 };
  });
}

export interface ProviderTally {
  /** Messages that the simulator accepted. */
  readonly accepted: number;
  readonly repeatedCallbackData: number;
}

export async function readProviderTally(providerUrl: string): Promise<ProviderTally> {
  const { body } = await request(`${new URL(providerUrl).origin}/_simulator/messages?limit=0`);
  return (await body.json()) as ProviderTally;
}

export interface ProviderRate {
  /** When the provider took its last message, epoch milliseconds, to a tenth of a second. */
  readonly lastAt: number;
  readonly busiestSecond: number;
}

export async function readProviderRate(providerUrl: string): Promise<ProviderRate> {
  const { body } = await request(`${new URL(providerUrl).origin}/_simulator/rate?bucketMs=100`);
  const { buckets, busiestSecond } = (await body.json()) as {
    readonly buckets: readonly { readonly at: number }[];
    readonly busiestSecond: number;
  };
  return { lastAt: buckets.at(-1)?.at ?? 0, busiestSecond };
}

export async function gatherEvidence(
  dev: Pick<DevFile, 'databaseUrl' | 'providerUrl'>,
  { campaignId, expected }: { readonly campaignId: string; readonly expected: number | null },
): Promise<Evidence> {
  const simulator = new URL(dev.providerUrl).origin;
  const csv = await (await request(`${simulator}/_simulator/recipients`)).body.text();
  const seen = await readProviderTally(dev.providerUrl);
  const taken = new Map<string, number>();
  for (const line of csv.split('\n')) {
    const [digits, count] = line.trim().split(',');
    if (digits === undefined || !/^\d+$/.test(digits) || digits.startsWith(probeNumberPrefix)) continue;
    taken.set(digits, Number(count));
  }
  return withClient(dev.databaseUrl, async (client) => {
    const { rows: recipients } = await client.query(
      `SELECT phone_number AS "phoneNumber", state, provider_message_id IS NOT NULL AS accepted FROM recipient WHERE campaign_id = $1 AND sendable`,
      [campaignId],
    );
    return {
      expected,
      recipients,
      taken,
      repeatedMessages: seen.repeatedCallbackData,
      books: await readBooks(client, campaignId),
    };
  });
}

/** Totals in which `sql/checks/books.sql` finds no difference are taken as stored. */
async function readBooks(client: pg.Client, campaignId: string): Promise<Books> {
  const { rows: differences } = await client.query(
    await readFile(join(sqlFolder(), 'checks', 'books.sql'), 'utf8'),
  );
  const { rows } = await client.query(
    `SELECT channel_id AS channel, balance, reserved,
      (SELECT -COALESCE(sum(amount), 0) FROM ledger_entry WHERE campaign_id = $1) AS spent,
      (SELECT COALESCE(sum(price), 0) FROM recipient WHERE campaign_id = $1 AND settlement = 'charged') AS charged
    FROM wallet WHERE channel_id = (SELECT channel_id FROM campaign WHERE id = $1)`,
    [campaignId],
  );
  const [row] = rows;
  const find = (kind: string, id: string) =>
    differences.find((difference) => difference.kind === kind && difference.id === id)?.found;
  return {
    balance: BigInt(row.balance),
    ledger: BigInt(find('ledger-differs-from-balance', row.channel) ?? row.balance),
    reserved: BigInt(row.reserved),
    owed: BigInt(find('reserved-differs-from-messages', row.channel) ?? row.reserved),
    spent: BigInt(row.spent),
    charged: BigInt(row.charged),
    countersFit: find('counters-differ-from-rows', campaignId) === undefined,
  };
}
