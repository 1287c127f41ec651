/**
 * `npm run chaos -- --hostile`: runs attacks in turn beside an ordinary tenant. Exits 0 only when the tenant's requests and
 * events are in time throughout and the processes do not grow.
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
import { rehearse } from '../rehearsal.ts';
import type { AttackTarget } from './attack-target.ts';
import { attacks, type Attack } from './attacks.ts';
import { limitMemory } from './memory-limit.ts';
import { startOrdinaryTenant, type TenantTimes } from './ordinary-tenant.ts';

const usage = `npm run chaos -- --hostile [options]

Lets tenants and strangers attack a stack of its own, beside a tenant that reads and writes a little.
  --seconds <n>       of each attack, default 10
  --rounds <n>        of all attacks, default 1; from three on the processes must not have grown since the second
  --only <name>       this attack alone: also "a million events", which the rounds leave out
`;

const attackers = 4;
const restMs = 3_000;
/** Growth of memory allowed between the second round and the last. */
const mostGrowthMb = 32;
interface Plan {
  /** Duration of each attack. */
  readonly seconds: number;
  readonly rounds: number;
  readonly only: string | undefined;
  readonly say: (line: string) => void;
}

async function attackAll(dataDir: string, { seconds, rounds, only, say }: Plan): Promise<readonly string[]> {
  const dev = readDevFile(dataDir);
  if (dev === undefined) throw new Error('The stack is not ready');
  const limited = [dev.pids.api, dev.pids.worker].map((pid) => limitMemory(pid ?? 0));
  say(
    limited.every(Boolean)
      ? 'API and worker have 2 GiB each, by control groups'
      : 'no control groups here: the heap alone is limited',
  );
  const keys: string[] = [];
  for (let number = 0; number < attackers; number += 1) keys.push(await makeKey(dataDir));
  const tenant = await startOrdinaryTenant(dev.baseUrl, await makeKey(dataDir));
  await sleep(seconds * 1_000);
  const alone = await tenant.times();
  say(`alone: answers p99 ${alone.answerMs} ms, events p99 ${alone.eventMs} ms`);
  const problems: string[] = [];
  const target = { baseUrl: dev.baseUrl, databaseUrl: dev.databaseUrl, keys, seconds };
  const atRest: Memory[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const attack of attacks.filter(({ name, apart }) =>
      only === undefined ? apart !== true : only === name,
    )) {
      const watch = watchMemory(dev.pids);
      await runApart({ name: attack.name, target });
      problems.push(...checkAttack(attack, await tenant.times(), watch.stop(), say));
      await sleep(restMs);
      await tenant.times();
    }
    atRest.push(memoryOf(dev.pids));
    say(`at rest after round ${round}: API ${atRest.at(-1)?.api} MB, worker ${atRest.at(-1)?.worker} MB`);
  }
  const [, second, ...later] = atRest;
  for (const name of ['api', 'worker'] as const)
    if ((later.at(-1)?.[name] ?? 0) > (second?.[name] ?? 0) + mostGrowthMb)
      problems.push(`${name} grew from round to round`);
  await tenant.stop();
  return problems;
}

function checkAttack(
  attack: Attack,
  times: TenantTimes,
  { before, most }: { readonly before: Memory; readonly most: Memory },
  say: Plan['say'],
): readonly string[] {
  const growth = { api: most.api - before.api, worker: most.worker - before.worker };
  say(
    `${attack.name}: answers p99 ${times.answerMs} ms, events p99 ${times.eventMs} ms, refused ${times.refused}, ` +
      `missing ${times.missing}, API +${growth.api} MB (${most.api}), worker +${growth.worker} MB (${most.worker})`,
  );
  const problems: string[] = [];
  if (times.answerMs > attack.answerMs) problems.push(`${attack.name}: answers took ${times.answerMs} ms`);
  if (times.eventMs > attack.eventMs) problems.push(`${attack.name}: events took ${times.eventMs} ms`);
  if (times.refused + times.missing > 0) problems.push(`${attack.name}: the tenant was refused`);
  for (const [name, megabytes] of Object.entries(growth))
    if (megabytes > attack.growthMb) problems.push(`${attack.name}: ${name} grew by ${megabytes} MB`);
  return problems;
}

/** Runs the attack in a thread, so that the attacker's work does not delay the tenant's measurements. */
async function runApart(order: { readonly name: string; readonly target: AttackTarget }): Promise<void> {
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

interface Memory {
  readonly api: number;
  readonly worker: number;
}

const memoryOf = ({ api, worker }: Pids): Memory => ({ api: residentMb(api), worker: residentMb(worker) });

function residentMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Peak memory of each process since the last reading. */
function watchMemory(pids: Pids) {
  const before = memoryOf(pids);
  let most = before;
  const timer = setInterval(() => {
    const now = memoryOf(pids);
    most = { api: Math.max(most.api, now.api), worker: Math.max(most.worker, now.worker) };
  }, 200);
  return {
    stop: () => {
      clearInterval(timer);
      return { before, most };
    },
  };
}

if (isMainThread) {
  await rehearse({
    name: 'hostile',
    usage,
    options: ['seconds', 'rounds', 'only'],
    flags: ['hostile'],
    sound: 'The ordinary tenant noticed nothing.',
    run: async ({ folder, signal, progress, options: { whole, text }, stackSettings }) => {
      const stack = await startStack({
        settings: stackSettings({ LOG_LEVEL: 'fatal', ...programMemory }),
        progress,
        log: createStackLog('json', { write: () => undefined, now: () => new Date() }),
        signal,
      });
      const plan = { seconds: whole('seconds', 10), rounds: whole('rounds', 1), only: text('only') };
      try {
        return await attackAll(folder, { ...plan, say: progress.say });
      } finally {
        await stack.stop();
      }
    },
  });
} else {
  const { name, target } = workerData as { readonly name: string; readonly target: AttackTarget };
  await attacks.find((attack) => attack.name === name)?.run(target);
}
