import type { Logger } from '../telemetry/logger.ts';

export interface Loop {
  /** Waits for the running poll to end and starts no further one. */
  readonly stop: () => Promise<void>;
}

export interface PollingLoop extends Loop {
  /** Announces new work: ends the pause, or skips the next one if a poll is running. */
  readonly wake: () => void;
}

export interface PollingOptions {
  /** Name of the loop in log lines. */
  readonly name: string;
  readonly logger: Logger;
  /** Pause in ms after a poll that left nothing to do. */
  readonly idleMs: number;
  /** Each consecutive poll that returns `'empty'` makes the pause longer by half, up to this many ms. Default: `idleMs`. */
  readonly longestIdleMs?: number;
  /**
   * Runs one poll. Returns true if there may be more to do at once, `'empty'` if it found nothing at all, and `'skipped'` if
   * another process does the work, which does not end a series of failures.
   */
  readonly work: () => Promise<boolean | 'empty' | 'skipped'>;
}

// About eight seconds: a shorter failure is not logged as an error.
const lastingFailures = 6;
const firstBackoffMs = 250;
const longestBackoffMs = 5_000;

/**
 * Repeats `work` until stopped. A failing poll, for instance while Postgres is unavailable, is repeated after a growing
 * pause. A series of failures logs one line at its beginning, one if it lasts and one at its end.
 */
export function startPollingLoop({
  name,
  logger,
  idleMs,
  longestIdleMs = idleMs,
  work,
}: PollingOptions): PollingLoop {
  const stopped = new AbortController();
  let isWoken = false;
  let endPause = (): void => undefined;
  const wake = (): void => {
    isWoken = true;
    endPause();
  };
  const pause = async (ms: number): Promise<void> => {
    if (!isWoken)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    isWoken = false;
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    let idle = idleMs;
    while (!stopped.signal.aborted) {
      try {
        const found = await work();
        if (found !== 'skipped') {
          if (failures > 0) logger.info({ loop: name, failures }, 'loop works again');
          failures = 0;
        }
        idle = found === 'empty' ? Math.min(longestIdleMs, idle * 1.5) : idleMs;
        if (found !== true && !stopped.signal.aborted) await pause(idle);
      } catch (error) {
        failures += 1;
        if (failures === 1) logger.warn({ loop: name, error: errorName(error) }, 'loop failed, trying again');
        if (failures === lastingFailures)
          logger.error({ loop: name, error: errorName(error), failures }, 'loop keeps failing');
        if (!stopped.signal.aborted)
          await pause(Math.min(longestBackoffMs, firstBackoffMs * 2 ** Math.min(failures - 1, 10)));
      }
    }
  };

  const running = run();
  return {
    wake,
    stop: () => {
      stopped.abort();
      wake();
      return running;
    },
  };
}

interface Link {
  readonly code?: unknown;
  readonly details?: unknown;
}

/**
 * Returns the class and code of an error for logs and records. It omits the message, because database messages quote values,
 * which may be people's numbers.
 */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const links = [error, error.cause] as readonly (Link | undefined)[];
  // gRPC, through which Temporal is called, has numeric codes.
  const code = links
    .map((link) => link?.code)
    .find((found) => typeof found === 'string' || typeof found === 'number');
  if (code === undefined) return error.name;
  // Temporal's texts name workflows and settings, never a customer's value.
  const details = links.map((link) => link?.details).find((found) => typeof found === 'string');
  const said = typeof code === 'number' && details !== undefined ? `: ${String(details).slice(0, 300)}` : '';
  return `${error.name} ${code}${said}`;
}
