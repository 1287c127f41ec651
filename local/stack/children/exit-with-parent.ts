/** Loaded into every Node process of the stack before its own code: when the process that started it is gone, this one drains and ends too. */
import { isMainThread } from 'node:worker_threads';

const drainLimitMs = 40_000;

if (isMainThread && process.channel !== undefined) {
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.exit(1), drainLimitMs).unref();
  });
  process.channel?.unref();
}
