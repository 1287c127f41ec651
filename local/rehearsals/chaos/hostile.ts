/**
 * `npm run chaos -- --hostile`: one attack after the other beside an ordinary tenant. Exits 0 only when that tenant is
 * answered and told of its events in time throughout, and the processes do not grow.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { runAdmin } from '../../../src/admin/run-admin.ts';
import { sqlFolder } from '../../../src/records/database/sql-folder.ts';
import { readDevFile } from '../../stack/dev-file.ts';
import { createStackLog } from '../../stack/log.ts';
import { startStack } from '../../stack/stack.ts';
import { programMemory } from '../production/environment.ts';
import { rehearse } from '../scene.ts';
import { attacks, type AttackSite } from './attacks.ts';
import { startOrdinaryTenant } from './ordinary-tenant.ts';

const usage = `npm run chaos -- --hostile [options]

Lets tenants and strangers attack a stack of its own, beside a tenant that reads and writes a little.
  --seconds <n>       of each attack, default 10
  --only <name>       this attack alone
`;

const attackers = 4;
const restMs = 3_000;
interface Plan {
  /** Of each attack. */
  readonly seconds: number;
  readonly only: string | undefined;
  readonly say: (line: string) => void;
}

async function attackAll(dataDir: string, { seconds, only, say }: Plan): Promise<readonly string[]> {
  const dev = readDevFile(dataDir);
  if (dev === undefined) throw new Error('The stack is not ready');
  const keys: string[] = [];
  for (let number = 0; number < attackers; number += 1) keys.push(await makeKey(dataDir));
  const tenant = await startOrdinaryTenant(dev.baseUrl, await makeKey(dataDir));
  await sleep(seconds * 1_000);
  const alone = await tenant.times();
  say(`alone: answers p99 ${alone.answerMs} ms, events p99 ${alone.eventMs} ms`);
  const problems: string[] = [];
  for (const attack of attacks.filter(({ name }) => only === undefined || only === name)) {
    const before = memoryOf(dev.pids);
    const watch = watchMemory(dev.pids);
    await runApart({ name: attack.name, site: { baseUrl: dev.baseUrl, keys, seconds } });
    const times = await tenant.times();
    const most = watch.stop();
    const growth = { api: most.api - before.api, worker: most.worker - before.worker };
    say(
      `${attack.name}: answers p99 ${times.answerMs} ms, events p99 ${times.eventMs} ms, refused ${times.refused}, ` +
        `missing ${times.missing}, API +${growth.api} MB (${most.api}), worker +${growth.worker} MB (${most.worker})`,
    );
    if (times.answerMs > attack.answerMs) problems.push(`${attack.name}: answers took ${times.answerMs} ms`);
    if (times.eventMs > attack.eventMs) problems.push(`${attack.name}: events took ${times.eventMs} ms`);
    if (times.refused + times.missing > 0) problems.push(`${attack.name}: the tenant was refused`);
    for (const [name, megabytes] of Object.entries(growth))
      if (megabytes > attack.growthMb) problems.push(`${attack.name}: ${name} grew by ${megabytes} MB`);
    await sleep(restMs);
    await tenant.times();
  }
  await tenant.stop();
  return problems;
}

/** In a thread of its own: what the tenant waits for must not be the attackers' own work. */
async function runApart(order: { readonly name: string; readonly site: AttackSite }): Promise<void> {
  const thread = new Worker(new URL(import.meta.url), { workerData: order });
  await once(thread, 'exit');
}

async function makeKey(dataDir: string): Promise<string> {
  const { workspaceId } = await admin(dataDir, ['create-workspace', '--name', 'hostile run']);
  const place = ['--workspace-id', String(workspaceId), '--scope', 'workspace'];
  return String((await admin(dataDir, ['create-key', ...place]))['apiKey']);
}

async function admin(dataDir: string, args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  let output = '';
  let problem = '';
  const code = await runAdmin({
    args,
    environment: { DATA_DIR: dataDir },
    sqlFolder: sqlFolder(),
    out: (text) => (output += text),
    err: (text) => (problem += text),
  });
  if (code !== 0) throw new Error(problem);
  return JSON.parse(output) as Readonly<Record<string, unknown>>;
}

type Pids = Readonly<Partial<Record<'api' | 'worker', number>>>;

const memoryOf = ({ api, worker }: Pids) => ({ api: residentMb(api), worker: residentMb(worker) });

function residentMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** The most that each held since. */
function watchMemory(pids: Pids) {
  let most = memoryOf(pids);
  const timer = setInterval(() => {
    const now = memoryOf(pids);
    most = { api: Math.max(most.api, now.api), worker: Math.max(most.worker, now.worker) };
  }, 200);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

if (isMainThread) {
  await rehearse({
    name: 'hostile',
    usage,
    options: ['seconds', 'only'],
    flags: ['hostile'],
    sound: 'The ordinary tenant noticed nothing.',
    run: async ({ folder, signal, progress, options: { whole, text }, stackSettings }) => {
      const stack = await startStack({
        settings: stackSettings({ LOG_LEVEL: 'fatal', ...programMemory }),
        progress,
        log: createStackLog('json', { write: () => undefined, now: () => new Date() }),
        signal,
      });
      const plan = { seconds: whole('seconds', 10), only: text('only') };
      try {
        return await attackAll(folder, { ...plan, say: progress.say });
      } finally {
        await stack.stop();
      }
    },
  });
} else {
  const { name, site } = workerData as { readonly name: string; readonly site: AttackSite };
  await attacks.find((attack) => attack.name === name)?.run(site);
}
