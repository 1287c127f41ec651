/**
 * `npm run chaos -- --webhooks`: a campaign with `sent`, `delivered` and `read` subscribed, whose worker is killed with
 * SIGKILL while the deliveries queue. Exits 0 only when every delivery is accounted for and none came twice.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runWebhooks, type WebhookPlan } from './chaos/run-webhooks.ts';
import { createProgress } from './progress.ts';
import { createStackLog } from './stack-log.ts';
import { startStack } from './stack.ts';
import { readStackSettings } from './stack-settings.ts';

const usage = `npm run chaos -- --webhooks [options]

Sends one campaign without webhooks and one with three deliveries per message, kills the worker while these queue, and
compares the receiver's count with the delivery log.
  --recipients <n>    default 20000
  --rate <n>          limit of the channel per second, default 1000
  --kills <n>         SIGKILL to the worker, default 3
`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(plan: WebhookPlan): Promise<readonly string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'messaging-campaigns-chaos-'));
  chmodSync(dataDir, 0o711);
  const environment = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    TEMPORAL_UI_PORT: '0',
    LOG_LEVEL: 'fatal',
  };
  const settings = readStackSettings(environment, [], false);
  if ('help' in settings) return [];
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const stack = await startStack({
    settings,
    progress: createProgress(process.stdout),
    log: createStackLog('json', { write: () => undefined, now: () => new Date() }),
    signal: interrupted.signal,
  });
  try {
    return await runWebhooks(plan, { dataDir, signal: interrupted.signal, say });
  } finally {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
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
