/** Finds the programs of a cluster: in Debian's packages, by the Go module proxy, and in npm's Postgres package. */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StackError } from '../stack/error.ts';
import { ensureGoProgram, type GoProgramSearch } from '../stack/temporal/go-program.ts';
import { findPostgresBinaries } from '../stack/postgres/binaries.ts';
import { runTool } from '../stack/host/run-tool.ts';
import { findTemporalBinary } from '../stack/temporal/binary.ts';
import { findOnPath, userCacheFolder } from '../stack/host/user-cache.ts';

export interface ClusterPrograms {
  readonly temporal: TemporalPrograms;
  /** The `temporal` command. */
  readonly cli: string;
  readonly patroni: string;
  readonly etcd: string;
  readonly haproxy: string;
  /** Folders that hold Postgres' programs, the server's first. */
  readonly postgres: readonly string[];
}

const packages = { patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy' } as const;

/** Throws StackError with one line that says what is missing. */
export async function findPrograms(search: GoProgramSearch): Promise<ClusterPrograms> {
  const { environment } = search;
  const path = `${environment['PATH'] ?? ''}:/usr/sbin`;
  const find = (name: keyof typeof packages) => findOnPath(name, { PATH: path });
  const [patroni, etcd, haproxy] = [find('patroni'), find('etcd'), find('haproxy')];
  if (patroni === undefined || etcd === undefined || haproxy === undefined) {
    const missing = Object.entries({ patroni, etcd, haproxy }).flatMap(([name, found]) =>
      found === undefined ? [packages[name as keyof typeof packages]] : [],
    );
    throw new StackError(
      `The cluster needs ${missing.join(', ')}: apt-get install --no-install-recommends ${missing.join(' ')}`,
    );
  }
  const postgres = await findPostgres(search);
  const cli = await findTemporalBinary(search);
  return { temporal: await findTemporalPrograms(search), cli, patroni, etcd, haproxy, postgres };
}

const temporalVersion = '1.32.0';

const temporalPrograms = {
  server: { file: 'temporal-server', module: `go.temporal.io/server/cmd/server@v${temporalVersion}` },
  sqlTool: { file: 'temporal-sql-tool', module: `go.temporal.io/server/cmd/tools/sql@v${temporalVersion}` },
} as const;

/** Paths of the programs of a Temporal cluster on Postgres. */
export type TemporalPrograms = Readonly<Record<keyof typeof temporalPrograms, string>>;

/** Compiles them from the Go module proxy: about ten minutes, once per machine. Throws StackError if Go is missing or fails. */
async function findTemporalPrograms(search: GoProgramSearch): Promise<TemporalPrograms> {
  const folder = join(userCacheFolder(search.environment), `temporal-cluster-${temporalVersion}`);
  const path = async ({ file, module }: { readonly file: string; readonly module: string }) => {
    const target = join(folder, file);
    await ensureGoProgram(search, { module, target });
    return target;
  };
  return { server: await path(temporalPrograms.server), sqlTool: await path(temporalPrograms.sqlTool) };
}

/** Programs that Patroni calls; npm's Postgres package lacks them. */
const called = ['pg_basebackup', 'pg_controldata', 'pg_isready'];

async function findPostgres({
  environment,
  progress,
  signal,
}: GoProgramSearch): Promise<ClusterPrograms['postgres']> {
  const { folder, major } = findPostgresBinaries();
  const complete = (candidate: string) => called.every((name) => existsSync(join(candidate, name)));
  if (complete(folder)) return [folder];
  const target = join(userCacheFolder(environment), `postgres-tools-${major}`);
  const tools = join(target, 'bin');
  if (complete(tools)) return [folder, tools];
  progress.say(
    `Building ${called.join(', ')} from Debian's postgresql-${major}: a minute, once per machine …`,
  );
  const script = resolve('local/cluster/postgres-tools.sh');
  const args = [script, target, String(major)];
  const { succeeded, tail } = await runTool({ command: '/bin/sh', args, environment, signal });
  if (!succeeded)
    throw new StackError(
      `${called.join(', ')} of Postgres ${major} are missing: install postgresql-${major}, or apt, gcc, make, bison and flex ` +
        `with which they are built (${tail.slice(-2).join(' | ')})`,
    );
  return [folder, tools];
}

/** Links the programs of all folders into one, because Patroni searches a single folder. */
export function gatherPrograms(folders: readonly string[], into: string): string {
  mkdirSync(into, { recursive: true });
  for (const folder of folders)
    for (const name of readdirSync(folder))
      if (!existsSync(join(into, name))) symlinkSync(join(folder, name), join(into, name));
  return into;
}
