/**
 * `npm run chaos`: kills worker, API, Temporal and Postgres with SIGKILL, by seeded chance, while a campaign runs against
 * the simulator, then compares the simulator's own list with ours. Exits 0 only when nobody was lost or doubled, every
 * uncertain recipient is said to be UNKNOWN and is settled by its receipts, and the ledger sums up to the balance.
 */
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createRandom } from './chaos/random.ts';
import { gatherEvidence, readStanding, withClient, type Standing } from './chaos/evidence.ts';
import { judgeChaos, type Verdict } from './chaos/verdict.ts';
import { createDemoApi } from './demo-api.ts';
import { readDevFile, type DevFile, type OwnedProcess } from './dev-file.ts';
import { createProgress } from './progress.ts';
import { startStack } from './stack.ts';
import { createStackLog } from './stack-log.ts';
import { readStackSettings } from './stack-settings.ts';

const usage = `npm run chaos [-- --recipients 20000 --kills 20 --seed 1 --rate 300]\n`;
const graceSeconds = 10;
const victims: readonly OwnedProcess[] = ['worker', 'api', 'temporal', 'postgres'];
const recoveryLimitMs = 30_000;
const settleLimitMs = 90_000;

const whole = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    recipients: { ...whole, default: '20000' },
    kills: { ...whole, default: '20' },
    seed: { ...whole, default: '1' },
    rate: { ...whole, default: '300' },
    help: { type: 'boolean', default: false },
  },
});

interface Plan {
  readonly recipients: number;
  readonly kills: number;
  readonly seed: number;
  readonly rate: number;
}

async function main(plan: Plan): Promise<boolean> {
  const dataDir = mkdtempSync(join(tmpdir(), 'messaging-campaigns-chaos-'));
  chmodSync(dataDir, 0o711);
  const environment = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    TEMPORAL_UI_PORT: '0',
    OUTCOME_GRACE_SECONDS: String(graceSeconds),
    LOG_LEVEL: 'fatal',
  };
  const settings = readStackSettings(environment, [], false);
  if ('help' in settings) return true;
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const progress = createProgress(process.stdout);
  const stack = await startStack({
    settings,
    progress,
    log: createStackLog('json', { write: () => undefined, now: () => new Date() }),
    signal: interrupted.signal,
  });
  try {
    return await runChaos(plan, dataDir, interrupted.signal);
  } finally {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function runChaos(plan: Plan, dataDir: string, signal: AbortSignal): Promise<boolean> {
  const dev = await liveDevFile(dataDir);
  await withClient(dev.databaseUrl, (client) =>
    client.query('UPDATE channel SET messages_per_second = $1', [plan.rate]),
  );
  const campaignId = await createCampaign(dev, plan);
  process.stdout.write(
    `Campaign ${campaignId}: ${plan.recipients} recipients at ${plan.rate}/s, seed ${plan.seed}\n`,
  );
  const random = createRandom(plan.seed);
  const counts = new Map<OwnedProcess, number>();
  for (let kill = 1; kill <= plan.kills; kill += 1) {
    await untilProgress(dev, campaignId, (plan.recipients * kill) / (plan.kills + 1), signal);
    await sleep(random() * 300);
    const victim = victims[Math.floor(random() * victims.length)] ?? 'worker';
    if (await killNow(dataDir, victim)) counts.set(victim, (counts.get(victim) ?? 0) + 1);
    process.stdout.write(`kill ${kill}: ${victim}\n`);
  }
  const lastKillAt = performance.now();
  const left = await remaining(dev, campaignId);
  await untilStatus(dev, campaignId, signal);
  const recoveryMs = performance.now() - lastKillAt - (left / plan.rate) * 1000;
  const verdict = await untilSettled(await liveDevFile(dataDir), campaignId);
  return report({ verdict, counts, recoveryMs });
}

async function createCampaign(dev: DevFile, { recipients }: Plan): Promise<string> {
  const api = createDemoApi(dev);
  const lines = Array.from({ length: recipients }, (_, index) => `+49151${String(10_000_000 + index)},DE`);
  const created = await api.post('/api/campaigns/auto-trigger', {
    name: 'Chaos',
    template_id: dev.templateIds['plain_notice'],
    contact_selection_type: 'csv_contacts',
    csv_contacts_string: ['phone,country', ...lines].join('\n'),
    csv_mapping: { phone_column: 0, country_code_column: 1 },
    send_type: 'IMMEDIATE',
  });
  return (created.data as { campaign: { id: string } }).campaign.id;
}

/** The stack removes and rewrites dev.json around a restart. */
async function liveDevFile(dataDir: string): Promise<DevFile> {
  for (;;) {
    const dev = readDevFile(dataDir);
    if (dev !== undefined) return dev;
    await sleep(100);
  }
}

async function killNow(dataDir: string, victim: OwnedProcess): Promise<boolean> {
  const pid = (await liveDevFile(dataDir)).pids[victim];
  if (pid === undefined) return false;
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // Already dead: the supervisor is about to start it again.
    return false;
  }
}

