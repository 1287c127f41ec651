/** Version 7 UUIDs, for rows whose id is needed before the insert. */
import { randomFillSync } from 'node:crypto';

const uuidLength = 16;
const poolSize = 8192;
const randomLength = 8;
const sequences = 0x1000;

/**
 * Each id of a generator is larger than the previous one. They begin at time `from` and advance by 4,096 ids per millisecond.
 * The returned buffer is reused for the next id.
 */
export function createUuidV7Generator(from: Date): () => Buffer {
  const id = Buffer.alloc(uuidLength);
  const pool = new Uint8Array(poolSize);
  let used = poolSize;
  let millisecond = from.getTime();
  let sequence = 0;
  return () => {
    if (used === poolSize) {
      randomFillSync(pool);
      used = 0;
    }
    if (sequence === sequences) {
      sequence = 0;
      millisecond += 1;
    }
    if (sequence === 0) id.writeUIntBE(millisecond, 0, 6);
    id[6] = 0x70 | (sequence >> 8);
    id[7] = sequence & 0xff;
    for (let at = 0; at < randomLength; at += 1) id[randomLength + at] = pool[used + at] ?? 0;
    id[8] = 0x80 | ((pool[used] ?? 0) & 0x3f);
    sequence += 1;
    used += randomLength;
    return id;
  };
}

/** The smallest id of that time plus `laterMs`. */
export function firstIdAt(date: Date, laterMs = 0): string {
  const id = Buffer.alloc(uuidLength);
  id.writeUIntBE(Math.max(0, date.getTime() + laterMs), 0, 6);
  return formatUuid(id);
}

/** Formats an id as Postgres does. */
export function formatUuid(id: Buffer): string {
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Creates an id for a row that other values refer to before its insert. */
export const createId = (): string => formatUuid(createUuidV7Generator(new Date())());
