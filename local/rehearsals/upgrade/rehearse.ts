/**
 * One rolling upgrade: a campaign sleeps and one is sent on the old release; the new build replays their workflows and migrates
 * the database; the new processes start beside the old ones, which then get SIGTERM; the new ones finish both campaigns.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  gatherEvidence,
  readGauges,
  readProviderTally,
  withClient,
  type CampaignGauges,
} from '../evidence.ts';
import { compareRecords } from '../verdict.ts';
import { createDemoApi } from '../../demo/api.ts';
import { createCampaign } from '../create-campaign.ts';
import type { CountingReceiver } from '../../demo/receiver.ts';
import { pickFreePorts } from '../../stack/host/free-port.ts';
import { seedWorkspace } from '../seed-workspace.ts';
import type { Balancer } from './balancer.ts';
import { drainAll, type Drained } from './drain.ts';
import { host, type Running, type UpgradeStack } from './upgrade-stack.ts';
import { startSteadyCaller } from './steady-caller.ts';

export interface RehearsalPlan {
  readonly recipients: number;
  readonly asleepRecipients: number;
  /**
   * Messages per second of the channel: slow while both releases run, so that the campaign outlasts the upgrade, then fast.
   */
  readonly rate: { readonly during: number; readonly after: number };
}

export interface Rehearsal {
  readonly plan: RehearsalPlan;
  /** Folders that hold a `dist`. */
  readonly oldFolder: string;
  readonly newFolder: string;
  readonly stack: UpgradeStack;
  readonly balancer: Balancer;
  readonly receiver: CountingReceiver;
  /** Log lines with this message, by process. */
  readonly said: (process: string, message: string) => readonly Readonly<Record<string, unknown>>[];
  readonly say: (line: string) => void;
  /** Collects every started process, so that all are stopped at the end. */
  readonly onStart: (running: Running) => void;
  readonly signal: AbortSignal;
}

const sideBySideMs = 2_000;
const pollMs = 100;
const patienceMs = 180_000;

/** Resolves to the problems found. */
export async function rehearseUpgrade(rehearsal: Rehearsal): Promise<readonly string[]> {
  const { plan, stack, balancer, say, signal } = rehearsal;
  const startedAt = performance.now();
  const old = await startRelease(rehearsal, 'old');
  // The sleeping campaign is due 20 s plus four times the duration of this start later, to leave time for the new processes' start.
  const sleepSeconds = 20 + Math.ceil(((performance.now() - startedAt) / 1_000) * 4);
  balancer.use([old.api.url]);
  const { apiKey, templateId, channelId } = await seedWorkspace({
    admin: stack.adminOf(rehearsal.oldFolder),
    apiUrl: old.api.url,
    rate: plan.rate.during,
    receiverUrl: rehearsal.receiver.url,
    name: 'Upgrade rehearsal',
  });
  const api = createDemoApi({ baseUrl: old.api.url, apiKey });
  const { id: sending } = await createCampaign(api, {
    name: 'In mid-send',
    templateId,
    recipients: plan.recipients,
  });
  const until = (id: string, enough: (gauges: CampaignGauges) => boolean) =>
    untilGauges({ databaseUrl: stack.databaseUrl, id, signal }, enough);

  await until(sending, ({ total, settled }) => total > 0 && settled * 20 > total);
  const dueAt = new Date(Date.now() + sleepSeconds * 1_000);
  const { id: asleep } = await createCampaign(api, {
    name: 'Asleep',
    templateId,
    recipients: plan.asleepRecipients,
    inSeconds: sleepSeconds,
  });
  const caller = startSteadyCaller(`${balancer.url}/api/campaigns/${sending}`, apiKey);
  // Rejects when the new build cannot replay the history of an open workflow.
  const { replayed } = await stack.adminOf(rehearsal.newFolder)('replay-open');
  say(`The new build replayed ${replayed} open workflows, none broken.`);
  say('A campaign is in mid-send, another one asleep. Migrating under that load …');
  const { applied = '' } = await stack.adminOf(rehearsal.newFolder)('migrate');
  say(
    `Migrated (${applied === '' ? 'nothing to do' : applied}). The new processes start beside the old ones …`,
  );
  const fresh = await startRelease(rehearsal, 'new');
  balancer.use([old.api.url, fresh.api.url]);
  await sleep(sideBySideMs, undefined, { signal });
  say('SIGTERM to the old ones …');
  const drained = await drainAll([old.api, old.worker]);
  const inTime = Date.now() < dueAt.getTime();
  const { status: statusThen } = await until(sending, () => true);
  say(`They have ended after ${describe(drained)}; the campaign is ${statusThen}.`);
  await stack.adminOf(rehearsal.newFolder)('update-channel', {
    'channel-id': channelId,
    'messages-per-second': String(plan.rate.after),
  });

  for (const id of [sending, asleep]) await until(id, ({ status }) => status === 'COMPLETED');
  const events = await waitForWebhooks(stack, signal);
  const { calls, failures } = await caller.stop();
  const last = await drainAll([fresh.api, fresh.worker]);
  say(
    `The new ones have ended after ${describe(last)}. ${calls} requests of a steady client, ${failures.length} failed.`,
  );

  const sentDeliveries = rehearsal.receiver.counts.get('sent') ?? 0;
  const pages = (name: string, id: string) =>
    rehearsal.said(name, 'outcomes recorded').filter(({ campaignId }) => campaignId === id).length;
  return [
    ...(await compareCampaigns(rehearsal, [sending, asleep])),
    ...(sentDeliveries === events ? [] : [`${sentDeliveries} webhooks for ${events} events`]),
    ...failures.map((failure) => `a request failed: ${failure}`),
    ...drained.flatMap(({ problems }) => problems),
    ...last.flatMap(({ problems }) => problems),
    // Checks that both releases did part of the work; otherwise the run proves nothing.
    ...(Number(replayed) > 0 ? [] : ['no open workflow was replayed']),
    ...(inTime ? [] : ['the old processes were still there when the sleeping campaign was due']),
    ...(pages('old-worker', sending) > 0 ? [] : ['the old worker has sent nothing']),
    ...(pages('new-worker', sending) > 0
      ? []
      : ['the new worker has sent nothing of the campaign in mid-send']),
    ...(pages('new-worker', asleep) > 0 ? [] : ['the new worker has sent nothing of the sleeping campaign']),
  ];
}

