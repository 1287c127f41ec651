/**
 * What is asked often, on a database with a long history against the same one nearly empty: once quiet, and once while a writing
 * transaction has been open since before a day's queue was worked off. And the WAL of a recipient sent.
 * `--rows N` recipients (default 1,000,000), a fifth as many contacts, half as many events, deliveries, callbacks, entries.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { createLowWater } from '../src/concurrency/low-water.ts';
import { createSecretBox } from '../src/secrets.ts';
import { createDependencies } from '../src/dependencies.ts';
import { createDatabase, type Database } from '../src/records/database/database.ts';
import { claimKnownStatuses } from '../src/records/callbacks/parked-statuses.ts';
import { claimProviderCallbacks, recentCallback } from '../src/records/callbacks/provider-callbacks.ts';
import { findTargetsById, findTargetsByProviderId } from '../src/records/callbacks/message-statuses.ts';
import { listRecipients } from '../src/records/campaigns/recipient-report.ts';
import { listCampaignReports } from '../src/records/campaigns/report.ts';
import { listContacts } from '../src/records/contacts/list.ts';
import { listOpenCampaigns } from '../src/records/operations/doctor-campaigns.ts';
import { listWalletBooks } from '../src/records/operations/doctor-wallets.ts';
import { createGaugeReader } from '../src/records/operations/gauges.ts';
import { findWaitingDelivery, sweepDeliveries } from '../src/records/webhooks/dispatch.ts';
import { fanOutEvents, findWaitingEvent, recentId } from '../src/records/webhooks/events.ts';
import { startAckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { useOf } from './support/database-use.ts';
import { seedHistory } from './support/history.ts';
import { startPostgres } from './support/postgres.ts';
import { startBenchTemporal } from './support/temporal.ts';
import { seedRunningCampaign } from './support/seed.ts';
import { sendCampaign } from './support/send-campaign.ts';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } });
const rows = Number(values.rows);
const few = 10_000;
const sent = 5_000;
const times = 40;
/** Fewer times where that takes longer. */
const longestMs = 10_000;

type Figures = ReadonlyMap<string, { readonly median: number; readonly slowest: number }>;

const postgres = await startPostgres();
const provider = await startAckServer();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const database = await createDatabase(postgres.url, 4);
try {
  await step(`loading ${few} recipients`, () => seedHistory(postgres.ownerUrl, few));
  const small = await step('measuring', () => figuresOf(database));
  const smallWal = await walOfARecipient();
  await step(`loading ${rows} recipients`, () => seedHistory(postgres.ownerUrl, rows));
  const large = await step('measuring', () => figuresOf(database));
  const largeWal = await walOfARecipient();
  print(small, large);
  await printSizes();
  await doctorAndScrape();
  const held = await step('measuring with an open transaction', () =>
    whileATransactionIsOpen(() => figuresOf(database)),
  );
  print(small, large, held);
  process.stdout.write(
    `WAL of a recipient sent: ${smallWal.toFixed(0)} bytes, ${largeWal.toFixed(0)} with history\n`,
  );
} finally {
  await database.end();
  await client.end();
  provider.stop();
  await postgres.stop();
}

async function step<A>(what: string, work: () => Promise<A>): Promise<A> {
  const startedAt = performance.now();
  const result = await work();
  process.stdout.write(`${what}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s\n`);
  return result;
}

/** As an operator and a Prometheus meet them, with what it takes to start a process, or none of the marks of earlier scrapes. */
async function doctorAndScrape(): Promise<void> {
  const temporal = await startBenchTemporal();
  const environment = { ...process.env, DATABASE_URL: postgres.url, TEMPORAL_ADDRESS: temporal.address };
  const args = [fileURLToPath(new URL('../src/admin.js', import.meta.url)), 'doctor', '--quick'];
  const { stdout } = await step('doctor --quick', () =>
    promisify(execFile)(process.execPath, [...args, '--pause-seconds', '0'], { env: environment }).catch(
      (error: { readonly stdout: string }) => error,
    ),
  );
  process.stdout.write(stdout.split('\n').slice(-3).join(' '));
  await step('a first scrape', () => createGaugeReader()(database));
  await temporal.stop();
}

