import { sql } from 'slonik';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRecipientExport, type RecipientExport } from '../../src/records/campaigns/recipient-export.ts';
import { nothing } from '../../src/records/database/row.ts';
import { aCampaignToPrepare, aSender } from '../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPgbouncer, type Pgbouncer } from '../support/pgbouncer.ts';

const workspaces = 8;
const recipientsEach = 200;
const rounds = 5;

let database: TestDatabase;
let pgbouncer: Pgbouncer;
let processes: readonly RecipientExport[];

beforeAll(async () => {
  database = await createTestDatabase();
  pgbouncer = await startPgbouncer(database.url, { serverConnections: 2 });
  processes = [createRecipientExport(pgbouncer.url), createRecipientExport(pgbouncer.url)];
});
afterAll(async () => {
  for (const one of processes ?? []) await one.end();
  await pgbouncer?.stop();
  await database.drop();
});

interface Campaign {
  readonly id: string;
  readonly workspaceId: number;
  /** Prefix of its recipients' numbers. */
  readonly prefix: string;
}

async function aCampaign(prefix: string): Promise<Campaign> {
  const sender = await aSender(database.pool);
  const id = await aCampaignToPrepare(database.pool, sender, {});
  await database.pool.query(sql.type(nothing)`
    INSERT INTO recipient (campaign_id, position, phone_number, sendable, state)
    SELECT ${id}, n, ${prefix} || lpad(n::text, 6, '0'), true, 'PENDING' FROM generate_series(1, ${recipientsEach}) AS n`);
  return { id, prefix, workspaceId: sender.workspaceId };
}

async function phonesIn(
  recipientExport: RecipientExport,
  { id, workspaceId }: Campaign,
): Promise<readonly string[]> {
  let text = '';
  const filter = { campaignId: id, states: [], reasons: [], afterPosition: 0 };
  for await (const chunk of recipientExport.read(workspaceId, filter)) text += chunk.toString();
  const lines = text.trimEnd().split('\n').slice(1);
  return lines.map((line) => line.split(',')[1] ?? '');
}

test('concurrent exports of several workspaces contain only their own recipients', async () => {
  const prefixes = Array.from({ length: workspaces }, (_, index) => `4915${index}`);
  const campaigns = await Promise.all(prefixes.map(aCampaign));
  const all = Array.from({ length: rounds }, (_, round) =>
    campaigns.map((campaign, at) => ({ campaign, process: processes[(round + at) % processes.length]! })),
  ).flat();
  const exported = await Promise.all(
    all.map(async ({ campaign, process }) => {
      const phones = await phonesIn(process, campaign);
      const foreign = phones.filter((phone) => !phone.startsWith(campaign.prefix));
      return { foreign: foreign.length, all: phones.length };
    }),
  );
  expect(exported).toEqual(all.map(() => ({ foreign: 0, all: recipientsEach })));
});