async function startRelease({ stack, oldFolder, newFolder, onStart }: Rehearsal, which: 'old' | 'new') {
  const folder = which === 'old' ? oldFolder : newFolder;
  if (which === 'old') await stack.adminOf(folder)('migrate');
  const [apiPort, workerPort] = await pickFreePorts(host, 2);
  const start = async (kind: 'api' | 'worker', port: number) => {
    const running = await stack.start({ name: `${which}-${kind}`, kind, folder, port });
    onStart(running);
    return running;
  };
  const [api, worker] = await Promise.all([start('api', apiPort), start('worker', workerPort)]);
  return { api, worker };
}

async function untilGauges(
  {
    databaseUrl,
    id,
    signal,
  }: { readonly databaseUrl: string; readonly id: string; readonly signal: AbortSignal },
  enough: (gauges: CampaignGauges) => boolean,
): Promise<CampaignGauges> {
  const startedAt = performance.now();
  for (;;) {
    const gauges = await readGauges({ databaseUrl }, id);
    if (gauges !== undefined && enough(gauges)) return gauges;
    if (gauges?.status === 'FAILED' || performance.now() - startedAt > patienceMs)
      throw new Error(`A campaign did not progress beyond ${gauges?.status}`);
    await sleep(pollMs, undefined, { signal });
  }
}

/** Longer than the simulator takes between two statuses. */
const quietMs = 6_000;

/** Waits until no event and no delivery has been added for a while; returns the number of events. */
async function waitForWebhooks({ databaseUrl }: UpgradeStack, signal: AbortSignal): Promise<number> {
  const startedAt = performance.now();
  const read = () =>
    withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ readonly events: number; readonly open: number }>(
        `SELECT (SELECT count(*) FROM event)::int AS events,
          ((SELECT count(*) FROM event WHERE fanned_out_at IS NULL)
            + (SELECT count(*) FROM webhook_delivery WHERE state IN ('pending', 'sending')))::int AS open`,
      );
      return rows[0] ?? { events: 0, open: 0 };
    });
  let last = await read();
  let quietSince = performance.now();
  while (performance.now() - quietSince < quietMs && performance.now() - startedAt < patienceMs) {
    await sleep(pollMs, undefined, { signal });
    const now = await read();
    if (now.open > 0 || now.events !== last.events) quietSince = performance.now();
    last = now;
  }
  return last.events;
}

async function compareCampaigns(
  { plan, stack, say }: Rehearsal,
  campaignIds: readonly string[],
): Promise<readonly string[]> {
  const verdicts = await Promise.all(
    campaignIds.map(async (campaignId) =>
      compareRecords(await gatherEvidence(stack, { campaignId, expected: null })),
    ),
  );
  const { accepted } = await readProviderTally(stack.providerUrl);
  const expected = plan.recipients + plan.asleepRecipients;
  const sum = (of: (verdict: (typeof verdicts)[number]) => number) =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0);
  const [lost, doubled, unknown] = [
    sum((one) => one.lost),
    Math.max(...verdicts.map((one) => one.doubled)),
    sum((one) => one.unknown),
  ];
  say(`lost ${lost}, doubled ${doubled}, unknown ${unknown}; the provider took ${accepted} of ${expected}`);
  return [
    ...new Set(verdicts.flatMap(({ problems }) => problems)),
    ...(accepted === expected ? [] : [`the provider took ${accepted} messages for ${expected} recipients`]),
    ...(unknown === 0 ? [] : [`${unknown} outcomes are unknown after an orderly end`]),
  ];
}

function describe(drained: readonly Drained[]): string {
  return drained.map(({ name, ms }) => `${(ms / 1000).toFixed(1)} s (${name})`).join(' and ');
}
