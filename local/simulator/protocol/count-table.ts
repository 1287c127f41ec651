/** How often each text was seen, in flat typed arrays: a million entries in about 30 MB. */
export interface CountTable {
  /** Counts the text once more and returns how often it was seen by now. */
  add(text: string): number;
  count(text: string): number;
  /** Different texts. */
  readonly distinct: number;
  /** Texts seen more than once. */
  readonly repeated: number;
  /** Every text of digits with its count; texts of other characters are kept as hashes only and left out. */
  digits(): Iterable<{ readonly digits: string; readonly count: number }>;
}

const firstCapacity = 1 << 12;
const maxLoad = 0.6;
const maxDigits = 15;
/** Added to hashes so that they never equal a number of 15 digits. */
const hashOffset = 10 ** maxDigits;

/** Open addressing over 53-bit keys: numbers are their own key, any other text is hashed. */
export function createCountTable(): CountTable {
  let keys = new Float64Array(firstCapacity);
  let counts = new Uint32Array(firstCapacity);
  let distinct = 0;
  let repeated = 0;

  const slotOf = (key: number): number => {
    const mask = keys.length - 1;
    let slot = scatter(key) & mask;
    while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  };

  const grow = (): void => {
    const [oldKeys, oldCounts] = [keys, counts];
    keys = new Float64Array(oldKeys.length * 2);
    counts = new Uint32Array(oldKeys.length * 2);
    oldKeys.forEach((key, index) => {
      if (key === 0) return;
      const slot = slotOf(key);
      keys[slot] = key;
      counts[slot] = oldCounts[index] ?? 0;
    });
  };

  return {
    add: (text) => {
      if (distinct >= keys.length * maxLoad) grow();
      const key = keyOf(text);
      const slot = slotOf(key);
      const count = (counts[slot] ?? 0) + 1;
      keys[slot] = key;
      counts[slot] = count;
      if (count === 1) distinct += 1;
      if (count === 2) repeated += 1;
      return count;
    },
    count: (text) => counts[slotOf(keyOf(text))] ?? 0,
    get distinct() {
      return distinct;
    },
    get repeated() {
      return repeated;
    },
    *digits() {
      for (let slot = 0; slot < keys.length; slot += 1) {
        const key = keys[slot] ?? 0;
        if (key !== 0 && key < hashOffset) yield { digits: String(key - 1), count: counts[slot] ?? 0 };
      }
    },
  };
}

function keyOf(text: string): number {
  // One more than the number, for 0 marks an empty slot.
  if (/^[1-9]\d{0,13}$/.test(text)) return Number(text) + 1;
  const [high, low] = hashes(text);
  return hashOffset + ((high & 0xfffff) * 2 ** 32 + low);
}

function scatter(key: number): number {
  const low = (key % 2 ** 32) | 0;
  const high = (key / 2 ** 32) | 0;
  return Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b) >>> 7;
}

function hashes(text: string): readonly [number, number] {
  let first = 0xdeadbeef;
  let second = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    first = Math.imul(first ^ unit, 2654435761);
    second = Math.imul(second ^ unit, 1597334677);
  }
  first = Math.imul(first ^ (first >>> 16), 2246822507) ^ Math.imul(second ^ (second >>> 13), 3266489909);
  second = Math.imul(second ^ (second >>> 16), 2246822507) ^ Math.imul(first ^ (first >>> 13), 3266489909);
  return [second >>> 0, first >>> 0];
}

/** Evenly spread over 0 ≤ x < 1 and the same for the same text. */
export function shareOf(text: string): number {
  return hashes(text)[1] / 2 ** 32;
}
