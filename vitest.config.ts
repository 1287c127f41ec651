import { defineConfig } from 'vitest/config';
import { findPgbouncer } from './test/support/find-pgbouncer.ts';

// Checks that must be whole (CI=true) do not leave these out: without PgBouncer they fail.
const withoutPooler = findPgbouncer() === undefined && process.env['CI'] !== 'true';
if (withoutPooler)
  process.stderr.write(
    'Left out: test/pooler, as there is no pgbouncer here (Debian: apt-get install pgbouncer).\n',
  );

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: withoutPooler ? ['test/pooler/**'] : [],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Postgres and the Temporal servers of the tests share the machine with the tests themselves.
    maxWorkers: 2,
    // Against what hangs, not against what is slow: other work may share the machine, too.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