async function standing(dev: DevFile, campaignId: string): Promise<Standing | undefined> {
  return readStanding(dev, campaignId).catch(() => undefined);
}

async function untilProgress(
  dev: DevFile,
  campaignId: string,
  settled: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const now = await standing(dev, campaignId);
    if (now !== undefined && (now.settled >= settled || now.status === 'COMPLETED')) return;
    await sleep(100);
  }
}

async function remaining(dev: DevFile, campaignId: string): Promise<number> {
  for (;;) {
    const now = await standing(dev, campaignId);
    if (now !== undefined) return now.total - now.settled;
    await sleep(100);
  }
}

async function untilStatus(dev: DevFile, campaignId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const now = await standing(dev, campaignId);
    if (now?.status === 'COMPLETED') return;
    if (now?.status === 'FAILED') throw new Error('The campaign failed in its preparation');
    await sleep(100);
  }
}

/** Receipts may still be on their way, through callbacks that the simulator tries again. */
async function untilSettled(dev: DevFile, campaignId: string): Promise<Verdict> {
  const deadline = performance.now() + settleLimitMs;
  for (;;) {
    const verdict = judgeChaos(await gatherEvidence(dev, campaignId));
    if (verdict.problems.length === 0 || performance.now() > deadline) return verdict;
    await sleep(1_000);
  }
}

function report({
  verdict,
  counts,
  recoveryMs,
}: {
  readonly verdict: Verdict;
  readonly counts: ReadonlyMap<OwnedProcess, number>;
  readonly recoveryMs: number;
}): boolean {
  const kills = [...counts].map(([victim, count]) => `${victim} ${count}`).join(', ');
  const late = recoveryMs > recoveryLimitMs;
  const problems = [
    ...verdict.problems,
    ...(late ? [`done only ${Math.round(recoveryMs / 1000)} s after the last kill`] : []),
  ];
  process.stdout.write(
    `killed: ${kills}\nlost ${verdict.lost}, doubled ${verdict.doubled}, unknown ${verdict.unknown} ` +
      `(${verdict.unsettled} of them not settled by receipts)\n` +
      `done ${(recoveryMs / 1000).toFixed(1)} s after the last kill, sending time not counted\n` +
      (problems.length === 0
        ? 'Nobody was lost or doubled, and the books are sound.\n'
        : `NOT SOUND: ${problems.join('; ')}\n`),
  );
  return problems.length === 0;
}

if (values.help) {
  process.stdout.write(usage);
} else {
  const sound = await main({
    recipients: Number(values.recipients),
    kills: Number(values.kills),
    seed: Number(values.seed),
    rate: Number(values.rate),
  });
  process.exitCode = sound ? 0 : 1;
}
process.exit();
