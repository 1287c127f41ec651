/** Sends SIGTERM and checks that the process becomes unready and exits in time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { answersOk } from '../../stack/children/node-children.ts';
import type { Running } from './upgrade-stack.ts';

export interface Drained {
  readonly name: string;
  /** Milliseconds from the signal to the exit. */
  readonly ms: number;
  readonly problems: readonly string[];
}

const limitMs = 30_000;
const askEveryMs = 100;
const settleMs = 200;

export function drainAll(processes: readonly Running[]): Promise<readonly Drained[]> {
  return Promise.all(processes.map(drain));
}

async function drain({ name, url, kill, exited, stop }: Running): Promise<Drained> {
  const since = performance.now();
  const over = new AbortController();
  let readyAnswers = 0;
  kill('SIGTERM');
  const asking = (async () => {
    await sleep(settleMs);
    while (!over.signal.aborted) {
      if (await answersOk(`${url}/readyz`).catch(() => false)) readyAnswers += 1;
      await sleep(askEveryMs);
    }
  })();
  const late = sleep(limitMs, undefined).then(() => undefined);
  const exit = await Promise.race([exited, late]);
  const ms = performance.now() - since;
  over.abort();
  await asking;
  if (exit === undefined) await stop();
  return {
    name,
    ms,
    problems: [
      ...(exit === undefined ? [`${name} has not ended within ${limitMs / 1000} s`] : []),
      ...(exit !== undefined && exit.code !== 0 ? [`${name} ended with ${exit.code ?? exit.signal}`] : []),
      ...(readyAnswers === 0 ? [] : [`${name} said it was ready after its SIGTERM`]),
    ],
  };
}
