/** `npm start`: the whole stack in the foreground until Ctrl-C or SIGTERM. */
import { createSignInLink } from '../../src/commands/workspaces/api-keys.ts';
import { parseApiKey } from '../../src/domain/workspaces/api-key.ts';
import { createDatabase } from '../../src/records/database/database.ts';
import { banner } from './banner.ts';
import { createProgress } from './progress.ts';
import { startStack, type Stack } from './stack.ts';
import { StackError } from './error.ts';
import { createStackLog } from './log.ts';
import { readStackSettings } from './settings.ts';

const startedAt = Date.now() - process.uptime() * 1000;

async function main(): Promise<number> {
  // Files created from here on, also by child processes, are readable by this user only.
  process.umask(0o077);
  const { stdout } = process;
  // A reader that went away (`npm start | head`) must not end the stack half way.
  stdout.on('error', () => undefined);
  const settings = readStackSettings(process.env, process.argv.slice(2), stdout.isTTY);
  if ('help' in settings) {
    stdout.write(`${settings.help}\n`);
    return 0;
  }
  const progress = createProgress(stdout);
  const log = createStackLog(settings.logFormat, {
    write: (text) => stdout.write(text),
    now: () => new Date(),
  });
  const interrupted = new AbortController();
  let stack: Stack | undefined;
  let signals = 0;
  const stopRequested = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        signals += 1;
        if (signals > 1) return stack?.hurry();
        progress.say('Stopping: what is under way is finished first (once more to give that up) …');
        interrupted.abort();
        resolve();
      });
    }
  });
  try {
    stack = await startStack({ settings, progress, log, signal: interrupted.signal });
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    progress.say('Stopped.');
    return 0;
  }
  const seconds = (Date.now() - startedAt) / 1000;
  stdout.write(
    banner({
      dev: stack.dev,
      signInLink: await signInLink(stack.dev),
      dataDir: settings.dataDir,
      temporalProgram: stack.temporalProgram,
      seconds,
      example: stack.exampleTemplate,
    }),
  );
  await stopRequested;
  await stack.stop();
  progress.say('Stopped.');
  return 0;
}

/** Creates a link that signs in with the rights of the channel's key, which can send. */
async function signInLink({ databaseUrl, baseUrl, apiKey }: Stack['dev']): Promise<string> {
  const database = await createDatabase(databaseUrl, 2);
  try {
    const keyId = parseApiKey(apiKey)?.keyId ?? '';
    return (await createSignInLink({ database }, { keyId, origin: baseUrl })).url;
  } finally {
    await database.end();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = error instanceof StackError ? error.message : `Unexpected failure: ${unexpected}`;
  process.stderr.write(`\n${message}\n`);
  process.exitCode = 1;
}
process.exit();
