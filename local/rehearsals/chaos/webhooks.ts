/**
 * `npm run chaos -- --webhooks`: a campaign with `sent`, `delivered` and `read` subscribed, whose worker is killed with
 * SIGKILL while the deliveries queue. Exits 0 only when every delivery is accounted for and none came twice.
 */
import { parseArgs } from 'node:util';
import { runWebhooks, type WebhookPlan } from './run-webhooks.ts';
import { createProgress } from '../../stack/progress.ts';
import { openRehearsalGround } from '../scene.ts';
import { createStackLog } from '../../stack/log.ts';
import { startStack } from '../../stack/stack.ts';

const usage = `npm run chaos -- --webhooks [options]

Sends one campaign without webhooks and one with three deliveries per message, kills the worker while these queue, and
compares the receiver's count with the delivery log.
  --recipients <n>    default 20000
  --rate <n>          limit of the channel per second, default 1000
  --kills <n>         SIGKILL to the worker, default 3
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(plan: WebhookPlan): Promise<readonly string[]> {
  const ground = openRehearsalGround('chaos');
  const stack = await startStack({
    settings: ground.stackSettings({ LOG_LEVEL: 'fatal' }),
    progress: createProgress(process.stdout),
    log: createStackLog('json', { write: () => undefined, now: () => new Date() }),
    signal: ground.signal,
  });
  try {
    return await runWebhooks(plan, { dataDir: ground.folder, signal: ground.signal, say });
  } finally {
    await stack.stop();
    ground.remove();
  }
}

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values } = parseArgs({
  options: {
    webhooks: { type: 'boolean', default: true },
    recipients: whole('20000'),
    rate: whole('1000'),
    kills: whole('3'),
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(usage);
} else {
  const problems = await main({
    recipients: Number(values.recipients),
    rate: Number(values.rate),
    kills: Number(values.kills),
  });
  say(
    problems.length === 0
      ? 'Every delivery is accounted for, and none came twice.'
      : `NOT SOUND: ${problems.join('; ')}`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
process.exit();
