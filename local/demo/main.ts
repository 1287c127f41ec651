/** `npm run demo`: a campaign of 20,000 CSV rows through the HTTP API of the running stack, or of one started for it. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createDemoApi } from './api.ts';
import { runDemoCampaign } from './campaign.ts';
import { startCountingReceiver } from './receiver.ts';
import { demoReport } from './report.ts';
import { readDevFile, type DevFile } from '../stack/dev-file.ts';
import { answersOk } from '../stack/children/node-children.ts';
import { createProgress } from '../stack/progress.ts';
import { startStack } from '../stack/stack.ts';
import { StackError } from '../stack/error.ts';
import { createStackLog } from '../stack/log.ts';
import { readStackSettings, type StackSettings } from '../stack/settings.ts';

const rows = 20_000;
const seed = 20_240_229;

async function main(): Promise<void> {
  const { stdout } = process;
  stdout.on('error', () => undefined);
  process.umask(0o077);
  const settings = readStackSettings(process.env, process.argv.slice(2), stdout.isTTY);
  if ('help' in settings)
    return void stdout.write(
      'npm run demo\n\nRuns a demo campaign on the stack of DATA_DIR; starts one when none runs.\n',
    );

  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.abort());
  const progress = createProgress(stdout);
  const { dev, stop } = await findOrStartStack({ settings, progress, signal: interrupted.signal });
  const receiver = await startCountingReceiver('x-event-key');
  try {
    const started = Date.now();
    const campaign = await runDemoCampaign({
      api: createDemoApi(dev),
      receiver,
      progress,
      rows,
      seed,
      signal: interrupted.signal,
    });
    const seconds = (Date.now() - started) / 1000;
    stdout.write(demoReport({ campaign, received: receiver.counts, seconds }));
  } finally {
    await receiver.close();
    await stop();
  }
}

async function findOrStartStack({
  settings,
  progress,
  signal,
}: {
  readonly settings: StackSettings;
  readonly progress: ReturnType<typeof createProgress>;
  readonly signal: AbortSignal;
}): Promise<{ readonly dev: DevFile; readonly stop: () => Promise<void> }> {
  const running = readDevFile(settings.dataDir);
  if (running !== undefined && (await answersOk(`${running.baseUrl}/readyz`).catch(() => false))) {
    progress.say(`Using the stack that runs at ${running.baseUrl}.`);
    return { dev: running, stop: async () => undefined };
  }
  progress.say('No stack runs on this data folder: starting one for the demo.');
  const lines: string[] = [];
  let write = (text: string): unknown => lines.push(text);
  const stack = await startStack({
    // Separate ports: another stack may use the usual ones.
    settings: { ...settings, port: 0, temporalUiPort: 0 },
    progress,
    log: createStackLog('json', { write: (text) => void write(text), now: () => new Date() }),
    signal,
  });
  const logFile = join(settings.dataDir, 'logs', 'demo.log');
  const file = createWriteStream(logFile);
  file.write(lines.join(''));
  write = (text) => file.write(text);
  progress.say(
    `The stack is ready at ${stack.dev.baseUrl}; Temporal Web UI ${stack.dev.temporalUiUrl ?? '-'}; log ${logFile}.`,
  );
  return {
    dev: stack.dev,
    stop: async () => {
      await stack.stop();
      await new Promise<void>((resolve) => file.end(() => resolve()));
    },
  };
}

try {
  await main();
} catch (error) {
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const aborted = error instanceof Error && error.name === 'AbortError';
  const message =
    error instanceof StackError || aborted ? (error as Error).message : `Unexpected failure: ${unexpected}`;
  process.stderr.write(
    `\n${aborted ? 'Interrupted; the campaign goes on when the stack runs again.' : message}\n`,
  );
  process.exitCode = 1;
}
process.exit();
