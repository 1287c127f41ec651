import { insertProviderCallbacks } from './provider-callbacks.ts';
import type { Database } from '../database/database.ts';
import { groupCalls } from '../../concurrency/group-calls.ts';

/** Takes the provider's callbacks in: a promise resolves once its body is on disk. */
export type CallbackInbox = (body: Buffer) => Promise<void>;

const grouping = {
  maxSize: 1000,
  /** A second statement hides the commit of the first. */
  lanes: 2,
  weigh: (body: Buffer) => body.length,
  /** Bytes of one statement; a larger body travels alone. */
  maxWeight: 8 * 1024 * 1024,
};

/** One commit serves the requests that arrive while an earlier one is under way. */
export function createCallbackInbox(database: Database): CallbackInbox {
  return groupCalls(async (bodies: readonly Buffer[]) => {
    await insertProviderCallbacks(database, bodies);
    return [];
  }, grouping);
}
