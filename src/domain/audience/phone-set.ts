/** Phone numbers seen so far, at 11 to 23 bytes each: E.164 digits are whole numbers, kept with open addressing. */
export interface PhoneSet {
  /** Returns false if the number was already in the set. */
  readonly add: (digits: string) => boolean;
  readonly has: (digits: string) => boolean;
}

const firstCapacity = 4096;
const highestLoad = 0.7;

export function createPhoneSet(): PhoneSet {
  // 0 marks an empty slot: no phone number begins with 0.
  let slots = new Float64Array(firstCapacity);
  let size = 0;

  const insert = (into: Float64Array, value: number): boolean => {
    const mask = into.length - 1;
    let place = hash(value) & mask;
    for (;;) {
      const present = into[place];
      if (present === value) return false;
      if (present === 0) {
        into[place] = value;
        return true;
      }
      place = (place + 1) & mask;
    }
  };
  const grow = (): void => {
    const larger = new Float64Array(slots.length * 2);
    for (const value of slots) if (value !== 0) insert(larger, value);
    slots = larger;
  };
  return {
    has(digits) {
      const value = Number(digits);
      const mask = slots.length - 1;
      let place = hash(value) & mask;
      while (slots[place] !== 0) {
        if (slots[place] === value) return true;
        place = (place + 1) & mask;
      }
      return false;
    },
    add: (digits) => {
      if (!insert(slots, Number(digits))) return false;
      size += 1;
      if (size > slots.length * highestLoad) grow();
      return true;
    },
  };
}

// Mixes both halves of the number, so that the consecutive numbers of a list do not collide.
function hash(value: number): number {
  const high = Math.floor(value / 0x1_0000_0000);
  const mixed = Math.imul((value >>> 0) ^ Math.imul(high, 0x9e37_79b1), 0x85eb_ca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
