/**
 * Compares an import of contacts from a CSV with a plain COPY of the finished contacts into the same table with its keys, and says what
 * the import costs a campaign that sends from another process. Prints rows per second, the ratio, the importing process' peak memory, and
 * the campaign's rate without and with an import. `--rows N` (default 500,000), `--rounds N`, `--known` (the contacts exist already, and
 * every row changes one), `--rate N` messages per second of the campaign (200).
 */
import { fork } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { runImport } from '../src/commands/contacts/run-import.ts';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { startCampaignProcess } from './support/campaign-process.ts';
import { measure, median, type Measured } from './support/measure.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import { seedRunningCampaign } from './support/seed.ts';
import { csvChunks, fileKey } from './support/unprepared-campaign.ts';

const columns =
  'workspace_id, phone_number, country_code, country, source, first_name, last_name, email, custom_fields';
/** In the folder storage of a process with this DATA_DIR. */
const pathOf = (dataDir: string): string => join(dataDir, 'files', fileKey);
/** How long the campaign sends alone. */
const aloneMs = 10_000;

/** The forked side: one import, measured. */
async function importHere(databaseUrl: string, dataDir: string, importId: string): Promise<void> {
  const dependencies = await createDependencies(benchConfig(databaseUrl, { DATA_DIR: dataDir }), 'bench');
  const { signal } = new AbortController();
  const measured = await measure(async () => {
    if (!(await runImport(dependencies, importId, { signal, draining: () => false })))
      throw new Error('The import did not end');
  });
  await dependencies.close();
  process.send?.(measured);
}

