/**
 * Measures the cost per recipient of campaigns of 10,000, 100,000 and 1,000,000 recipients on one database: CPU seconds of the
 * sender and of Postgres (wall-clock time varies on a shared machine), rate, steps and database size. The small campaigns run
 * before and after the largest. `--largest N` (1,000,000).
 *
 * Every campaign begins right after a checkpoint. Postgres then writes each page that is changed for the first time whole to its
 * log; the index of the provider's ids is random, so after a million a small campaign changes a page for every second recipient.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer, type AckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { measure, median } from './support/measure.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import { seedRunningCampaign } from './support/seed.ts';
import { sendCampaign } from './support/send-campaign.ts';

const { values } = parseArgs({ options: { largest: { type: 'string', default: '1000000' } } });
const largest = Number(values.largest);
const middle = largest / 10;
const small = largest / 100;
const unlimited = 100_000;
// A step is an activity (scheduled, started, completed) and a workflow task (the same three).
const eventsPerStep = 6;
const longestStepSeconds = 10;
const lanes = 2;

interface Cost {
  readonly cpuPer10k: number;
  readonly perSecond: number;
  readonly steps: number;
}

interface Sizes {
  readonly database: number;
  readonly recipients: number;
  readonly recipientIndexes: number;
  readonly providerMessages: number;
}

async function sizesOf(client: pg.Client): Promise<Sizes> {
  const { rows } = await client.query<Sizes>(
    `SELECT pg_database_size(current_database())::float AS database, pg_table_size('recipient')::float AS recipients,
       pg_indexes_size('recipient')::float AS "recipientIndexes",
       pg_total_relation_size('provider_message')::float AS "providerMessages"`,
  );
  const [sizes] = rows;
  if (sizes === undefined) throw new Error('Postgres returned no sizes');
  return sizes;
}

async function sendOne(
  { postgres, provider, client }: { postgres: BenchPostgres; provider: AckServer; client: pg.Client },
  recipients: number,
): Promise<Cost> {
  const { campaignId, channelId } = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), {
    recipients,
    messagesPerSecond: unlimited,
  });
  await client.query('CHECKPOINT');
  const dependencies = await createDependencies(
    benchConfig(postgres.url, { PROVIDER_BASE_URL: provider.baseUrl, PROVIDER_CONNECTIONS: '128' }),
    'bench',
  );
  let steps = 0;
  const cpuBefore = postgres.cpuSeconds();
  const { seconds, cpuSeconds, peakRssMb } = await measure(async () => {
    ({ steps } = await sendCampaign(dependencies, campaignId));
  });
  const postgresSeconds = postgres.cpuSeconds() - cpuBefore;
  await dependencies.close();
  const { distinct } = await provider.arrivals(channelId);
  if (distinct !== recipients) throw new Error(`${distinct} of ${recipients} messages came`);
  const per10k = (amount: number): number => (amount * 10_000) / recipients;
  const cost = {
    cpuPer10k: per10k(cpuSeconds + postgresSeconds),
    perSecond: recipients / seconds,
    steps,
  };
  process.stdout.write(
    `${String(recipients).padStart(8)} recipients: ${cost.perSecond.toFixed(0)}/s, per 10,000 ` +
      `${per10k(cpuSeconds).toFixed(2)} CPU s and ${per10k(postgresSeconds).toFixed(2)} of Postgres, ${peakRssMb} MB\n`,
  );
  return cost;
}

const postgres = await startPostgres();
const provider = await startAckServer();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
try {
  const run = (recipients: number) => sendOne({ postgres, provider, client }, recipients);
  const times = async (count: number, recipients: number): Promise<Cost[]> => {
    const costs: Cost[] = [];
    for (let done = 0; done < count; done += 1) costs.push(await run(recipients));
    return costs;
  };
  await run(small);
  const smallBefore = await times(5, small);
  const middles = await times(2, middle);
  const sizeBefore = await sizesOf(client);
  const large = await run(largest);
  const sizeAfter = await sizesOf(client);
  const smalls = [...smallBefore, ...(await times(5, small))];
  const smallCost = median(smalls.map(({ cpuPer10k }) => cpuPer10k));
  const grown = (part: keyof Sizes): string => ((sizeAfter[part] - sizeBefore[part]) / largest).toFixed(0);
  const ratio = (cost: number): string => (cost / smallCost).toFixed(2);
  process.stdout.write(
    `CPU per recipient against ${small}: ${middle}: ${ratio(median(middles.map(({ cpuPer10k }) => cpuPer10k)))}, ` +
      `${largest}: ${ratio(large.cpuPer10k)}\n` +
      `database: ${grown('database')} bytes per recipient sent: ${grown('recipients')} in the table, ` +
      `${grown('recipientIndexes')} in its indexes, ${grown('providerMessages')} for the provider's ids\n` +
      `workflow history: ${large.steps} steps, about ${large.steps * eventsPerStep} events; ` +
      `${Math.ceil(largest / 1_000 / longestStepSeconds) * lanes * eventsPerStep} at 1,000 messages a second\n`,
  );
} finally {
  await client.end();
  provider.stop();
  await postgres.stop();
}
