/**
 * Creates a campaign that waits for its start, prepared unless `unprepared`; its workflow runs with the real activities on a
 * real server.
 */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkerOptions, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import { createCampaignActivities } from '../../src/activities/campaign.ts';
import type { Dependencies } from '../../src/dependencies.ts';
import type { CampaignSnapshot } from '../../src/domain/campaigns/snapshot.ts';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import type { Database } from '../../src/records/database/database.ts';
import { nothing } from '../../src/records/database/row.ts';
import { campaignWorkflowId, taskQueues } from '../../src/workflows/contract.ts';
import { seedCampaign, type CampaignSeed, type SeededCampaign } from './campaign-factory.ts';
import { createFakeProvider, type Answer, type FakeProvider } from './fake-provider.ts';
import { sendingDependencies } from './sending-dependencies.ts';
import { testOrchestrator } from './test-orchestrator.ts';

export interface TestServers {
  readonly database: Database;
  /** Needed by preparations only. */
  readonly databaseUrl?: string;
  readonly temporal: TestWorkflowEnvironment;
  readonly workflowBundle: WorkflowBundleWithSourceMap;
}

export type CampaignFixtureSeed = CampaignSeed & {
  readonly scheduledInMs?: number;
  readonly answer?: Answer;
  /** Without recipients: the workflow's preparation step creates them. */
  readonly unprepared?: boolean;
};

export interface CampaignFixture {
  readonly campaignId: string;
  readonly dependencies: Dependencies;
  readonly provider: FakeProvider;
  readonly snapshot: () => Promise<CampaignSnapshot>;
  readonly start: () => Promise<void>;
  /** Runs a worker while `work` is under way. */
  readonly withWorker: <T>(work: () => Promise<T>, options?: Partial<WorkerOptions>) => Promise<T>;
  /** Result of the workflow. Of a cancelled campaign, whose workflow ends as cancelled, the snapshot of its record. */
  readonly result: () => Promise<CampaignSnapshot>;
  /** Result of the workflow's `progress` query. */
  readonly progress: () => Promise<CampaignSnapshot | null>;
}

export async function createCampaignFixture(
  { database, databaseUrl = '', temporal, workflowBundle }: TestServers,
  seed: CampaignFixtureSeed,
): Promise<CampaignFixture> {
  const seeded = await seedCampaign(database, { status: 'DRAFT', ...seed });
  const { campaignId, workspaceId } = seeded;
  if (seed.scheduledInMs !== undefined) {
    const at = new Date((await temporal.currentTimeMs()) + seed.scheduledInMs).toISOString();
    await database.query(sql.type(nothing)`
      UPDATE campaign SET status = 'SCHEDULED', send_type = 'SCHEDULED', scheduled_at = ${at}::timestamptz
      WHERE id = ${campaignId}`);
  }
  if (seed.unprepared === true) await unprepare(database, seeded, seed.recipients);
  const provider = createFakeProvider(seed.answer);
  const orchestrator = testOrchestrator(temporal.client);
  const dependencies = sendingDependencies({ database, provider, orchestrator, config: { databaseUrl } });
  return {
    campaignId,
    dependencies,
    provider,
    snapshot: () => getCampaignSnapshot(database, campaignId),
    start: () => orchestrator.startCampaign({ id: campaignId, workspaceId, name: 'Test' }),
    withWorker: async (work, options) => {
      const worker = await Worker.create({
        connection: temporal.nativeConnection,
        taskQueue: taskQueues.campaigns,
        workflowBundle,
        activities: createCampaignActivities(dependencies, { draining: () => false }),
        ...options,
      });
      return worker.runUntil(work());
    },
    result: async () => {
      const handle = temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));
      try {
        return await handle.result();
      } catch (error) {
        const snapshot = await getCampaignSnapshot(database, campaignId);
        if ((await handle.describe()).status.name !== 'CANCELLED' || snapshot.status !== 'CANCELLED')
          throw error;
        return snapshot;
      }
    },
    progress: () => temporal.client.workflow.getHandle(campaignWorkflowId(campaignId)).query('progress'),
  };
}

async function unprepare(
  database: Database,
  { campaignId }: SeededCampaign,
  recipients: number,
): Promise<void> {
  const numbers = Array.from({ length: recipients }, (_, index) => `+49151${10_000_000 + index},Ada`);
  for (const statement of [
    sql.fragment`DELETE FROM recipient WHERE campaign_id = ${campaignId}`,
    sql.fragment`UPDATE campaign_counter SET pending = 0 WHERE campaign_id = ${campaignId}`,
    sql.fragment`UPDATE campaign SET preparation_status = 'PREPARING', total_contacts = 0, message_plan = NULL
      WHERE id = ${campaignId}`,
    sql.fragment`INSERT INTO campaign_input (campaign_id, content) VALUES (${campaignId}, ${JSON.stringify(numbers)})`,
  ])
    await database.query(sql.type(nothing)`${statement}`);
}

const longestWaitMs = 60_000;

export async function until(condition: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < longestWaitMs) {
    if (await condition()) return;
    await sleep(50);
  }
  throw new Error('What the test waits for did not come');
}