async function figuresOf(pool: Database): Promise<Figures> {
  const workspaceId = 1001;
  // One callback waits, however many came before it.
  await client.query(`
    WITH stored AS (
      INSERT INTO provider_callback (body, applied_at) SELECT convert_to(repeat('x', 400), 'UTF8'), now()
      WHERE NOT EXISTS (SELECT FROM waiting_callback) RETURNING id)
    INSERT INTO waiting_callback (id, size) SELECT id, 400 FROM stored`);
  const one = async <A>(text: string) => (await client.query<{ found: A }>(text)).rows[0]?.found as A;
  const ids = await one<string[]>(
    `SELECT array_agg(id) AS found FROM (SELECT id FROM recipient ORDER BY id LIMIT 400) AS earliest`,
  );
  const providerIds = ids.map((_, index) => `wamid.foreign.${index}`);
  const campaignId = await one<string>(
    `SELECT id AS found FROM campaign WHERE workspace_id = ${workspaceId} LIMIT 1`,
  );
  // As their loops do: what waits is looked for from where it was found last.
  const waitingCallback = createLowWater<bigint>();
  const [waitingEvent, waitingDelivery] = [createLowWater<string>(), createLowWater<string>()];
  const recent = () => recentId(pool);
  const readGauges = createGaugeReader();
  const callbacks = { limit: 400, maxBytes: 1024 * 1024, except: [] };
  const asked: Readonly<Record<string, () => Promise<unknown>>> = {
    'claim callbacks': () =>
      waitingCallback.find(
        (from) =>
          pool.transaction(async (transaction) => {
            const claimed = await claimProviderCallbacks(transaction, { ...callbacks, from });
            return claimed[0]?.id;
          }),
        () => recentCallback(pool),
      ),
    'find 400 messages by our id': () => findTargetsById(pool, ids),
    'find 400 messages by a foreign id': () => findTargetsByProviderId(pool, providerIds),
    'settle parked statuses': () =>
      pool.transaction((transaction) =>
        claimKnownStatuses(transaction, { withinSeconds: undefined, limit: 500 }),
      ),
    'find a waiting event': () => waitingEvent.find((from) => findWaitingEvent(pool, from), recent),
    'fan events out': () =>
      waitingEvent.find(async (from) => {
        const first = await findWaitingEvent(pool, from);
        if (first !== undefined) await fanOutEvents(pool, 500, first);
        return first;
      }, recent),
    'find a waiting delivery': () => waitingDelivery.find((from) => findWaitingDelivery(pool, from), recent),
    'sweep deliveries': () => sweepDeliveries(pool, { expiryHours: 24, redispatchSeconds: 30 }),
    'list contacts': () => listContacts(pool, workspaceId, { limit: 100 }),
    'list campaigns': () => listCampaignReports(pool, workspaceId, { page: 1, limit: 20 }),
    'list campaigns, far page': () => listCampaignReports(pool, workspaceId, { page: 30, limit: 20 }),
    'list recipients of a rare state': () =>
      listRecipients(pool, { campaignId, states: ['SENT'], reasons: [], afterPosition: 0, limit: 100 }),
    gauges: () => readGauges(pool),
    'open campaigns (doctor)': () =>
      listOpenCampaigns(pool, { afterId: null, limit: 200, settledSeconds: 60 }),
    'wallet books (doctor)': () => listWalletBooks(pool, { afterId: null, limit: 200 }),
  };
  const figures = new Map<string, { readonly median: number; readonly slowest: number }>();
  for (const [name, ask] of Object.entries(asked)) {
    await ask();
    const took: number[] = [];
    const enough = performance.now() + longestMs;
    while (took.length < times && (took.length < 5 || performance.now() < enough)) {
      const startedAt = performance.now();
      await ask();
      took.push(performance.now() - startedAt);
    }
    took.sort((one_, other) => one_ - other);
    figures.set(name, { median: took[took.length >> 1] ?? 0, slowest: took.at(-1) ?? 0 });
  }
  return figures;
}

/** Events and callbacks that came and were worked off since it began leave entries behind; the last of each still waits. */
async function whileATransactionIsOpen<A>(work: () => Promise<A>): Promise<A> {
  const other = new pg.Client({ connectionString: postgres.ownerUrl });
  await other.connect();
  await other.query(`BEGIN; INSERT INTO workspace (name) VALUES ('held')`);
  const many = Math.ceil(rows / 10);
  await client.query(
    `WITH stored AS (
      INSERT INTO provider_callback (body, applied_at)
      SELECT convert_to(repeat('x', 400), 'UTF8'), now() FROM generate_series(1, $1::int) RETURNING id)
    INSERT INTO waiting_callback (id, size) SELECT id, 400 FROM stored`,
    [many],
  );
  await client.query(
    `INSERT INTO event (workspace_id, key, body) SELECT 1001, 'read', '{}' FROM generate_series(1, $1::int)`,
    [many],
  );
  await client.query('DELETE FROM waiting_callback WHERE id < (SELECT max(id) FROM waiting_callback)');
  await client.query(
    'UPDATE event SET fanned_out_at = now() WHERE id < (SELECT id FROM event ORDER BY id DESC LIMIT 1)',
  );
  const result = await work();
  await other.query('ROLLBACK');
  await other.end();
  return result;
}

async function printSizes(): Promise<void> {
  const { rows: tables } = await client.query<{ line: string }>(`
    SELECT format('%s: %s rows, %s, indexes %s', relname, reltuples::bigint, pg_size_pretty(pg_relation_size(oid)),
      pg_size_pretty(pg_indexes_size(oid))) AS line
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY pg_total_relation_size(oid) DESC LIMIT 10`);
  process.stdout.write(`${tables.map(({ line }) => line).join('\n')}\n`);
}

async function walOfARecipient(): Promise<number> {
  const seed = { recipients: sent, messagesPerSecond: 100_000 };
  const { campaignId } = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), seed);
  const dependencies = await createDependencies(
    benchConfig(postgres.url, { PROVIDER_BASE_URL: provider.baseUrl, PROVIDER_CONNECTIONS: '128' }),
    'bench',
  );
  const { walBytes } = await useOf(client, postgres, async () => {
    await sendCampaign(dependencies, campaignId);
  });
  await dependencies.close();
  return walBytes / sent;
}

function print(small: Figures, ...others: readonly Figures[]): void {
  const cell = (value: number) => value.toFixed(1).padStart(8);
  process.stdout.write(
    `${rows} recipients against ${few}, median in ms, ratio, slowest of ${times}; the same with an open transaction\n`,
  );
  for (const [name, { median }] of small) {
    const columns = others.flatMap((figures) => {
      const found = figures.get(name);
      return [found?.median ?? 0, (found?.median ?? 0) / median, found?.slowest ?? 0];
    });
    process.stdout.write(`${name.padEnd(36)}${[median, ...columns].map(cell).join('')}\n`);
  }
}
