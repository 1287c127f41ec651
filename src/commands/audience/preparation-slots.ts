/** Limits how many preparations one worker process runs at a time. */
import { Failure } from '../../domain/error.ts';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';

export interface PreparationSlots {
  /** Limited per workspace and per host, so that a slow file server delays only the campaigns that use it. */
  readonly downloads: KeyedSemaphore;
  /** For audiences of a few thousand people, which take about a second and must not wait behind long ones. */
  readonly short: KeyedSemaphore;
  readonly long: KeyedSemaphore;
  /** Runs preparations whose earlier attempts lost their workers, one at a time; acquired before one of the other slots. */
  readonly lastAttempts: KeyedSemaphore;
}

/**
 * A preparation takes about 20 MB of memory and three Postgres connections outside the pool. At most 131 preparations run or
 * wait, and each occupies one of the worker's 200 activity slots; the rest is left for sending.
 */
export function createPreparationSlots(): PreparationSlots {
  return {
    downloads: createKeyedSemaphore({ total: 20, perKey: 3, waiting: 20, waitingPerKey: 4 }),
    short: createKeyedSemaphore({ total: 6, perKey: 'what it leaves', waiting: 40, waitingPerKey: 10 }),
    long: createKeyedSemaphore({ total: 4, perKey: 'what it leaves', waiting: 30, waitingPerKey: 6 }),
    lastAttempts: createKeyedSemaphore({ total: 1, perKey: 1, waiting: 10, waitingPerKey: 2 }),
  };
}

/** 256 KiB hold a few thousand rows, which take less than a second. */
const maxShortBytes = 256 * 1024;
/** Maximum number of contacts in a short audience. */
export const maxShortContacts = 5_000;

export const isShortInput = (bytes: number): boolean => bytes <= maxShortBytes;

/** Thrown if too many preparations wait in this process. Temporal offers the activity again later, or to another worker. */
export class NoPreparationSlot extends Failure {
  constructor() {
    super('Enough campaigns are being prepared in this process');
  }
}

export interface Slot {
  readonly semaphore: KeyedSemaphore;
  readonly keys: readonly (string | number)[];
  /** Stops waiting for the slot. */
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
