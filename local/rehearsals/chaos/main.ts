/**
 * `npm run chaos`: during a campaign against the simulator, kills worker, API, Temporal and Postgres with SIGKILL at seeded
 * random times, or cuts what they depend on for a while. Then compares the simulator's list of messages with our records. Exits
 * 0 only when no recipient was lost or sent to twice, every uncertain recipient is UNKNOWN until its receipt settles it, and
 * the books are sound.
 */
import { retry, retryDelayMs } from '../../../src/domain/sending/provider-error.ts';
import {
  createChaosCampaign,
  liveDevFile,
  untilVerdict,
  untilGauges,
  type WatchedCampaign,
} from './campaign.ts';
import { readProviderRate } from '../evidence.ts';
import { createOutageRelays, type OutageRelays } from './outage-relays.ts';
import { outages as outageTable } from './outages.ts';
import { chaosOptions, chaosUsage, readChaosPlan, type ChaosPlan } from './plan.ts';
import { runKills } from './run-kills.ts';
import { runOutages } from './run-outages.ts';
import { createShareCount } from './share-count.ts';
import { rehearse, type RehearsalContext } from '../rehearsal.ts';
import { workerNames } from '../../stack/context.ts';
import { startStack } from '../../stack/stack.ts';

const graceSeconds = 10;
const providerTimeoutMs = 10_000;
const recoveryLimitMs = 30_000;
/** The longest retry delay of a message: the provider rejected every attempt but the last. */
const longestRetryMs = retryDelayMs(retry, retry.attempts - 1);
/**
 * Most messages that the provider may receive in one second, as a multiple of the channel's limit. Arrival times on a busy
 * machine bunch up; `npm run bench -- latency` checks the exact limit.
 */
const rateTolerance = 1.2;

/** Resolves to everything that was wrong. */
async function breakThings(context: RehearsalContext): Promise<readonly string[]> {
  const plan = readChaosPlan(context.options);
  const environment = {
    OUTCOME_GRACE_SECONDS: String(graceSeconds),
    PROVIDER_TIMEOUT_MS: String(providerTimeoutMs),
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
  };
  const relays = createOutageRelays();
  const shares = createShareCount();
  const stack = await startStack({
    settings: context.stackSettings(environment, ['--workers', String(plan.workers)]),
    progress: context.progress,
    log: shares.log,
    signal: context.signal,
    ...(plan.outages.length > 0 && { reachThrough: relays.reachThrough }),
  });
  try {
    const problems = await run(plan, context, relays);
    const sent = [...shares.recorded].map(([name, count]) => `${name} ${count}`).join(', ');
    context.progress.say(`recorded by ${sent}`);
    const quiet = plan.kills === 0;
    return [
      ...problems,
      ...(quiet ? shares.deaths : []),
      ...(quiet ? idleWorkers(plan, shares.recorded) : []),
    ];
  } finally {
    await stack.stop();
    await relays.close();
  }
}

/** Workers that did less than a quarter of their fair share. */
function idleWorkers({ workers }: ChaosPlan, recorded: ReadonlyMap<string, number>): readonly string[] {
  const total = [...recorded.values()].reduce((sum, count) => sum + count, 0);
  return workerNames(workers)
    .filter((name) => (recorded.get(name) ?? 0) < total / workers / 4)
    .map((name) => `${name} recorded only ${recorded.get(name) ?? 0} of ${total}`);
}

async function run(
  plan: ChaosPlan,
  { folder: dataDir, signal, progress: { say } }: RehearsalContext,
  relays: OutageRelays,
): Promise<readonly string[]> {
  const campaign = await createChaosCampaign(dataDir, { ...plan, signal });
  say(`Campaign ${campaign.campaignId}: ${plan.recipients} recipients at ${plan.rate}/s, seed ${plan.seed}`);
  const problems: string[] = [];
  if (plan.outages.length > 0) {
    problems.push(
      ...(await runOutages(campaign, {
        kinds: plan.outages,
        seconds: plan.seconds,
        rate: plan.rate,
        target: relays.opened(),
        say,
      })),
    );
  }
  if (plan.kills > 0) {
    const counts = await runKills(campaign, { ...plan, say });
    say(`killed: ${[...counts].map(([victim, count]) => `${victim} ${count}`).join(', ')}`);
  }
  problems.push(...(await untilDone(plan, campaign, say)));
  const verdict = await untilVerdict(campaign);
  say(
    `lost ${verdict.lost}, doubled ${verdict.doubled}, unknown ${verdict.unknown} ` +
      `(${verdict.unsettled} of them not settled by receipts)`,
  );
  return [...problems, ...verdict.problems];
}

async function untilDone(
  { rate, kills, outages }: ChaosPlan,
  campaign: WatchedCampaign,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const [since, sinceEpoch] = [performance.now(), Date.now()];
  const { total, settled } = await untilGauges(campaign, () => true);
  await untilGauges(campaign, ({ status }) => status === 'COMPLETED');
  const doneMs = performance.now() - since;
  const { lastAt, busiestSecond } = await readProviderRate((await liveDevFile(campaign.dataDir)).providerUrl);
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const what = kills > 0 ? 'kill' : 'outage';
  say(
    `done ${seconds(doneMs)} s after the last ${what} with ${total - settled} messages to go; the provider took the last ` +
      `one after ${seconds(Math.max(0, lastAt - sinceEpoch))} s, at most ${busiestSecond} in a second`,
  );
  // After an outage the rest of the campaign is allowed its time at the full rate; after the last kill little is left.
  const backlogMs = kills > 0 ? 0 : ((total - settled) / rate) * 1000;
  const recoveryMs = Math.max(recoveryLimitMs, ...outages.map((kind) => outageTable[kind].recoveryMs));
  const allowedMs = recoveryMs + Math.max(backlogMs, outages.includes('provider-503') ? longestRetryMs : 0);
  return [
    ...(kills + outages.length > 0 && doneMs > allowedMs
      ? [`done only ${Math.round(doneMs / 1000)} s after the last ${what}`]
      : []),
    ...(busiestSecond > Math.ceil(rate * rateTolerance)
      ? [`${busiestSecond} messages in a second at ${rate}/s`]
      : []),
  ];
}

// These modules run their own rehearsal and end the process.
if (process.argv.includes('--webhooks')) await import('./webhooks.ts');
if (process.argv.includes('--cluster')) await import('./cluster.ts');
await rehearse({
  name: 'chaos',
  usage: chaosUsage,
  options: chaosOptions,
  sound: 'No recipient was lost or sent to twice, and the books are sound.',
  run: breakThings,
});
