/**
 * `npm run upgrade-rehearsal`: replaces the processes of the previous release by those of this checkout while one campaign
 * sleeps and another is sent. Exits 0 only when no recipient was lost or sent to twice, every webhook arrived, every request of
 * a client was answered, and every process ended by itself within 30 seconds.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCountingReceiver } from '../../demo/receiver.ts';
import { rehearse, type RehearsalContext } from '../rehearsal.ts';
import { createSupervisor } from '../../stack/children/supervisor.ts';
import { startBalancer } from './balancer.ts';
import { buildRelease } from './build-release.ts';
import { findPreviousRelease } from './previous-release.ts';
import { rehearseUpgrade } from './rehearse.ts';
import { prepareUpgradeStack, type Running } from './upgrade-stack.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
// 1,200 recipients at 10/s: two minutes, in which the new processes start also on a busy machine.
const plan = {
  recipients: 1_200,
  asleepRecipients: 100,
  rate: { during: 10, after: 200 },
};

/** Resolves to the problems found. */
async function upgrade({ folder, signal, progress }: RehearsalContext): Promise<readonly string[]> {
  const { say } = progress;
  const oldFolder = await unpackPrevious(join(folder, 'previous'), { say, signal });
  const lines: { readonly process: string; readonly line: Readonly<Record<string, unknown>> }[] = [];
  const complaints: string[] = [];
  const running = new Set<Running>();
  const supervisor = createSupervisor({ log: say, onSpawn: () => undefined, onRestart: () => undefined });
  const [receiver, balancer] = await Promise.all([startCountingReceiver('x-event-key'), startBalancer()]);
  try {
    const stack = await prepareUpgradeStack({
      supervisor,
      progress,
      folder,
      environment: process.env,
      callbackUrl: `${balancer.url}/provider/webhook`,
      onLine: (name, text) => {
        if (/"level":"(error|fatal)"/.test(text) || !text.startsWith('{'))
          complaints.push(`${name}: ${text}`);
        else lines.push({ process: name, line: JSON.parse(text) as Record<string, unknown> });
      },
      signal,
    });
    const problems = await rehearseUpgrade({
      plan,
      oldFolder,
      newFolder: root,
      stack,
      balancer,
      receiver,
      said: (name, message) =>
        lines.filter((one) => one.process === name && one.line['msg'] === message).map(({ line }) => line),
      say,
      onStart: (started) => void running.add(started),
      signal,
    });
    return [...problems, ...complaints.slice(0, 20)];
  } finally {
    await Promise.all([...running].map((one) => one.stop()));
    await supervisor.stop(['provider']);
    await supervisor.stop();
    await Promise.all([receiver.close(), balancer.close()]);
  }
}

/** Returns the folder of the previous release; without one, this checkout plays both parts and the output says so. */
async function unpackPrevious(
  folder: string,
  { say, signal }: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): Promise<string> {
  const found = await findPreviousRelease(root);
  if ('missing' in found) {
    say(`No earlier release to upgrade from: ${found.missing}. This release takes its part.`);
    return root;
  }
  const { release } = found;
  say(`Upgrading from release ${release.version} (${release.commit.slice(0, 9)}): building it …`);
  await buildRelease({ root, release, folder, environment: process.env, signal });
  return folder;
}

await rehearse({
  name: 'upgrade',
  usage: 'npm run upgrade-rehearsal (no options; about two minutes)\n',
  sound: 'No recipient was lost or sent to twice, and no client request failed.',
  run: upgrade,
});
