import { insertProviderCallbacks } from '../records/provider-callbacks.ts';
import type { Database } from '../records/database.ts';

/** Takes the provider's callbacks in: a promise resolves once its body is on disk. */
export type CallbackInbox = (body: Buffer) => Promise<void>;

interface Waiting {
  readonly body: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Statements in flight at a time; a second one hides the commit of the first. */
const lanes = 2;
/** Bytes of one statement; a larger body travels alone. */
const maxBatchBytes = 8 * 1024 * 1024;
const maxBatchSize = 1000;

/**
 * Groups what arrives while an earlier statement is under way: one commit serves many requests, and a lone request
 * waits for nobody.
 */
export function createCallbackInbox(database: Database): CallbackInbox {
  const queue: Waiting[] = [];
  let busy = 0;

  const takeBatch = (): readonly Waiting[] => {
    let total = 0;
    let size = 0;
    for (const { body } of queue) {
      total += body.length;
      if (size > 0 && (total > maxBatchBytes || size === maxBatchSize)) break;
      size += 1;
    }
    return queue.splice(0, size);
  };

  const drain = async (): Promise<void> => {
    busy += 1;
    while (queue.length > 0) {
      const batch = takeBatch();
      try {
        await insertProviderCallbacks(
          database,
          batch.map(({ body }) => body),
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    busy -= 1;
  };

  return (body) =>
    new Promise((resolve, reject) => {
      queue.push({ body, resolve, reject });
      if (busy < lanes) void drain();
    });
}