function importInChild(databaseUrl: string, dataDir: string, importId: string): Promise<Measured> {
  const child = fork(fileURLToPath(import.meta.url), ['import', databaseUrl, dataDir, importId]);
  return new Promise((resolve, reject) => {
    child.once('message', (measured) => resolve(measured as Measured));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The importing process ended with exit code ${code}`)));
  });
}

interface Bench {
  readonly client: pg.Client;
  readonly postgres: BenchPostgres;
  readonly dataDir: string;
  readonly rows: number;
  readonly areKnown: boolean;
  readonly rate: number;
}

/** `recipient` is emptied too. */
const emptyContacts = (client: pg.Client) => client.query('TRUNCATE contact CASCADE');

/** Imports the file for a new workspace, and checks the result. */
async function importOnce({ client, postgres, dataDir, rows, areKnown }: Bench): Promise<Measured> {
  const { rows: workspaces } = await client.query<{ id: number }>(
    `INSERT INTO workspace (name) VALUES ('bench') RETURNING id`,
  );
  const workspaceId = workspaces[0]?.id;
  if (areKnown) {
    await client.query(
      `INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
       SELECT $1, '49151' || (10000000 + n), '49', 'DE', 'api' FROM generate_series(0, $2::int - 1) AS n`,
      [workspaceId, rows],
    );
    await client.query('ANALYZE contact');
  }
  await client.query('CHECKPOINT');
  const mapping = { phone_column: 0, name_column: 2, email_column: 3, custom_field_mapping: { city: 4 } };
  const { size } = await stat(pathOf(dataDir));
  const { rows: imports } = await client.query<{ id: string }>(
    `INSERT INTO contact_import (workspace_id, csv_file_key, size, mapping, mode, dry_run)
     VALUES ($1, $2, $3, $4, 'both', false) RETURNING id`,
    [workspaceId, fileKey, size, mapping],
  );
  const id = imports[0]?.id ?? '';
  const measured = await importInChild(postgres.url, dataDir, id);
  const { rows: ended } = await client.query<{ state: string; written: number }>(
    'SELECT state, created + updated AS written FROM contact_import WHERE id = $1',
    [id],
  );
  if (ended[0]?.state !== 'COMPLETED' || ended[0].written !== rows)
    throw new Error(`The import ended as ${JSON.stringify(ended[0])}`);
  return measured;
}

/** The contacts that the import made, loaded once more by nothing but COPY. */
async function plainCopy({ client, dataDir, rows }: Bench): Promise<Measured> {
  const file = join(dataDir, 'contacts.copy');
  const select = `SELECT ${columns} FROM contact ORDER BY id`;
  await pipeline(client.query(copyTo(`COPY (${select}) TO STDOUT`)), createWriteStream(file));
  await emptyContacts(client);
  await client.query('CHECKPOINT');
  const measured = await measure(async () => {
    await client.query('BEGIN');
    await pipeline(createReadStream(file), client.query(copyFrom(`COPY contact (${columns}) FROM STDIN`)));
    await client.query('COMMIT');
  });
  const { rows: copied } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM contact');
  if (copied[0]?.n !== rows) throw new Error(`${copied[0]?.n} of ${rows} rows were copied`);
  return measured;
}

/** Messages per second of a campaign alone, and while a file is imported. */
async function besideCampaign(bench: Bench): Promise<{ readonly alone: number; readonly beside: number }> {
  const { client, postgres, dataDir, rate } = bench;
  const provider = await startAckServer(50);
  const worker = await startCampaignProcess({
    databaseUrl: postgres.url,
    providerBaseUrl: provider.baseUrl,
    dataDir,
  });
  try {
    await emptyContacts(client);
    const secrets = createSecretBox([benchSecretsKey]);
    // Enough for ten minutes.
    const load = { recipients: rate * 600, messagesPerSecond: rate };
    const { campaignId } = await seedRunningCampaign(client, secrets, load);
    const sent = async () => {
      const { rows } = await client.query<{ sent: number }>(
        'SELECT accepted + sent + failed + unknown AS sent FROM campaign_counter WHERE campaign_id = $1',
        [campaignId],
      );
      return { count: rows[0]?.sent ?? 0, at: performance.now() };
    };
    const rateFrom = async (since: Awaited<ReturnType<typeof sent>>): Promise<number> => {
      const now = await sent();
      return ((now.count - since.count) * 1_000) / (now.at - since.at);
    };
    const sending = worker.send(campaignId);
    sending.catch(() => undefined);
    while ((await sent()).count < rate) await sleep(100);
    const alone = await sent();
    await sleep(aloneMs);
    const rateAlone = await rateFrom(alone);
    const beside = await sent();
    await importOnce(bench);
    return { alone: rateAlone, beside: await rateFrom(beside) };
  } finally {
    await worker.stop();
    provider.stop();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '500000' },
      rounds: { type: 'string', default: '3' },
      known: { type: 'boolean', default: false },
      rate: { type: 'string', default: '200' },
    },
  });
  const rows = Number(values.rows);
  const postgres = await startPostgres();
  const dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-files-'));
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  try {
    await client.connect();
    const list = {
      recipients: rows,
      isShuffled: false,
      areQuoted: false,
      needsFixUp: false,
      hasRefused: false,
    };
    await mkdir(dirname(pathOf(dataDir)), { recursive: true });
    await pipeline(Readable.from(csvChunks(list)), createWriteStream(pathOf(dataDir)));
    const bench = { client, postgres, dataDir, rows, areKnown: values.known, rate: Number(values.rate) };
    const ratios: number[] = [];
    for (let number = 1; number <= Number(values.rounds); number += 1) {
      await emptyContacts(client);
      const ours = await importOnce(bench);
      const plain = await plainCopy(bench);
      ratios.push(plain.seconds / ours.seconds);
      const rateOf = ({ seconds }: Measured) => Math.round(rows / seconds);
      process.stdout.write(
        `round ${number}: plain COPY ${rateOf(plain)}/s, import ${rateOf(ours)}/s (${ours.cpuSeconds.toFixed(1)} CPU s, ` +
          `${ours.peakRssMb} MB), ratio ${ratios.at(-1)?.toFixed(2)}\n`,
      );
    }
    process.stdout.write(`median ratio ${median(ratios).toFixed(2)} of ${rows} rows\n`);
    const { alone, beside } = await besideCampaign(bench);
    process.stdout.write(
      `campaign: ${alone.toFixed(0)}/s alone, ${beside.toFixed(0)}/s during an import, ${(beside / alone).toFixed(2)} of it\n`,
    );
  } finally {
    await client.end();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const [role, databaseUrl = '', dataDir = '', importId = ''] = process.argv.slice(2);
if (role === 'import') await importHere(databaseUrl, dataDir, importId);
else await main();
