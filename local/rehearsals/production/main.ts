/**
 * `npm run production-topology`: the processes of docker-compose.yml without containers. A Temporal server on Postgres with
 * its Web UI, two API processes and two workers with NODE_ENV=production; drives campaigns and their webhooks through them,
 * stops one process of each kind in the middle, and compares what the provider received with what is recorded.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { startDemoReceiver, type DemoReceiver } from '../../demo/receiver.ts';
import { createProgress, type Progress } from '../../stack/progress.ts';
import { runCampaignRound } from './campaign-round.ts';
import { seedWorkspace } from '../seed-workspace.ts';
import { startTopology, type Topology } from './topology.ts';
import { createSupervisor, type Supervisor } from '../../stack/supervisor.ts';

const usage = 'npm run production-topology [-- --recipients 1500 --rate 150 --minutes 0 --keep]\n';

interface Plan {
  readonly recipients: number;
  readonly rate: number;
  /** Rounds are repeated for this long. */
  readonly minutes: number;
  /** Leaves everything running until Ctrl-C. */
  readonly keep: boolean;
}

async function main(plan: Plan): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-production-'));
  // The user of the embedded Postgres has to pass through.
  chmodSync(folder, 0o711);
  const progress = createProgress(process.stdout);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const complaints: string[] = [];
  const supervisor = createSupervisor({
    log: (line) => progress.say(line),
    onSpawn: () => undefined,
    onRestart: () => undefined,
  });
  const receiver = await startDemoReceiver();
  try {
    const topology = await startTopology({
      supervisor,
      progress,
      folder,
      environment: process.env,
      onLine: (line) => {
        if (/"level":"(error|fatal)"/.test(line) || !line.startsWith('{')) complaints.push(line);
      },
      signal: interrupted.signal,
    });
    progress.say(`API: ${topology.apiUrls.join(', ')}; Temporal's Web UI: ${topology.temporalUiUrl}`);
    const fine = await drive({ plan, topology, supervisor, receiver, progress, signal: interrupted.signal });
    for (const line of complaints.slice(0, 20)) progress.say(`said by a process: ${line}`);
    progress.say(`Error lines in the logs: ${complaints.length}`);
    if (plan.keep) await untilAborted(interrupted.signal);
    return fine && complaints.length === 0;
  } finally {
    await receiver.close();
    for (const names of [
      ['api-1', 'api-2', 'worker-1', 'worker-2'],
      ['provider'],
      ['temporal-ui', 'temporal'],
    ])
      await supervisor.stop(names);
    await supervisor.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Drive {
  readonly plan: Plan;
  readonly topology: Topology;
  readonly supervisor: Supervisor;
  readonly receiver: DemoReceiver;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function drive({ plan, topology, supervisor, receiver, progress, signal }: Drive): Promise<boolean> {
  const { apiKey, templateId } = await seedWorkspace({
    admin: topology.admin,
    apiUrl: topology.apiUrls[0] ?? '',
    rate: plan.rate,
    receiverUrl: receiver.url,
    name: 'Production topology',
  });
  const startedAt = performance.now();
  const problems: string[] = [];
  for (let round = 0; round === 0 || performance.now() - startedAt < plan.minutes * 60_000; round += 1) {
    const result = await runCampaignRound({
      topology,
      apiKey,
      receiver,
      templateId,
      recipients: plan.recipients,
      round,
      onTheWay: async () => (round === 0 ? restartOneOfEach(supervisor, progress) : undefined),
      signal,
    });
    problems.push(...result.problems);
    progress.say(
      `Round ${round + 1}: ${JSON.stringify(result.counters)}, sent in ${seconds(result.sentInMs)}, ` +
        `all webhooks after ${seconds(result.webhooksInMs)}${result.problems.map((problem) => `; ${problem}`).join('')}`,
    );
  }
  const workflows = await countWorkflows(topology);
  progress.say(`The Web UI lists ${workflows} workflows.`);
  return problems.length === 0 && workflows > 0;
}

/** SIGTERM as a deployment sends it; the supervisor starts the processes again. */
async function restartOneOfEach(supervisor: Supervisor, progress: Progress): Promise<void> {
  progress.say('In the middle of it: SIGTERM to worker-1 and api-2 …');
  const pids = supervisor.pids();
  for (const name of ['worker-1', 'api-2']) {
    const pid = pids[name];
    if (pid !== undefined) process.kill(pid, 'SIGTERM');
  }
}

async function countWorkflows({ temporalUiUrl, temporalNamespace }: Topology): Promise<number> {
  const { body } = await request(`${temporalUiUrl}/api/v1/namespaces/${temporalNamespace}/workflow-count`);
  return Number(((await body.json()) as { readonly count?: string }).count ?? 0);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

const whole = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    recipients: { ...whole, default: '1500' },
    rate: { ...whole, default: '150' },
    minutes: { ...whole, default: '0' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
} else {
  try {
    const fine = await main({
      recipients: Number(values.recipients),
      rate: Number(values.rate),
      minutes: Number(values.minutes),
      keep: values.keep,
    });
    process.stdout.write(fine ? 'All right.\n' : 'Not all right: see above.\n');
    process.exitCode = fine ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
