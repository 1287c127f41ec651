/**
 * Six projects: `unit` needs no server, `integration` needs Postgres or Temporal, `slow` as well and takes more than 20 seconds a
 * file, `journeys` run the built stack, `outages` kill a process or cut a connection, `release` runs rehearsals, alerts, generated
 * clients, what measures a rate, and every case of what other projects sample. The last three are folders, `slow` files end in
 * .slow.test.ts; every other file is `unit` until its imports reach code that starts a server.
 */
import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { findPgbouncer } from './test/support/find-pgbouncer.ts';
import { hasPrometheus } from './test/support/find-prometheus.ts';
import { startsServers } from './test/support/servers-in-tests.ts';

// With CI=true tests behind a pooler are never left out: without PgBouncer they fail.
const withoutPooler = findPgbouncer() === undefined && process.env['CI'] !== 'true';
if (withoutPooler)
  process.stderr.write(
    'Left out: tests behind a pooler, because pgbouncer is not installed (Debian: apt-get install pgbouncer).\n',
  );

const withoutPrometheus = process.env['CI'] !== 'true' && !hasPrometheus();
if (withoutPrometheus)
  process.stderr.write(
    'Left out: whether the alerts ring, as there is no prometheus here (Debian: apt-get install prometheus).\n',
  );

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((file) => !/^test\/(journeys|outages|release)\/|\.slow\.test\.ts$/.test(file))
  .filter((file) => !(withoutPooler && file.startsWith('test/pooler/')));

const withServers = { globalSetup: ['test/support/global-setup.ts'] };

// Test files of one worker share imported modules: importing them again costs a second per file. No module may keep state that
// the next file would see.
const inOneProcess = { isolate: false };

// Temporal workers run workflows in the test's own thread: starting a thread takes a third of a second for each of sixty workers.
// Journeys and outages use threads, as production does.
const inOneThread = { env: { TEMPORAL_DEBUG: 'true' } };

// Files of other projects that `release` runs again with EVERY_CASE: there they sample, as all cases take minutes.
const sampling = [
  'test/api/frame/hostile-input.slow.test.ts',
  'test/commands/audience/opt-outs-beside-imports.slow.test.ts',
  'test/journeys/dashboard.test.ts',
  'test/journeys/start.test.ts',
  'test/journeys/webhook-receivers.test.ts',
  'test/outages/api-crash-points.test.ts',
  'test/outages/campaign-model.test.ts',
  'test/outages/crash-points.test.ts',
  'test/outages/killed-requests.test.ts',
];

// Journeys and outages start many programs in one test: the limit is for tests that hang.
const patient = { testTimeout: 600_000, hookTimeout: 600_000 };

const project = (name: string, include: readonly string[], settings: object = {}) => ({
  extends: true as const,
  test: { name, include: [...include], ...settings },
});

export default defineConfig({
  test: {
    pool: 'forks',
    // Most tests wait for a server half of their time. With four at once on two cores, tests that measure time fail.
    maxWorkers: 3,
    // Long enough for a busy machine: the limit is for tests that hang.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // Instead of one second, which a busy machine exceeds. What must not take long is measured by the test itself.
    expect: { poll: { timeout: 30_000 } },
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
      project('slow', ['test/**/*.slow.test.ts'], { ...withServers, ...inOneProcess, ...inOneThread }),
      project('journeys', ['test/journeys/**/*.test.ts'], { ...withServers, ...patient }),
      project('outages', ['test/outages/**/*.test.ts'], { ...withServers, ...patient }),
      project('release', ['test/release/**/*.test.ts', ...sampling], {
        ...withServers,
        ...patient,
        env: { EVERY_CASE: 'true' },
        fileParallelism: false,
        exclude: [
          ...(withoutPooler ? ['test/release/pooler.test.ts'] : []),
          ...(withoutPrometheus ? ['test/release/alerts.test.ts'] : []),
        ],
      }),
    ],
  },
});
