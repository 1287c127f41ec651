/** An embedded Postgres: real binaries, data that lasts in `<dataDir>/pg<major>`, reachable on loopback with a password only. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { sqlFolder } from '../../../src/records/database/migrate.ts';
import type { ChildSpec } from '../children/child.ts';
import { clearPostgresOrphan } from './orphan.ts';
import { findPostgresBinaries } from './binaries.ts';
import { findRunUser, launchAs, type RunUser } from '../host/run-user.ts';
import { StackError } from '../error.ts';

export interface PostgresOptions {
  /** Absolute. */
  readonly dataDir: string;
  readonly port: number;
  readonly logFile: string;
  /** Additional `name=value` settings. */
  readonly settings?: readonly string[];
}

export interface PreparedPostgres {
  readonly spec: ChildSpec;
  /** URL of the `postgres` database; see `createDatabaseIfMissing`. */
  readonly adminUrl: string;
  /** URL of the application's database, as the owner of its schema. */
  readonly ownerUrl: string;
  /** The same as the application's role. */
  readonly url: string;
  readonly dataFolder: string;
}

const superuser = 'app';
const applicationRole = 'messaging';
const databaseName = 'app';

const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories='];

const serverEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Initialises the data folder on the first call, stops a server that a killed start left on it, and says how to start it. */
export async function preparePostgres(options: PostgresOptions): Promise<PreparedPostgres> {
  const { dataDir, port, logFile } = options;
  const binaries = findPostgresBinaries();
  const user = findRunUser();
  const dataFolder = join(dataDir, `pg${binaries.major}`);
  const passwordFile = `${dataFolder}.password`;
  await clearPostgresOrphan(dataFolder);
  if (!existsSync(dataFolder))
    await initialise({ binaries: binaries.folder, dataFolder, passwordFile, user });
  const password = readPassword(passwordFile, dataFolder);

  const configFile = join(sqlFolder(), '..', 'ops', 'postgres', 'postgresql.conf');
  const given = [`config_file=${configFile}`, ...settings, ...(options.settings ?? [])];
  const launch = launchAs(user, {
    command: join(binaries.folder, 'postgres'),
    args: ['-D', dataFolder, '-p', String(port), ...given.flatMap((setting) => ['-c', setting])],
    paths: [dataFolder, configFile, join(binaries.folder, 'postgres')],
  });
  const spec: ChildSpec = {
    ...launch,
    name: 'postgres',
    cwd: '/',
    environment: serverEnvironment,
    output: { kind: 'file', path: logFile },
    watchParent: false,
    beforeStart: () => clearPostgresOrphan(dataFolder),
    isReady: async (pid) => isReady(dataFolder, pid),
    readyTimeoutMs: 60_000,
    stopSignals: [
      { signal: 'SIGINT', waitMs: 20_000 },
      { signal: 'SIGQUIT', waitMs: 5_000 },
    ],
    explainFailure: (reason) =>
      `Postgres did not start on ${dataFolder} (${reason}): ${lastProblem(logFile)} ` +
      `If the folder is damaged, restore it or move it away to begin empty; the whole log is ${logFile}.`,
  };
  const urlOf = (role: string, database: string) =>
    `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;
  return {
    spec,
    adminUrl: urlOf(superuser, 'postgres'),
    ownerUrl: urlOf(superuser, databaseName),
    url: urlOf(applicationRole, databaseName),
    dataFolder,
  };
}

/** Makes the application's role and its database on a server that lacks them. */
export async function createDatabaseIfMissing({
  adminUrl,
}: Pick<PreparedPostgres, 'adminUrl'>): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    const isMissing = async (query: string) => (await client.query(query)).rowCount === 0;
    if (await isMissing(`SELECT FROM pg_roles WHERE rolname = '${applicationRole}'`))
      await client.query(`CREATE ROLE ${applicationRole} LOGIN PASSWORD '${new URL(adminUrl).password}'`);
    if (await isMissing(`SELECT FROM pg_database WHERE datname = '${databaseName}'`))
      await client.query(`CREATE DATABASE ${databaseName}`);
  } finally {
    await client.end();
  }
}

interface Initialisation {
  readonly binaries: string;
  readonly dataFolder: string;
  readonly passwordFile: string;
  readonly user: RunUser | undefined;
}

/** Creates the data in a temporary folder and renames it when complete, so that a start that is killed leaves nothing to repair. */
async function initialise({ binaries, dataFolder, passwordFile, user }: Initialisation): Promise<void> {
  const draft = `${dataFolder}.new`;
  rmSync(draft, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
  if (user !== undefined) {
    chownSync(draft, user.uid, user.gid);
    chownSync(passwordFile, user.uid, user.gid);
  }
  const options = [
    '-U',
    superuser,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
    // Compares by code point like C, but knows upper and lower case beyond ASCII.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  const launch = launchAs(user, {
    command: join(binaries, 'initdb'),
    args: ['-D', draft, ...options],
    paths: [draft, join(binaries, 'initdb')],
  });
  try {
    await runToEnd(launch);
    renameSync(draft, dataFolder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function runToEnd({ command, args, uid, gid }: ReturnType<typeof launchAs>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      cwd: '/',
      env: serverEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.once('error', (error) => reject(new StackError(`initdb could not be run: ${error.message}.`)));
    child.once('close', (code) => {
      if (code === 0) return resolve();
      const problem = /(?:error|fatal|panic):.*/i.exec(output)?.[0] ?? output.trim().split('\n').at(-1);
      const problemWithSpace = /No space left/.exec(output)?.[0];
      const reason = (problemWithSpace ?? problem ?? '').replace(/\.$/, '');
      reject(
        new StackError(
          `The Postgres data folder could not be made (${reason}): correct that, or set DATABASE_URL to a Postgres that is running.`,
        ),
      );
    });
  });
}

function readPassword(passwordFile: string, dataFolder: string): string {
  try {
    return readFileSync(passwordFile, 'utf8').trim();
  } catch {
    throw new StackError(
      `The password file ${passwordFile} of the Postgres data in ${dataFolder} cannot be read: put it back, or move the data folder away to begin empty.`,
    );
  }
}

/** Line 8 of postmaster.pid says `ready`; line 1 tells whose file it is. */
function isReady(dataFolder: string, pid: number): boolean {
  const lines = readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n');
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}

function lastProblem(logFile: string): string {
  const lines = existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n') : [];
  const problem = lines.slice(-20).findLast((line) => /FATAL|PANIC|ERROR|error:/.test(line)) ?? lines.at(-1);
  const text = problem?.replace(/^.*?(?:FATAL|PANIC|ERROR):\s*/, '') ?? 'it wrote no log';
  return `${text.replace(/\.$/, '')}.`;
}
