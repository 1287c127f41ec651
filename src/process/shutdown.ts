/** Shuts down in order on SIGTERM or SIGINT: one step after the other, within a deadline. */
import type { Logger } from '../telemetry/logger.ts';

export interface ShutdownStep {
  readonly name: string;
  readonly run: () => Promise<void>;
}

interface ShutdownOptions {
  readonly logger: Logger;
  readonly deadlineMs: number;
  readonly steps: readonly ShutdownStep[];
  /** Ends the process; replaced in tests. */
  readonly exit: (code: number) => void;
}

/** Exits with 0 if every step ended in time, otherwise with 1. A second signal ends the process at once. */
export function shutDownOnSignal(options: ShutdownOptions): void {
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) {
      options.exit(1);
      return;
    }
    stopping = true;
    options.logger.info({ signal }, 'stopping');
    void runSteps(options).then(options.exit);
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
}

/** A step that fails or hangs does not keep the others from running. */
export async function runSteps({
  logger,
  deadlineMs,
  steps,
}: Pick<ShutdownOptions, 'logger' | 'deadlineMs' | 'steps'>): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), deadlineMs);
  });
  let code = 0;
  for (const { name, run } of steps) {
    const outcome = await Promise.race([
      run().then(
        () => 'done',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
      deadline,
    ]);
    if (outcome !== 'done') {
      code = 1;
      logger.warn(
        { step: name, reason: outcome === 'late' ? 'took too long' : outcome },
        'a step of the shutdown failed',
      );
    }
  }
  clearTimeout(timer);
  if (code === 0) logger.info('stopped');
  return code;
}
