/**
 * Compares the preparation of a campaign of N recipients from a CSV file, which also creates their contacts, with a plain COPY
 * of the finished recipient rows, ids included, into the same table with its keys. Prints rows per second, the ratio, CPU
 * seconds of Postgres and of the preparing process, and the latter's peak memory. `--recipients N` (default 1,000,000),
 * `--rounds N`, `--known` (the contacts exist already), `--mapped` (names, e-mail and a custom field are stored with the
 * contacts), `--shuffled` (the numbers stand in no order), `--quoted` (every name stands in quotes), `--fix-up` (every number is
 * written with brackets and spaces), `--refused` (three of ten numbers are too short). `--audience all_contacts`
 * and `--audience segmented` read the contacts from the database instead of a file; all of them are in the segment.
 */
import { fork } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { pino } from 'pino';
import { prepareCampaign } from '../src/commands/audience/prepare-campaign.ts';
import type { Dependencies } from '../src/dependencies.ts';
import { createDatabase } from '../src/records/database/database.ts';
import { createFolderStorage } from '../src/storage/folder-storage.ts';
import { measure, median, type Measured } from './support/measure.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import {
  csvChunks,
  fileKey,
  sendableOf,
  seedUnpreparedCampaign,
  type AudienceKind,
  type PreparedCase,
} from './support/unprepared-campaign.ts';

const columns =
  'campaign_id, position, id, contact_id, phone_number, country, sendable, state, reason, reason_detail, line_number, variables';

/** The forked side: one preparation, measured. */
async function prepareHere(databaseUrl: string, folder: string, campaignId: string): Promise<void> {
  const database = await createDatabase(databaseUrl, 4);
  const dependencies = {
    config: { databaseUrl },
    database,
    storage: createFolderStorage(folder),
    logger: pino({ level: 'silent' }),
    now: () => new Date(),
  } as unknown as Dependencies;
  const signal = new AbortController().signal;
  const measured = await measure(async () => {
    await prepareCampaign(dependencies, campaignId, { heartbeat: () => undefined, signal });
  });
  await database.end();
  process.send?.(measured);
}

