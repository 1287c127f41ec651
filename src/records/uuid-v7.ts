/** Ids in the order of their making, for rows that need theirs before they are inserted. */
import { randomBytes } from 'node:crypto';

/** Within one generator every id is larger than the one before. */
export function createUuidV7Generator(now: () => Date): () => string {
  const poolSize = 8192;
  let pool = Buffer.alloc(0);
  let used = 0;
  let millisecond = 0;
  let sequence = 0;
  return () => {
    if (used >= pool.length) {
      pool = randomBytes(poolSize);
      used = 0;
    }
    sequence += 1;
    const present = now().getTime();
    if (present > millisecond || sequence > 0xfff) {
      millisecond = Math.max(present, millisecond + (sequence > 0xfff ? 1 : 0));
      sequence = 0;
    }
    const time = millisecond.toString(16).padStart(12, '0');
    const random = pool.toString('hex', used, used + 8);
    used += 8;
    const variant = (8 + (Number.parseInt(random.charAt(0), 16) & 3)).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${variant}${random.slice(1, 4)}-${random.slice(4)}`;
  };
}
