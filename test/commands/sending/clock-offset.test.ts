import { describe, expect, it } from 'vitest';
import { createClockOffset } from '../../../src/commands/sending/clock-offset.ts';

describe('the offset of two clocks', () => {
  it('rests on the fastest exchange', () => {
    const offset = createClockOffset();
    expect(offset({ askedAt: 0, theirs: 1_001, answeredAt: 2 })).toBe(-1_000);
    expect(offset({ askedAt: 10, theirs: 1_010, answeredAt: 50 })).toBe(-1_000);
    expect(offset({ askedAt: 60, theirs: 1_060.4, answeredAt: 61 })).toBeCloseTo(-999.9);
  });

  it('follows when their clock is set', () => {
    const offset = createClockOffset();
    offset({ askedAt: 0, theirs: 1_001, answeredAt: 2 });
    expect(offset({ askedAt: 10, theirs: 5_015, answeredAt: 20 })).toBe(-5_000);
  });
});
