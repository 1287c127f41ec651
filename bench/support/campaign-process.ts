/** A worker's sending and preparing in a process of its own, forked from this file. */
import { fork } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import { createDependencies, type OpenDependencies } from '../../src/dependencies.ts';
import { benchConfig } from './bench-config.ts';
import { sendCampaign } from './send-campaign.ts';

/** Event-loop delay in milliseconds since the last reading. */
export interface Lag {
  readonly p99: number;
  readonly longest: number;
}

export interface CampaignProcess {
  /** Resolves when the campaign is drained. */
  readonly send: (campaignId: string) => Promise<void>;
  /** Resolves when the campaign is prepared. */
  readonly prepare: (campaignId: string) => Promise<void>;
  readonly lag: () => Promise<Lag>;
  readonly stop: () => Promise<void>;
}

export interface CampaignProcessOptions {
  readonly databaseUrl: string;
  readonly providerBaseUrl: string;
  /** Where the campaigns' files are. */
  readonly dataDir: string;
}

interface Task {
  readonly number: number;
  readonly kind: 'send' | 'prepare' | 'lag';
  readonly campaignId: string;
}

interface Done {
  readonly number: number;
  readonly lag?: Lag;
  readonly error?: string;
}

export async function startCampaignProcess(options: CampaignProcessOptions): Promise<CampaignProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', JSON.stringify(options)]);
  const waiting = new Map<number, (done: Done) => void>();
  let last = 0;
  const ready = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.on('message', (done: Done) => {
      if (done.number === 0) resolve();
      else waiting.get(done.number)?.(done);
    });
  });
  await ready;
  const ask = async (kind: Task['kind'], campaignId = ''): Promise<Done> => {
    last += 1;
    const task: Task = { number: last, kind, campaignId };
    const done = await new Promise<Done>((resolve) => {
      waiting.set(task.number, resolve);
      child.send(task);
    });
    if (done.error !== undefined) throw new Error(`${kind}: ${done.error}`);
    return done;
  };
  return {
    send: async (campaignId) => void (await ask('send', campaignId)),
    prepare: async (campaignId) => void (await ask('prepare', campaignId)),
    lag: async () => (await ask('lag')).lag ?? { p99: Number.NaN, longest: Number.NaN },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

async function serve({ databaseUrl, providerBaseUrl, dataDir }: CampaignProcessOptions): Promise<void> {
  const dependencies = await createDependencies(
    benchConfig(databaseUrl, { PROVIDER_BASE_URL: providerBaseUrl, DATA_DIR: dataDir }),
    'bench',
  );
  const perform = work(dependencies);
  process.on('message', ({ number, kind, campaignId }: Task) => {
    perform[kind](campaignId).then(
      (lag) => process.send?.({ number, ...(lag !== undefined && { lag }) }),
      (error: unknown) => process.send?.({ number, error: String(error) }),
    );
  });
  process.once('disconnect', () => process.exit(0));
  process.send?.({ number: 0 });
}

function work(dependencies: OpenDependencies) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const signal = new AbortController().signal;
  return {
    send: async (campaignId: string): Promise<undefined> => {
      await sendCampaign(dependencies, campaignId);
    },
    prepare: async (campaignId: string): Promise<undefined> => {
      await prepareCampaign(dependencies, campaignId, { heartbeat: () => undefined, signal });
    },
    lag: async (): Promise<Lag> => {
      const lag = { p99: delay.percentile(99) / 1e6, longest: delay.max / 1e6 };
      delay.reset();
      return lag;
    },
  };
}

const [mode, options = '{}'] = process.argv.slice(2);
if (mode === 'serve') await serve(JSON.parse(options) as CampaignProcessOptions);
