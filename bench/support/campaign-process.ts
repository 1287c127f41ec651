/** A worker's sending in a process of its own, forked from this file: told of a campaign, it sends it. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createDependencies } from '../../src/dependencies.ts';
import { benchConfig } from './bench-config.ts';
import { sendCampaign } from './send-campaign.ts';

export interface CampaignProcess {
  /** Resolves when the campaign is drained. */
  readonly send: (campaignId: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startCampaignProcess(databaseUrl: string, baseUrl: string): Promise<CampaignProcess> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', databaseUrl, baseUrl]);
  const waiting = new Map<string, () => void>();
  const ready = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.on('message', (told: string) => {
      if (told === 'ready') resolve();
      else waiting.get(told)?.();
    });
  });
  await ready;
  return {
    send: (campaignId) =>
      new Promise((resolve) => {
        waiting.set(campaignId, resolve);
        child.send(campaignId);
      }),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

async function serve(databaseUrl: string, baseUrl: string): Promise<void> {
  const dependencies = await createDependencies(
    benchConfig(databaseUrl, { PROVIDER_BASE_URL: baseUrl }),
    'bench',
  );
  let draining = false;
  process.on('message', (campaignId) => {
    void sendCampaign(dependencies, String(campaignId), () => draining).then(() =>
      process.send?.(campaignId),
    );
  });
  process.once('disconnect', () => {
    draining = true;
    process.exit(0);
  });
  process.send?.('ready');
}

const [mode, databaseUrl = '', baseUrl = ''] = process.argv.slice(2);
if (mode === 'serve') await serve(databaseUrl, baseUrl);
