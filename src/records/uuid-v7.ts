/** Ids in the order of their making, for rows that need theirs before they are inserted. */
import { randomBytes, randomUUID } from 'node:crypto';

const poolSize = 8192;
const randomDigits = 16;
const sequences = 0x1000;

/**
 * Every id of one generator is larger than the one before. They carry the time from which they are made; the clock moves
 * on with the ids themselves, 4096 to the millisecond.
 */
export function createUuidV7Generator(from: Date): () => string {
  let pool = '';
  let used = 0;
  let millisecond = from.getTime();
  let sequence = 0;
  let prefix = timePrefix(millisecond);
  return () => {
    if (used >= pool.length) {
      pool = randomBytes(poolSize).toString('hex');
      used = 0;
    }
    if (sequence === sequences) {
      sequence = 0;
      millisecond += 1;
      prefix = timePrefix(millisecond);
    }
    const random = pool.slice(used, used + randomDigits);
    used += randomDigits;
    const count = (sequences + sequence).toString(16).slice(1);
    sequence += 1;
    const variant = variants.charAt(random.charCodeAt(0) & 3);
    return `${prefix}-7${count}-${variant}${random.slice(1, 4)}-${random.slice(4)}`;
  };
}

/** One id, made at that time. Ids of the same millisecond stand in no order. */
export function uuidV7(at: Date): string {
  return `${timePrefix(at.getTime())}-7${randomUUID().slice(15)}`;
}

const variants = '89ab';

function timePrefix(millisecond: number): string {
  const time = millisecond.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}
