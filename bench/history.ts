/**
 * Compares frequent statements on a database with a long history and on a nearly empty one, in turns: first with no other
 * load, then while a transaction stays open that began before a queue of events and callbacks was processed. Also measures the
 * WAL of a sent recipient. `--rows N` recipients (10,000,000), a fifth as many contacts, half as many events, deliveries,
 * callbacks and ledger entries.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { createSecretBox } from '../src/secrets.ts';
import { createDependencies } from '../src/dependencies.ts';
import { createDatabase, type Database } from '../src/records/database/database.ts';
import { createGaugeReader } from '../src/records/operations/gauges.ts';
import { startAckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { useOf } from './support/database-use.ts';
import { historyStatements } from './support/history-statements.ts';
import { printSizes, seedHistory } from './support/history.ts';
import { median } from './support/measure.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import { startBenchTemporal } from './support/temporal.ts';
import { seedRunningCampaign } from './support/seed.ts';
import { sendCampaign } from './support/send-campaign.ts';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '10000000' } } });
const rows = Number(values.rows);
const few = 10_000;
const sent = 5_000;
const times = 40;
/** The pool prepares a statement at its 20th call, and Postgres may switch to a generic plan after five more. */
const warmUps = 30;
/** 10 s per statement: a slow one is measured fewer than `times` times. */
const longestMs = 10_000;

interface Side {
  readonly postgres: BenchPostgres;
  /** Connected as the owner of the tables. */
  readonly client: pg.Client;
  readonly database: Database;
}
type Figures = Map<string, readonly { readonly median: number; readonly slowest: number }[]>;

const [empty, long] = [await startSide(), await startSide()];
const provider = await startAckServer();
try {
  await seedHistory(empty.postgres.ownerUrl, few);
  await step(`loading ${rows} recipients`, () => seedHistory(long.postgres.ownerUrl, rows));
  await printSizes(long.client);
  print('quiet', await step('measuring', measureInTurns));
  const [less, more] = [await walOfARecipient(empty), await walOfARecipient(long)];
  process.stdout.write(`WAL of a recipient sent: ${less.toFixed(0)} and ${more.toFixed(0)} bytes\n`);
  await doctorAndScrape(long);
  print(
    'during an open transaction',
    await step('measuring', () => whileATransactionIsOpen(long, measureInTurns)),
  );
} finally {
  provider.stop();
  for (const side of [empty, long]) {
    await side.database.end();
    await side.client.end();
    await side.postgres.stop();
  }
}

async function startSide(): Promise<Side> {
  const postgres = await startPostgres();
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  return { postgres, client, database: await createDatabase(postgres.url, 4) };
}

async function step<A>(what: string, work: () => Promise<A>): Promise<A> {
  const startedAt = performance.now();
  const result = await work();
  process.stdout.write(`${what}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s\n`);
  return result;
}

/** Runs `doctor --quick` as a new process, and one scrape without cached watermarks. */
async function doctorAndScrape({ postgres, database }: Side): Promise<void> {
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

/** Alternates between the two databases, so that other load on the machine slows both alike. */
async function measureInTurns(): Promise<Figures> {
  const sides = [
    await historyStatements(empty.client, empty.database),
    await historyStatements(long.client, long.database),
  ];
  const figures: Figures = new Map();
  for (const name of Object.keys(sides[0] ?? {})) {
    const took: number[][] = sides.map(() => []);
    const enough = performance.now() + longestMs;
    for (let time = -warmUps; time < times && (time < 5 - warmUps || performance.now() < enough); time += 1) {
      for (const [at, statements] of sides.entries()) {
        const startedAt = performance.now();
        await statements[name]?.();
        took[at]?.push(performance.now() - startedAt);
      }
    }
    const counted = took.map((all) => all.slice(Math.min(warmUps, all.length - 5)));
    const figure = (each: number[]) => ({ median: median(each), slowest: Math.max(...each) });
    figures.set(name, counted.map(figure));
  }
  return figures;
}

/**
 * Runs `work` beside an open transaction that keeps vacuum from removing the entries of processed events and callbacks. The
 * last event and the last callback stay unprocessed.
 */
async function whileATransactionIsOpen<A>({ postgres, client }: Side, work: () => Promise<A>): Promise<A> {
  const other = new pg.Client({ connectionString: postgres.ownerUrl });
  await other.connect();
  await other.query(`BEGIN; INSERT INTO workspace (name) VALUES ('held')`);
  const many = Math.ceil(rows / 10);
  await client.query(
    `WITH stored AS (
      INSERT INTO provider_callback (body)
      SELECT convert_to(repeat('x', 400), 'UTF8') FROM generate_series(1, $1::int) RETURNING id)
    INSERT INTO waiting_callback (id, size) SELECT id, 400 FROM stored`,
    [many],
  );
  await client.query(
    `INSERT INTO event (workspace_id, key, body) SELECT 1001, 'read', '{}' FROM generate_series(1, $1::int)`,
    [many],
  );
  await client.query('DELETE FROM waiting_callback WHERE id < (SELECT max(id) FROM waiting_callback)');
  await client.query(
    'UPDATE event SET fanned_out_at = now() WHERE fanned_out_at IS NULL AND id < (SELECT id FROM event ORDER BY id DESC LIMIT 1)',
  );
  const result = await work();
  await other.query('ROLLBACK');
  await other.end();
  return result;
}

async function walOfARecipient({ postgres, client }: Side): Promise<number> {
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

function print(when: string, figures: Figures): void {
  const cell = (value: number) => value.toFixed(1).padStart(9);
  process.stdout.write(
    `${rows} recipients beside ${few}, ${when}: median in ms of both, ratio, slowest of ${times}\n`,
  );
  for (const [name, [less, more]] of figures) {
    if (less === undefined || more === undefined) continue;
    const cells = [less.median, more.median, more.median / less.median, more.slowest].map(cell);
    process.stdout.write(`${name.padEnd(36)}${cells.join('')}\n`);
  }
}
