/** Ids in the order of their making, for rows that need theirs before they are inserted. */
import { randomFillSync } from 'node:crypto';

const uuidLength = 16;
const poolSize = 8192;
const randomLength = 8;
const sequences = 0x1000;

/**
 * Every id of one generator is larger than the one before. They carry the time from which they are made; the clock moves
 * on with the ids themselves, 4096 to the millisecond. The bytes are those of the next id as soon as it is asked for.
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

/** The smallest that can be made at that time, or so much later. */
export function firstIdAt(date: Date, laterMs = 0): string {
  const id = Buffer.alloc(uuidLength);
  id.writeUIntBE(Math.max(0, date.getTime() + laterMs), 0, 6);
  return formatUuid(id);
}

/** An id as Postgres writes it. */
export function formatUuid(id: Buffer): string {
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An id for a row that binds something to it before it is inserted. */
export const createId = (): string => formatUuid(createUuidV7Generator(new Date())());
