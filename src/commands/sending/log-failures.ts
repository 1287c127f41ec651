import type { Logger } from '../../telemetry/logger.ts';
import type { SendResult } from '../../provider/provider.ts';

/** Logs that a channel's circuit is open, with the last answer that counted as a failure. */
export function logFailures(logger: Pick<Logger, 'warn'>, channelId: string) {
  let lastFailure: object = {};
  return {
    note(result: SendResult): void {
      if (result.kind === 'rejected') lastFailure = { code: result.code, httpStatus: result.httpStatus };
      else if (result.kind !== 'accepted') lastFailure = { cause: result.cause };
    },
    /** Returns `openMs`: for how long nothing is sent, 0 while the circuit is closed. */
    circuit(openMs: number): number {
      if (openMs > 0)
        logger.warn(
          { channelId, openMs, ...lastFailure },
          'the provider fails: the circuit of a channel is open',
        );
      return openMs;
    },
  };
}
