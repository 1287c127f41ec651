/** Limits of the preparations of one worker process. */
import { Failure } from '../../domain/error.ts';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';

export interface PreparationSlots {
  /** Slots are limited by workspace and by host, so that a slow file server delays only the campaigns that use it. */
  readonly downloads: KeyedSemaphore;
  /** For audiences of some thousand people, which take about a second: they must not wait behind long ones. */
  readonly short: KeyedSemaphore;
  readonly long: KeyedSemaphore;
  /** One at a time of those whose earlier attempts lost their workers; taken before one of the others. */
  readonly lastAttempts: KeyedSemaphore;
}

/**
 * A preparation takes about 20 MB of memory and holds three connections to Postgres besides the pool. Running and waiting
 * preparations, at most 131, each hold one of the worker's 200 activity slots; the rest is left for sending.
 */
export function createPreparationSlots(): PreparationSlots {
  return {
    downloads: createKeyedSemaphore({ total: 20, perKey: 3, waiting: 20, waitingPerKey: 4 }),
    short: createKeyedSemaphore({ total: 6, perKey: 'what it leaves', waiting: 40, waitingPerKey: 10 }),
    long: createKeyedSemaphore({ total: 4, perKey: 'what it leaves', waiting: 30, waitingPerKey: 6 }),
    lastAttempts: createKeyedSemaphore({ total: 1, perKey: 1, waiting: 10, waitingPerKey: 2 }),
  };
}

/** 256 KiB hold some thousand rows, which take less than a second. */
const maxShortBytes = 256 * 1024;
/** Contacts of a short audience. */
export const maxShortContacts = 5_000;

export const isShortInput = (bytes: number): boolean => bytes <= maxShortBytes;

/**
 * Thrown when too many preparations wait in this process: Temporal offers the activity again later, or to another worker.
 */
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
