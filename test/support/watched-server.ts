/** The built API as a process of its own that reports its longest block of the event loop. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestApi } from './api.ts';
import { watchEventLoop } from './longest-block.ts';

export interface WatchedServer {
  readonly port: number;
  /** The longest block since the last call, in ms. */
  readonly longestBlock: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const watch = `
const { longestBlock } = (${watchEventLoop.toString()})();
process.on('message', async () => process.send({ longest: await longestBlock() }));
process.channel.unref();
`;

/**
 * The longest block of the event loop that tests accept, in ms. Work that is not linear takes seconds for such input. Blocks of the
 * product last some 50 ms; the limit leaves room for a slow processor that other test files use at the same time.
 */
export const mostBlockedMs = 600;

/**
 * Sends a request; returns its answer and the longest block of the event loop. A long block is measured up to three times
 * and the least counts: a garbage collection or other load occurs once, the request's own work every time.
 */
export async function blockOf<T>(
  { longestBlock }: { readonly longestBlock: () => Promise<number> },
  mostMs: number,
  send: () => Promise<T>,
): Promise<{ readonly answer: T; readonly blocked: number }> {
  let least = Infinity;
  for (let attempt = 1; ; attempt += 1) {
    await longestBlock();
    const answer = await send();
    least = Math.min(least, await longestBlock());
    if (least < mostMs || attempt === 3) return { answer, blocked: least };
  }
}

/** Starts it on the database and with the settings of `api`. */
export async function startWatchedServer(
  { database, dependencies }: TestApi,
  temporalAddress = '127.0.0.1:1',
): Promise<WatchedServer> {
  // Larger than the memory limits of the container image (8 and 1024).
  const flags = ['--max-semi-space-size=16', '--max-old-space-size=1536'];
  const server = spawn(
    process.execPath,
    [
      ...flags,
      '--import',
      `data:text/javascript,${encodeURIComponent(watch)}`,
      resolve('dist/src/server.js'),
    ],
    {
      env: {
        PORT: '0',
        HOST: '127.0.0.1',
        DATABASE_URL: database.url,
        DATA_DIR: dependencies.config.dataDir,
        TEMPORAL_ADDRESS: temporalAddress,
        PROVIDER_BASE_URL: 'http://127.0.0.1:1/v23.0',
        PROVIDER_APP_SECRET: 'the app secret of the tests',
        PROVIDER_VERIFY_TOKEN: 'the verify token of the tests',
        KEY_PEPPER: 'a key pepper for the tests',
        SECRETS_KEY: 'a secrets key for the tests',
        OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
        RATE_LIMIT_PER_SECOND: '100000',
        LOG_LEVEL: 'info',
        LOG_FORMAT: 'json',
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  const port = await new Promise<number>((done, failed) => {
    server.once('exit', (code) => failed(new Error(`The server ended with ${code}`)));
    createInterface({ input: server.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const { port: found } = JSON.parse(line) as { readonly port?: number };
      if (found !== undefined) done(found);
    });
  });
  return {
    port,
    async longestBlock() {
      const answer = once(server, 'message');
      server.send('longest block?');
      const [{ longest }] = (await answer) as [{ readonly longest: number }];
      return longest;
    },
    async close() {
      server.removeAllListeners('exit');
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    },
  };
}
