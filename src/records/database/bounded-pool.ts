/**
 * Queues callers before Slonik's pool does. Slonik 47 wakes a queued caller only when a connection is released or destroyed, so
 * callers behind connections that could never be opened would wait for ever. With a permit for each connection its own queue
 * stays empty: a caller either gets a connection or the error of opening one.
 */
import type { DatabasePool } from 'slonik';
import { createKeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';

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

export function withPermits(pool: DatabasePool, connections: number): DatabasePool {
  const semaphore = createKeyedSemaphore({ total: connections, perKey: connections, waiting: Infinity });
  const bounded = Object.create(pool) as Record<string, unknown>;
  for (const name of connecting) {
    const method = pool[name] as (...args: unknown[]) => Promise<unknown>;
    bounded[name] = async (...args: unknown[]) => {
      const release = await semaphore.acquire([]);
      try {
        return await method(...args);
      } finally {
        release?.();
      }
    };
  }
  return bounded as unknown as DatabasePool;
}
