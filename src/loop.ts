/** A background loop of a process: works, waits, works again; a failure is logged once per kind and outlived. */
import type { Logger } from './logger.ts';

export interface Loop {
  /** Resolves when the round under way has ended; no other begins. */
  readonly stop: () => Promise<void>;
  /** Begins the next round now instead of after the wait. */
  readonly wake: () => void;
}

export interface LoopOptions {
  readonly name: string;
  readonly logger: Logger;
  /** The wait after a round that found nothing more to do. */
  readonly idleMs: number;
  /** True when there is more to do at once. */
  readonly work: () => Promise<boolean>;
}

const failureWaitMs = 1_000;

export function startLoop({ name, logger, idleMs, work }: LoopOptions): Loop {
  let stopping = false;
  let woken = false;
  let endWait = (): void => undefined;
  let failing = false;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const round = async (): Promise<number> => {
    try {
      woken = false;
      const more = await work();
      if (failing) logger.info({ loop: name }, 'loop works again');
      failing = false;
      return more ? 0 : idleMs;
    } catch (error) {
      if (!failing) logger.error({ loop: name, error: String(error) }, 'loop fails, trying again');
      failing = true;
      return failureWaitMs;
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      const waitMs = await round();
      if (waitMs > 0 && !stopping && !woken) await wait(waitMs);
    }
  };

  const ended = run();
  return {
    async stop() {
      stopping = true;
      endWait();
      await ended;
    },
    wake() {
      woken = true;
      endWait();
    },
  };
}
