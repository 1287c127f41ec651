import { describe, expect, it } from 'vitest';
import {
  type BrakeCounts,
  countOutcomes,
  judgeProbe,
  type KnownFailure,
  type BrakeOutcome,
  nothingCounted,
} from '../../../src/domain/sending/failure-brake.ts';

const delivered: BrakeOutcome = { kind: 'delivered' };
const accepted: BrakeOutcome = { kind: 'accepted' };
const failed = (code: number, rest: Partial<KnownFailure> = {}): BrakeOutcome => ({
  kind: 'failed',
  failure: { reason: `PROVIDER_${code}`, source: 'status', detail: null, recipientId: 'r', ...rest },
});
const many = (count: number, outcome: (at: number) => BrakeOutcome) =>
  Array.from({ length: count }, (_, at) => outcome(at));

const judging = {
  setting: 'default',
  ignored: [] as string[],
  now: new Date('2026-11-28T12:00:00Z'),
} as const;
const judged = (outcomes: readonly BrakeOutcome[], options: Partial<typeof judging> & object = {}) =>
  countOutcomes(nothingCounted, outcomes, { ...judging, ...options }).evidence;

/** `share` of 100 outcomes in turn are failures, spread evenly. */
const mixed = (count: number, share: number, code: number) =>
  many(count, (at) =>
    Math.floor(((at + 1) * share) / 100) > Math.floor((at * share) / 100) ? failed(code) : delivered,
  );

describe('the failure brake', () => {
  it('pauses after 15 failures with one own reason and no success', () => {
    expect(judged(many(14, () => failed(131053)))).toBeUndefined();
    expect(judged(many(15, () => failed(131053)))).toMatchObject({
      rule: 'first',
      reason: 'PROVIDER_131053',
      source: 'status',
      failed: 15,
      of: 15,
    });
  });

  it('pauses after 30 equal own failures in a row, which a success interrupts', () => {
    const started = [delivered, ...many(29, () => failed(132012))];
    expect(judged(started)).toBeUndefined();
    expect(judged([...started, failed(132012)])).toMatchObject({ rule: 'run', failed: 30, of: 30 });
    expect(judged([...started, delivered, ...many(29, () => failed(132012))])).toBeUndefined();
    expect(judged([...started, failed(131008), ...many(29, () => failed(132012))])).toBeUndefined();
  });

  it('pauses when half of the last 200 failed with one own reason', () => {
    expect(judged(mixed(10_000, 40, 131053))).toBeUndefined();
    const evidence = judged(mixed(1_000, 60, 131053));
    expect(evidence).toMatchObject({ rule: 'share', failed: 100 });
    expect(evidence?.of).toBeLessThanOrEqual(200);
  });

  it('pauses when 60 % of the last 500 failed because of the person', () => {
    expect(judged(mixed(10_000, 40, 131049))).toBeUndefined();
    expect(judged(many(10_000, (at) => (at % 2 === 0 ? failed(131026) : delivered)))).toBeUndefined();
    const evidence = judged(mixed(1_000, 70, 131049));
    expect(evidence).toMatchObject({ rule: 'people', reason: 'PROVIDER_131049', failed: 300 });
    expect(evidence?.of).toBeLessThanOrEqual(500);
  });

  it('counts a code outside the table as an own failure, and a blocked country as none', () => {
    expect(judged(many(15, () => failed(999_999)))).toMatchObject({ rule: 'first' });
    expect(judged(many(2_000, () => failed(130497)))).toBeUndefined();
  });

  it('takes half the numbers when it is strict', () => {
    const strict = { setting: 'strict' } as unknown as Partial<typeof judging>;
    expect(
      judged(
        many(8, () => failed(131053)),
        strict,
      ),
    ).toMatchObject({ rule: 'first', failed: 8 });
    expect(judged([delivered, ...many(15, () => failed(131053))], strict)).toMatchObject({ rule: 'run' });
    expect(judged(mixed(1_000, 60, 131053), strict)).toMatchObject({ rule: 'share', failed: 50 });
    expect(judged(mixed(1_000, 70, 131049), strict)).toMatchObject({ rule: 'people', failed: 150 });
  });

  it('goes on while answers refuse some of the messages and no status is known yet', () => {
    const refused = (share: number) =>
      judged(
        mixed(5_000, share, 132012).map((outcome) =>
          outcome.kind === 'failed' ? failed(132012, { source: 'answer' }) : accepted,
        ),
      );
    expect(refused(40)).toBeUndefined();
    expect(refused(60)).toMatchObject({ rule: 'share', source: 'answer', failed: 100 });
    // Acceptances say nothing about failures that come later, by status.
    expect(judged(many(30, (at) => (at % 2 === 0 ? accepted : failed(131053))))).toMatchObject({
      rule: 'first',
    });
  });

  it('leaves out the reasons that a start by force has named, but no others', () => {
    const ignored = { ignored: ['PROVIDER_131053'] };
    expect(
      judged(
        many(1_000, () => failed(131053)),
        ignored,
      ),
    ).toBeUndefined();
    expect(
      judged(
        many(1_000, (at) => failed(at % 2 === 0 ? 131053 : 132012)),
        ignored,
      ),
    ).toMatchObject({
      rule: 'first',
      reason: 'PROVIDER_132012',
    });
  });

  it('names three texts without digits and three recipients', () => {
    const texts = ['fetch of 4915112345678 failed', 'timed out', 'refused', 'broken'];
    const evidence = judged(
      many(15, (at) => failed(131053, { detail: texts[at % 4] ?? '', recipientId: `r${at}` })),
    );
    expect(evidence).toMatchObject({
      details: ['fetch of ############# failed', 'timed out', 'refused'],
      recipient_ids: ['r0', 'r1', 'r2'],
      first_at: '2026-11-28T12:00:00.000Z',
      last_at: '2026-11-28T12:00:00.000Z',
    });
  });

  it('stays small whatever it counts', () => {
    let counts: BrakeCounts = nothingCounted;
    for (let at = 0; at < 1_000; at += 1)
      ({ counts } = countOutcomes(counts, [failed(at % 700, { detail: 'x'.repeat(500) })], judging));
    expect(JSON.stringify(counts).length).toBeLessThan(20_000);
  });

  it('judges a probe by the few outcomes that it has', () => {
    const probe = (outcomes: readonly BrakeOutcome[]) =>
      judgeProbe(countOutcomes(nothingCounted, outcomes, judging).counts);
    expect(probe([])).toBeUndefined();
    expect(probe(many(5, () => failed(131053)))).toMatchObject({ rule: 'share', failed: 5, of: 5 });
    expect(probe([failed(131053), delivered, delivered])).toBeUndefined();
    expect(probe([failed(131049), failed(131026), delivered])).toMatchObject({
      rule: 'people',
      failed: 2,
      of: 3,
    });
  });
});
