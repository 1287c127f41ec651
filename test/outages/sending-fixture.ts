/** Worker processes of the build, and campaigns that they send to a recording provider. */
import { join, resolve } from 'node:path';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { expect } from 'vitest';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import { row } from '../../src/records/database/row.ts';
import {
  checkBooks,
  seedCampaign,
  testSecretsKey,
  type SeededCampaign,
} from '../support/campaign-factory.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTemporal } from '../support/temporal.ts';
import { testOrchestrator } from '../support/test-orchestrator.ts';
import { startProgram, type StartedProgram } from './child-process.ts';
import { startRecordingProvider } from './recording-provider.ts';

export interface WorkerOptions {
  /** Path segment by which the provider distinguishes the workers. */
  readonly name: string;
  readonly folder?: string;
  readonly graceSeconds?: number;
  readonly clock?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Settings of the server of `npm start`, and defaults since Temporal 1.32. */
const temporalSettings = [
  'system.enableActivityEagerExecution=true',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

export type SendingFixture = Awaited<ReturnType<typeof createSendingFixture>>;

export async function createSendingFixture(moreSettings: readonly string[] = []) {
  const [database, temporal, provider] = await Promise.all([
    createTestDatabase({ poolSize: 5 }),
    startTemporal([...temporalSettings, ...moreSettings]),
    startRecordingProvider(),
  ]);
  const running: StartedProgram[] = [];

  const statusOf = async ({ campaignId }: SeededCampaign) =>
    (await getCampaignSnapshot(database.pool, campaignId)).status;

  return {
    database,
    temporal,
    provider,
    statusOf,
    async startWorker({ name, folder = '.', graceSeconds = 60, clock, environment }: WorkerOptions) {
      const program = startProgram({
        path: join(folder, 'dist/src/worker.js'),
        environment: {
          DATABASE_URL: database.url,
          TEMPORAL_ADDRESS: temporal.address,
          TEMPORAL_NAMESPACE: temporal.namespace ?? 'default',
          PROVIDER_BASE_URL: `${provider.origin}/${name}`,
          SECRETS_KEY: testSecretsKey,
          OUTCOME_GRACE_SECONDS: String(graceSeconds),
          ...environment,
          ...clock,
        },
        ...(clock !== undefined && { preload: resolve('test/outages/shift-clock.mjs') }),
      });
      running.push(program);
      await program.says('worker ready');
      return program;
    },
    async startCampaign(recipients: number, messagesPerSecond: number): Promise<SeededCampaign> {
      const seeded = await seedCampaign(database.pool, { recipients, messagesPerSecond, status: 'DRAFT' });
      const orchestrator = testOrchestrator(temporal.client);
      await orchestrator.startCampaign({
        id: seeded.campaignId,
        workspaceId: seeded.workspaceId,
        name: 'Two',
      });
      return seeded;
    },
    async untilCompleted(seeded: SeededCampaign): Promise<void> {
      await expect.poll(() => statusOf(seeded), { timeout: 80_000, interval: 200 }).toBe('COMPLETED');
    },
    /** Checks that no recipient is lost or sent to twice, and that the books agree. */
    async expectSound(seeded: SeededCampaign) {
      const ids = provider.accepted.map(({ callbackData }) => callbackData);
      expect(new Set(ids).size).toBe(ids.length);
      // A worker that was stopped for longer than the grace period fails the messages that it had claimed and not sent.
      const unsent = await database.pool.any(sql.type(row(t.type({ id: t.string })))`
        SELECT id FROM recipient WHERE campaign_id = ${seeded.campaignId}
          AND (state = 'UNKNOWN' OR (state = 'FAILED' AND reason = 'PROVIDER_UNREACHABLE'))`);
      const settled = new Set([...ids, ...unsent.map(({ id }) => id)]);
      const { counts } = await getCampaignSnapshot(database.pool, seeded.campaignId);
      expect(settled.size).toBe(counts.total);
      expect(counts.accepted + counts.unknown + counts.failed).toBe(counts.total);
      const books = await checkBooks(database.pool, seeded);
      expect(books).toMatchObject({ counters_fit: true, ledger: books.balance, reserved: books.owed });
      return counts;
    },
    /** Resets the fixture between two tests. */
    async clear() {
      for (const { child } of running) child.kill('SIGKILL');
      await Promise.all(running.splice(0).map(({ ended }) => ended));
      provider.accepted.length = 0;
    },
    async close() {
      await provider.close();
      await temporal.teardown();
      await database.drop();
    },
  };
}
