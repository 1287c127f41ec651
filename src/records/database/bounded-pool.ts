/**
 * Queues callers before Slonik's pool does. Slonik 47 wakes a queued caller only when a connection is released or destroyed, so
 * callers behind connections that could never be opened would wait for ever. With a permit for each connection its own queue
 * stays empty: a caller either gets a connection or the error of opening one.
 *
 * Requests of one workspace hold no more connections than they leave free, so that their statements, slow or waiting for locks,
 * leave the others to other workspaces.
 */
import { ConnectionError, type DatabasePool } from 'slonik';
import { callContext } from '../../concurrency/call-context.ts';
import { createKeyedSemaphore, type SemaphoreLimits } from '../../concurrency/keyed-semaphore.ts';

const connecting = [
  'any',
  'anyFirst',
  'connect',
  'exists',
  'many',
  'manyFirst',
  'maybeOne',
  'maybeOneFirst',
  'one',
  'oneFirst',
  'query',
  'transaction',
] as const;

/** `requestWaitMs`: a statement of a request that waits longer for a connection fails. */
export function withPermits(
  pool: DatabasePool,
  connections: number,
  requestWaitMs: number,
  perKey: SemaphoreLimits['perKey'] = 'what it leaves',
): DatabasePool {
  const semaphore = createKeyedSemaphore({ total: connections, perKey, waiting: Infinity });
  const acquire = async (): Promise<(() => void) | undefined> => {
    const { workspaceId } = callContext();
    if (workspaceId === undefined) return semaphore.acquire([]);
    const limit = AbortSignal.timeout(requestWaitMs);
    return semaphore.acquire([workspaceId], limit).catch(() => {
      throw new ConnectionError('No connection of the workspace became free in time');
    });
  };
  const bounded = Object.create(pool) as Record<string, unknown>;
  for (const name of connecting) {
    const method = pool[name] as (...args: unknown[]) => Promise<unknown>;
    bounded[name] = async (...args: unknown[]) => {
      const release = await acquire();
      try {
        return await method(...args);
      } finally {
        release?.();
      }
    };
  }
  return bounded as unknown as DatabasePool;
}
