/** Causes that build up for days are brought about at once on a running stack: their alerts become pending within a minute. */
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { watchAlerts } from '../support/alert-watch.ts';
import { expiredCertificate } from '../support/certificates.ts';
import { startPrometheus, type Prometheus } from '../support/prometheus.ts';
import { startRawReceiver, type RawReceiver } from '../support/raw-receiver.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let proxy: RawReceiver;
let stack: TestStack;
let prometheus: Prometheus;
let watch: ReturnType<typeof watchAlerts>;
let database: pg.Client;

beforeAll(async () => {
  proxy = await startRawReceiver(() => undefined, expiredCertificate);
  stack = await startTestStack({ environment: { PUBLIC_URL: `https://localhost:${proxy.port}` } });
  const [, metricsPort] = /"metricsPort":(\d+),[^\n]*"worker ready"/.exec(stack.output()) ?? [];
  const targets = { api: new URL(stack.dev.baseUrl).host, worker: `127.0.0.1:${metricsPort}` };
  prometheus = await startPrometheus(targets, { everySeconds: 1 });
  watch = watchAlerts(prometheus);
  database = new pg.Client({ connectionString: stack.dev.databaseUrl });
  await database.connect();
}, 180_000);
afterAll(async () => {
  if (watch !== undefined) process.stdout.write(`${watch.report.join('\n')}\n`);
  await prometheus?.stop();
  await database?.end();
  await stack?.remove();
  await proxy?.close();
}, 90_000);

it('a certificate that has expired: CertificateExpires', async () => {
  const alert = await watch.fires('CertificateExpires', {}, async () => undefined);
  expect(alert.annotations['summary']).toMatch(/^The certificate of PUBLIC_URL expires in -\d+d/);
});

it('a standby that takes no more WAL: ReplicationBehind', async () => {
  await sleep(3_000);
  await watch.fires('ReplicationBehind', {}, async () => {
    await database.query(`SELECT pg_create_physical_replication_slot('standby', true)`);
    // Each switch leaves a segment of 16 MiB behind.
    for (let segment = 0; segment < 18; segment += 1) {
      await database.query('SELECT txid_current()');
      await database.query('SELECT pg_switch_wal()');
    }
  });
  await database.query(`SELECT pg_drop_replication_slot('standby')`);
  await watch.isQuiet('ReplicationBehind');
});

it('rows that vacuum does not freeze: TransactionIdsAge', async () => {
  await database.query('CREATE DATABASE aged');
  await watch.fires('TransactionIdsAge', {}, () =>
    database.query(`
      UPDATE pg_database SET datfrozenxid = ((txid_current() + 4294967296 - 600000000) % 4294967296)::text::xid
      WHERE datname = 'aged'`),
  );
  await database.query('DROP DATABASE aged WITH (FORCE)');
  await watch.isQuiet('TransactionIdsAge');
});