function prepareInChild(databaseUrl: string, folder: string, campaignId: string): Promise<Measured> {
  const child = fork(fileURLToPath(import.meta.url), ['prepare', databaseUrl, folder, campaignId]);
  return new Promise((resolve, reject) => {
    child.once('message', (measured) => resolve(measured as Measured));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The preparing process ended with exit code ${code}`)));
  });
}

interface Round extends PreparedCase {
  /** Rows that can be sent to. */
  readonly sendable: number;
  readonly postgres: BenchPostgres;
  readonly folder: string;
}

/** The rows that the preparation made, loaded once more by nothing but COPY. */
async function plainCopy(
  { client, folder, recipients, postgres }: Round,
  campaignId: string,
): Promise<{ readonly measured: Measured; readonly cpu: number }> {
  const file = join(folder, 'recipients.copy');
  const select = `SELECT ${columns} FROM recipient WHERE campaign_id = '${campaignId}' ORDER BY position`;
  await pipeline(client.query(copyTo(`COPY (${select}) TO STDOUT`)), createWriteStream(file));
  await client.query('TRUNCATE recipient');
  await client.query('CHECKPOINT');
  const before = postgres.cpuSeconds();
  const measured = await measure(async () => {
    await client.query('BEGIN');
    await pipeline(createReadStream(file), client.query(copyFrom(`COPY recipient (${columns}) FROM STDIN`)));
    await client.query('COMMIT');
  });
  const cpu = postgres.cpuSeconds() - before;
  const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM recipient');
  if (rows[0]?.n !== recipients) throw new Error(`${rows[0]?.n} of ${recipients} rows were copied`);
  return { measured, cpu };
}

interface Sizes {
  readonly contactBytes: number;
  readonly contactIndexBytes: number;
  readonly recipientBytes: number;
  readonly recipientIndexBytes: number;
}

interface RoundResult {
  readonly sizes: Sizes;
  readonly ours: Measured;
  readonly plain: Measured;
  /** CPU seconds of Postgres for each of the two. */
  readonly postgres: { readonly ours: number; readonly plain: number };
}

interface PreparedCampaign extends Sizes {
  readonly status: string;
  readonly total: number;
  readonly contacts: number;
}

async function runRound(round: Round): Promise<RoundResult> {
  const campaignId = await seedUnpreparedCampaign(round);
  const { cpuSeconds, url } = round.postgres;
  const before = cpuSeconds();
  const ours = await prepareInChild(url, round.folder, campaignId);
  // /proc adds the CPU time of a connection to its parent once the connection has ended.
  await sleep(500);
  const prepared = cpuSeconds();
  const { rows } = await round.client.query<PreparedCampaign>(
    `SELECT preparation_status AS status, total_contacts AS total, pg_table_size('contact')::float AS "contactBytes",
       pg_indexes_size('contact')::float AS "contactIndexBytes", pg_table_size('recipient')::float AS "recipientBytes",
       pg_indexes_size('recipient')::float AS "recipientIndexBytes",
       (SELECT count(*)::int FROM contact WHERE contact.workspace_id = campaign.workspace_id) AS contacts
     FROM campaign WHERE id = $1`,
    [campaignId],
  );
  const [outcome] = rows;
  if (
    outcome?.status !== 'READY' ||
    outcome.total !== round.sendable ||
    outcome.contacts !== round.sendable
  ) {
    throw new Error(`The preparation ended as ${JSON.stringify(outcome)}`);
  }
  const { measured: plain, cpu } = await plainCopy(round, campaignId);
  return { sizes: outcome, ours, plain, postgres: { ours: prepared - before, plain: cpu } };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      recipients: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '3' },
      audience: { type: 'string', default: 'csv_contacts' },
      known: { type: 'boolean', default: false },
      mapped: { type: 'boolean', default: false },
      shuffled: { type: 'boolean', default: false },
      quoted: { type: 'boolean', default: false },
      'fix-up': { type: 'boolean', default: false },
      refused: { type: 'boolean', default: false },
    },
  });
  const recipients = Number(values.recipients);
  const postgres = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-files-'));
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  try {
    await client.connect();
    const list = {
      recipients,
      isShuffled: values.shuffled,
      areQuoted: values.quoted,
      needsFixUp: values['fix-up'],
      hasRefused: values.refused,
    };
    await pipeline(Readable.from(csvChunks(list)), createWriteStream(join(folder, fileKey)));
    const round = {
      client,
      postgres,
      folder,
      recipients,
      sendable: sendableOf(list),
      kind: values.audience as AudienceKind,
      isMapped: values.mapped,
      areKnown: values.known,
    };
    const ratios: number[] = [];
    let sizes: Sizes | undefined;
    for (let number = 1; number <= Number(values.rounds); number += 1) {
      const result = await runRound(round);
      const { ours, plain, postgres: cpu } = result;
      ({ sizes } = result);
      const rate = ({ seconds }: Measured) => Math.round(recipients / seconds);
      ratios.push(plain.seconds / ours.seconds);
      process.stdout.write(
        `round ${number}: plain COPY ${rate(plain)}/s (Postgres ${cpu.plain.toFixed(1)} CPU s), ` +
          `preparation ${rate(ours)}/s (${ours.cpuSeconds.toFixed(1)} CPU s, Postgres ${cpu.ours.toFixed(1)}, ` +
          `${ours.peakRssMb} MB), ratio ${ratios.at(-1)?.toFixed(2)}\n`,
      );
    }
    const each = (bytes: number | undefined): string => ((bytes ?? 0) / recipients).toFixed(0);
    process.stdout.write(
      `bytes each: contact ${each(sizes?.contactBytes)} and ${each(sizes?.contactIndexBytes)} in indexes, ` +
        `recipient ${each(sizes?.recipientBytes)} and ${each(sizes?.recipientIndexBytes)} in indexes\n`,
    );
    process.stdout.write(`median ratio ${median(ratios).toFixed(2)} of ${recipients} recipients\n`);
  } finally {
    await client.end();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const [role, databaseUrl = '', folder = '', campaignId = ''] = process.argv.slice(2);
if (role === 'prepare') await prepareHere(databaseUrl, folder, campaignId);
else await main();
