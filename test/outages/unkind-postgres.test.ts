/** Postgres refuses statements: the worker keeps outcomes in memory, sends nothing new, and continues afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest';
import { createSendingFixture, type SendingFixture } from './sending-fixture.ts';

let fixture: SendingFixture;
let databaseName: string;
beforeAll(async () => {
  fixture = await createSendingFixture();
  databaseName = new URL(fixture.database.url).pathname.slice(1);
  await administer(`CREATE ROLE worker_${databaseName} LOGIN SUPERUSER PASSWORD 'worker'`);
});
afterEach(() => fixture.clear());
afterAll(async () => {
  await fixture?.close();
  await administer(`DROP ROLE worker_${databaseName}`);
});

async function administer(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    for (const statement of statements) {
      await client.query(statement);
    }
  } finally {
    await client.end();
  }
}

/** The worker has its own role, so that only its statements are refused. */
function workerUrl(): string {
  const url = new URL(fixture.database.url);
  [url.username, url.password] = [`worker_${databaseName}`, 'worker'];
  return url.href;
}

const endSessions = () =>
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker_${databaseName}'`;

const refusals = [
  {
    name: 'is read-only',
    code: '25006',
    begin: () => `ALTER ROLE worker_${databaseName} SET default_transaction_read_only = on`,
    end: () => `ALTER ROLE worker_${databaseName} RESET default_transaction_read_only`,
  },
  {
    name: 'has no connection left',
    code: '53300',
    begin: () => `ALTER ROLE worker_${databaseName} NOSUPERUSER CONNECTION LIMIT 0`,
    end: () => `ALTER ROLE worker_${databaseName} SUPERUSER CONNECTION LIMIT -1`,
  },
];

for (const { name, code, begin, end } of refusals) {
  it(`loses and repeats no recipient while Postgres ${name}`, async () => {
    const recipients = 300;
    const worker = await fixture.startWorker({
      name: 'worker',
      graceSeconds: 20,
      environment: { DATABASE_URL: workerUrl() },
    });
    const seeded = await fixture.startCampaign(recipients, 60);
    await expect.poll(() => fixture.provider.accepted.length).toBeGreaterThan(60);
    await administer(begin(), endSessions());
    await sleep(4_000);
    const meanwhile = fixture.provider.accepted.length;
    await sleep(1_000);
    await worker.says(` ${code}","msg":"loop failed, trying again"`);
    // A message is sent only after its claim is committed in Postgres.
    expect(fixture.provider.accepted.length).toBe(meanwhile);
    await administer(end(), endSessions());
    await fixture.untilCompleted(seeded);
    const { accepted } = await fixture.expectSound(seeded);
    // Outcomes of sent messages stayed in memory and were recorded later.
    expect(accepted).toBe(recipients);
    expect(worker.child.exitCode).toBeNull();
  });
}
