/**
 * `npm run production-topology`: the processes of docker-compose.yml without containers. A Temporal server on Postgres with
 * its Web UI, two API processes and two workers with NODE_ENV=production; drives campaigns and their webhooks through them,
 * stops one process of each kind in the middle, and compares what the provider received with what is recorded.
 */
import { request } from 'undici';
import { startCountingReceiver, type CountingReceiver } from '../../demo/receiver.ts';
import type { Progress } from '../../stack/progress.ts';
import { rehearse, type RehearsalContext } from '../rehearsal.ts';
import { runCampaignRound } from './campaign-round.ts';
import { seedWorkspace } from '../seed-workspace.ts';
import { startTopology, type Topology } from './topology.ts';
import { createSupervisor, type Supervisor } from '../../stack/children/supervisor.ts';

interface Plan {
  readonly recipients: number;
  readonly rate: number;
}

/** Resolves to everything that was wrong. */
async function runTopology({
  folder,
  signal,
  progress,
  options,
}: RehearsalContext): Promise<readonly string[]> {
  const complaints: string[] = [];
  const supervisor = createSupervisor({
    log: (line) => progress.say(line),
    onSpawn: () => undefined,
    onRestart: () => undefined,
  });
  const receiver = await startCountingReceiver('x-event-key');
  try {
    const topology = await startTopology({
      supervisor,
      progress,
      folder,
      environment: process.env,
      onLine: (line) => {
        if (/"level":"(error|fatal)"/.test(line) || !line.startsWith('{')) complaints.push(line);
      },
      signal,
    });
    progress.say(`API: ${topology.apiUrls.join(', ')}; Temporal's Web UI: ${topology.temporalUiUrl}`);
    const plan = { recipients: options.whole('recipients', 1500), rate: options.whole('rate', 150) };
    const problems = await drive({ plan, topology, supervisor, receiver, progress, signal });
    if (options.has('keep')) await untilAborted(signal);
    return [...problems, ...complaints.slice(0, 20).map((line) => `said by a process: ${line}`)];
  } finally {
    await receiver.close();
    for (const names of [
      ['api-1', 'api-2', 'worker-1', 'worker-2'],
      ['provider'],
      ['temporal-ui', 'temporal'],
    ])
      await supervisor.stop(names);
    await supervisor.stop();
  }
}

interface Drive {
  readonly plan: Plan;
  readonly topology: Topology;
  readonly supervisor: Supervisor;
  readonly receiver: CountingReceiver;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function drive({
  plan,
  topology,
  supervisor,
  receiver,
  progress,
  signal,
}: Drive): Promise<readonly string[]> {
  const { apiKey, templateId } = await seedWorkspace({
    admin: topology.admin,
    apiUrl: topology.apiUrls[0] ?? '',
    rate: plan.rate,
    receiverUrl: receiver.url,
    name: 'Production topology',
  });
  const { counters, sentInMs, webhooksInMs, problems } = await runCampaignRound({
    topology,
    apiKey,
    receiver,
    templateId,
    recipients: plan.recipients,
    onTheWay: () => restartOneOfEach(supervisor, progress),
    signal,
  });
  progress.say(
    `${JSON.stringify(counters)}, sent in ${seconds(sentInMs)}, all webhooks after ${seconds(webhooksInMs)}`,
  );
  const workflows = await countWorkflows(topology);
  progress.say(`The Web UI lists ${workflows} workflows.`);
  return workflows > 0 ? problems : [...problems, 'the Web UI lists no workflow'];
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

await rehearse({
  name: 'production',
  usage:
    'npm run production-topology [-- --recipients 1500 --rate 150 --keep]; --keep leaves it running until Ctrl-C\n',
  options: ['recipients', 'rate'],
  flags: ['keep'],
  sound: 'All right.',
  run: runTopology,
});
