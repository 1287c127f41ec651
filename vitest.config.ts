/**
 * Four projects: `unit` needs no server, `integration` has Postgres and Temporal, `journeys` run the built stack, `outages`
 * break what is beneath it. A file of test/ that lies in neither of the last two is sorted by what it imports.
 */
import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { findPgbouncer } from './test/support/find-pgbouncer.ts';
import { startsServers } from './test/support/servers-in-tests.ts';

// Checks that must be whole (CI=true) do not leave these out: without PgBouncer they fail.
const withoutPooler = findPgbouncer() === undefined && process.env['CI'] !== 'true';
if (withoutPooler)
  process.stderr.write(
    'Left out: what runs behind a pooler, as there is no pgbouncer here (Debian: apt-get install pgbouncer).\n',
  );

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((file) => !/^test\/(journeys|outages)\//.test(file))
  .filter((file) => !(withoutPooler && file.startsWith('test/pooler/')));

const withServers = { globalSetup: ['test/support/global-setup.ts'] };

// Files of one worker share what they import, which costs each a second otherwise; no module keeps anything of one for the next.
const inOneProcess = { isolate: false };

// Workflows run in the test's own thread: to load another one takes each of sixty workers a third of a second. What runs the
// built stack has them where production has them.
const inOneThread = { env: { TEMPORAL_DEBUG: 'true' } };

const project = (name: string, include: readonly string[], settings: object = {}) => ({
  extends: true as const,
  test: { name, include: [...include], ...settings },
});

export default defineConfig({
  test: {
    pool: 'forks',
    // Most tests wait for a server half of their time; four at once are too slow on two cores for what they measure.
    maxWorkers: 3,
    // Against what hangs, not against what is slow: other work may share the machine, too.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    projects: [
      project(
        'unit',
        files.filter((file) => !startsServers(file)),
        inOneProcess,
      ),
      project(
        'integration',
        files.filter((file) => startsServers(file)),
        { ...withServers, ...inOneProcess, ...inOneThread },
      ),
      project('journeys', ['test/journeys/**/*.test.ts'], {
        ...withServers,
        exclude: withoutPooler ? ['test/journeys/pooler.test.ts'] : [],
      }),
      project('outages', ['test/outages/**/*.test.ts'], withServers),
    ],
  },
});
