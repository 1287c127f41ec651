import { describe, expect, it } from 'vitest';
import { createClockOffset } from '../../../src/commands/sending/clock-offset.ts';
import { createPacer } from '../../../src/commands/sending/pacer.ts';
import type { TokenLease } from '../../../src/records/sending/channel-rate.ts';

// As in src/records/sending/channel-rate.ts.
const pace = 0.975;

interface Circumstances {
  readonly perSecond: number;
  readonly roundTripMs?: number;
  /** Up to so much later than asked for does a sleep end: a busy process. */
  readonly lateMs?: number;
}

/** A schedule on a clock of its own behind a connection that takes `roundTripMs`, all in virtual time. */
function simulate({ perSecond, roundTripMs = 2, lateMs = 0 }: Circumstances) {
  let now = 0;
  // The same for every run: a multiplicative congruence.
  let seed = 4_711;
  const chance = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const timers: { at: number; resolve: () => void }[] = [];
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      timers.push({ at: now + ms + lateMs * chance(), resolve });
    });
  const theirsAhead = 1_700_000_000_000;
  const spacingMs = 1_000 / (perSecond * pace);
  let nextAt = 0;
  const lease = async (wanted: number, latencyMs: number): Promise<TokenLease> => {
    const horizonMs = 50 + Math.min(latencyMs, 150);
    await sleep(roundTripMs / 2);
    const dueAt = Math.max(nextAt, now);
    const granted =
      dueAt > now + horizonMs ? 0 : Math.min(wanted, Math.max(1, Math.floor(horizonMs / spacingMs)));
    nextAt = dueAt + granted * spacingMs;
    const answer = {
      granted,
      dueAt: dueAt + theirsAhead,
      spacingMs,
      now: now + theirsAhead,
      retryInMs: Math.max(1, dueAt - now - horizonMs),
    };
    await sleep(roundTripMs / 2);
    return answer;
  };
  const run = async (untilMs: number): Promise<void> => {
    for (;;) {
      // Everything that can go on without time passing does.
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      const first = timers.toSorted((a, b) => a.at - b.at)[0];
      if (first === undefined || first.at > untilMs) return;
      timers.splice(timers.indexOf(first), 1);
      now = first.at;
      first.resolve();
    }
  };
  const sentAt: number[] = [];
  const startSender = (): void => {
    const pacer = createPacer({ lease, stopped: () => false, clock: () => now, sleep });
    const send = async (): Promise<void> => {
      for (;;) {
        const taken = await pacer.take(64, 500);
        for (let sent = 0; sent < taken; sent += 1) sentAt.push(now);
      }
    };
    void send();
  };
  const busiestSecond = (): number => {
    let first = 0;
    return Math.max(
      ...sentAt.map((at, i) => {
        while ((sentAt[first] ?? at) <= at - 1_000) first += 1;
        return i - first + 1;
      }),
    );
  };
  return { startSender, run, sentAt, busiestSecond };
}

describe('the pacer', () => {
  it.each([
    { perSecond: 20, roundTripMs: 2 },
    { perSecond: 80, roundTripMs: 2 },
    { perSecond: 1_000, roundTripMs: 2 },
    { perSecond: 1_000, roundTripMs: 30 },
    { perSecond: 1_000, roundTripMs: 120 },
  ])('uses $perSecond tokens a second to the full when an answer takes $roundTripMs ms', async (link) => {
    const simulation = simulate(link);
    simulation.startSender();
    simulation.startSender();
    await simulation.run(5_000);
    // What is lost while the first answer is on its way is lost once.
    const settled = simulation.sentAt.filter((at) => at >= 1_000);
    expect(settled.length).toBeGreaterThan(link.perSecond * 4 * 0.95);
    expect(simulation.busiestSecond()).toBeLessThanOrEqual(link.perSecond);
  });

  it.each([
    { perSecond: 1_000, lateMs: 5, steps: 2, atLeast: 0.95 },
    { perSecond: 1_000, lateMs: 5, steps: 8, atLeast: 0.95 },
    { perSecond: 80, lateMs: 15, steps: 2, atLeast: 0.95 },
    { perSecond: 1_000, lateMs: 400, steps: 4, atLeast: 0 },
  ])(
    'keeps below $perSecond a second in $steps steps whose process is up to $lateMs ms late',
    async ({ steps, atLeast, ...circumstances }) => {
      const simulation = simulate(circumstances);
      for (let started = 0; started < steps; started += 1) simulation.startSender();
      await simulation.run(20_000);
      expect(simulation.busiestSecond()).toBeLessThanOrEqual(circumstances.perSecond);
      expect(simulation.sentAt.length).toBeGreaterThan(circumstances.perSecond * 20 * atLeast);
    },
  );
});

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
