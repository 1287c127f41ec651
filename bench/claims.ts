/**
 * Measures how much consent, contact fields and a messaging limit add to a claim. Five campaigns claim in turn: one of numbers
 * without contacts, three of contacts (messages without their fields; with fields that are the same as at the preparation;
 * with fields that all changed, a custom field among them), and one of an account whose messaging limit already counts 100,000
 * recipients of the last day. `--recipients N` of each (40,000), `--page N` recipients per claim (40).
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDatabase } from '../src/records/database/database.ts';
import { claimBatch, type ClaimRequest } from '../src/records/sending/claim-batch.ts';
import { createSecretBox } from '../src/secrets.ts';
import { benchSecretsKey } from './support/bench-config.ts';
import { startPostgres } from './support/postgres.ts';
import { seedRunningCampaign, type Seeded } from './support/seed.ts';

const { values } = parseArgs({
  options: { recipients: { type: 'string', default: '40000' }, page: { type: 'string', default: '40' } },
});
const recipients = Number(values.recipients);
const page = Number(values.page);
const [hourAgo, inAMinute] = [`now() - interval '1 hour'`, `now() + interval '1 minute'`];

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const database = await createDatabase(postgres.url, 2);
const secrets = createSecretBox([benchSecretsKey]);
const seed = () => seedRunningCampaign(client, secrets, { recipients, messagesPerSecond: 100_000 });
/** A campaign of contacts that changed last at the SQL time `changedAt`; its preparation reads them now. */
async function seedContacts(changedAt: string): Promise<Seeded> {
  const seeded = await seed();
  const run = (text: string) => client.query(text, [seeded.campaignId]);
  await run(
    `INSERT INTO contact (workspace_id, phone_number, country_code, country, source, first_name, custom_fields, updated_at)
      SELECT workspace_id, recipient.phone_number, '49', 'DE', 'api', 'Ada', '{"city": "Bonn", "plan": "gold"}', ${changedAt}
      FROM recipient JOIN campaign ON campaign.id = campaign_id WHERE campaign_id = $1`,
  );
  await run(
    `UPDATE recipient SET contact_id = contact.id FROM contact JOIN campaign USING (workspace_id)
      WHERE recipient.campaign_id = $1 AND campaign.id = $1 AND contact.phone_number = recipient.phone_number`,
  );
  await run('UPDATE campaign SET contacts_read_at = now() WHERE id = $1');
  return seeded;
}
const [free, limited] = [await seed(), await seed()];
const [known, unchanged] = [await seedContacts(hourAgo), await seedContacts(hourAgo)];
const changed = await seedContacts(inAMinute);
const accountOf = `(SELECT business_account_id FROM channel WHERE id = $1)`;
await client.query(`UPDATE business_account SET messaging_limit = 1000000 WHERE id = ${accountOf}`, [
  limited.channelId,
]);
await client.query(
  `INSERT INTO account_reach SELECT ${accountOf}, hashtextextended('before ' || n, 0), date_bin('10 minutes', now() - n * interval '0.8 seconds', '2000-01-01Z')
    FROM generate_series(1, 100000) AS n`,
  [limited.channelId],
);
await client.query(
  `INSERT INTO account_reach_count SELECT business_account_id, at, count(*) FROM account_reach GROUP BY 1, 2`,
);
await client.query('VACUUM ANALYZE');

interface Side {
  readonly name: string;
  readonly seeded: Seeded;
  readonly request: Pick<ClaimRequest, 'limited' | 'rendersAgain' | 'customFields'>;
  readonly stepId: string;
  readonly times: number[];
  cpuSeconds: number;
}
function sideOf(name: string, seeded: Seeded, request: Side['request'] = {}): Side {
  return { name, seeded, request, stepId: randomUUID(), times: [], cpuSeconds: 0 };
}
const sides: readonly Side[] = [
  sideOf('numbers alone', free),
  sideOf('contacts with their consent', known),
  sideOf('fields of contacts, unchanged', unchanged, { rendersAgain: true, customFields: ['city'] }),
  sideOf('fields of contacts, all changed', changed, { rendersAgain: true, customFields: ['city'] }),
  sideOf('numbers under a limit', limited, { limited: true }),
];
async function claim({ seeded, request, stepId, times }: Side): Promise<void> {
  const beganAt = performance.now();
  const claimed = await claimBatch(database, {
    ...seeded,
    claimId: randomUUID(),
    stepId,
    epoch: 0,
    limit: page,
    prices: new Map([['', 1_000n]]),
    aheadMs: 60_000,
    notBefore: 0,
    perSecond: 1_000_000,
    answerWithinMs: 30_000,
    ...request,
  });
  times.push(performance.now() - beganAt);
  if (claimed.kind !== 'batch' || claimed.recipients.length !== page) throw new Error(claimed.kind);
}

// Alternates after ten claims, so that other load and the growth of the tables affect all campaigns alike.
for (let made = 0; made + 10 * page <= recipients; made += 10 * page) {
  for (const side of sides) {
    const before = postgres.cpuSeconds();
    for (let turn = 0; turn < 10; turn += 1) await claim(side);
    side.cpuSeconds += postgres.cpuSeconds() - before;
  }
}
const middle = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
const [baseline] = sides;
for (const { name, times, cpuSeconds } of sides) {
  const cpu = ((cpuSeconds * 1_000) / times.length).toFixed(2);
  const ratio = (middle(times) / middle(baseline?.times ?? [])).toFixed(2);
  process.stdout.write(
    `${name}: ${middle(times).toFixed(2)} ms a claim of ${page}, ratio ${ratio}; Postgres' CPU ${cpu} ms\n`,
  );
}
await database.end();
await client.end();
await postgres.stop();
