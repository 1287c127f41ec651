/** Limits of the preparations of one worker process. */
import { Failure } from '../../domain/error.ts';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';

export interface PreparationSlots {
  /** By workspace and by host: a file server that is slow or gone delays the campaigns that use it alone. */
  readonly downloads: KeyedSemaphore;
  /** Audiences that stand in the request: some milliseconds each, so they never wait behind files or large lists. */
  readonly small: KeyedSemaphore;
  readonly large: KeyedSemaphore;
}

/**
 * A preparation holds two or three connections to Postgres beside the pool. Preparations under way or waiting, 118 in all, hold an
 * activity slot of the worker, of 200: the others stay for sending.
 */
export function createPreparationSlots(): PreparationSlots {
  return {
    downloads: createKeyedSemaphore({ total: 20, perKey: 3, waiting: 20, waitingPerKey: 4 }),
    small: createKeyedSemaphore({ total: 4, perKey: 2, waiting: 40, waitingPerKey: 10 }),
    large: createKeyedSemaphore({ total: 4, perKey: 2, waiting: 30, waitingPerKey: 6 }),
  };
}

/** 256 KiB hold some thousand rows, which take less than a second. */
const smallInputBytes = 256 * 1024;

/** `inputBytes`: size of the audience that the request itself held; null for any other audience. */
export function isSmallAudience(inputBytes: number | null): boolean {
  return inputBytes !== null && inputBytes <= smallInputBytes;
}

/** Too many preparations wait in this process: try later, or in another one. */
export class NoPreparationSlot extends Failure {
  constructor() {
    super('Enough campaigns are being prepared in this process');
  }
}

export interface Slot {
  readonly semaphore: KeyedSemaphore;
  readonly keys: readonly (string | number)[];
  /** Ends the wait for the slot. */
  readonly signal: AbortSignal;
}

/** Runs `work` while it holds a slot. Throws NoPreparationSlot. */
export async function inSlot<T>({ semaphore, keys, signal }: Slot, work: () => Promise<T>): Promise<T> {
  const release = await semaphore.acquire(keys, signal);
  if (release === undefined) throw new NoPreparationSlot();
  try {
    return await work();
  } finally {
    release();
  }
}
