/** A worker in the test's own process that does what the workflow asks for, and can be killed between any two steps. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beginCampaign } from '../../src/commands/campaigns/begin-campaign.ts';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { cancelRecipients, settleCampaign } from '../../src/commands/campaigns/settle-campaign.ts';
import type { MessagingProvider } from '../../src/provider/provider.ts';
import { getCampaignSnapshot } from '../../src/records/campaigns/campaign-snapshot.ts';
import { createDatabase, type Database } from '../../src/records/database/database.ts';
import { sendingDependencies } from '../support/sending-dependencies.ts';

export interface MortalWorker {
  /** Stops everything in flight: statements, requests, responses. */
  readonly kill: () => Promise<void>;
  /** Ends its work in order. */
  readonly stop: () => Promise<void>;
}

export interface MortalWorkerOptions {
  readonly databaseUrl: string;
  readonly provider: MessagingProvider;
  readonly campaignIds: readonly string[];
  readonly graceSeconds: number;
  /** `application_name` of its connections. */
  readonly name: string;
}

const never = new Promise<never>(() => undefined);
const lanes = 2;
const stepMs = 400;
const idleMs = 20;

export async function startMortalWorker({
  databaseUrl,
  provider,
  campaignIds,
  graceSeconds,
  name,
}: MortalWorkerOptions): Promise<MortalWorker> {
  const url = new URL(databaseUrl);
  url.searchParams.set('application_name', name);
  const pool = await createDatabase(url.href, 8);
  let dead = false;
  let draining = false;
  /** A killed worker sends no requests and receives no answers. */
  const mortal = <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) => {
    return async (...given: Given): Promise<Answer> => {
      if (dead) return never;
      try {
        const answer = await call(...given);
        return dead ? await never : answer;
      } catch (error) {
        if (dead) return never;
        throw error;
      }
    };
  };
  const database = new Proxy(pool, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? mortal(member.bind(target) as () => Promise<unknown>) : member;
    },
  }) as Database;
  const dependencies = sendingDependencies({
    database,
    provider: { ...provider, sendMessage: mortal(provider.sendMessage) },
    config: { outcomeGraceSeconds: graceSeconds, providerConnections: 32 },
  });

  const stepOf = async (campaignId: string): Promise<void> => {
    const { status } = await getCampaignSnapshot(database, campaignId);
    if (status === 'DRAFT') {
      await beginCampaign(dependencies, campaignId);
      return;
    }
    if (status === 'CANCELLED') {
      await cancelRecipients(dependencies, campaignId, () => undefined);
      return;
    }
    if (status !== 'RUNNING') {
      await settleCampaign(dependencies, campaignId);
      return;
    }
    const { drained } = await runSendStep(dependencies, campaignId, {
      budgetMs: stepMs,
      draining: () => draining,
    });
    if (drained) await settleCampaign(dependencies, campaignId);
  };
  const lane = async (campaignId: string): Promise<void> => {
    for (;;) {
      if (draining) return;
      // A database that was just killed under it: the workflow would try again.
      await stepOf(campaignId).catch(() => undefined);
      await sleep(idleMs);
    }
  };
  const running = campaignIds.flatMap((id) => Array.from({ length: lanes }, () => lane(id)));

  return {
    async kill() {
      dead = true;
      draining = true;
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
        [name],
      );
      await client.end();
    },
    async stop() {
      draining = true;
      await Promise.all(running);
      await pool.end();
    },
  };
}
