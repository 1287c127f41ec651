import { describe, expect, it } from 'vitest';
import { mayBeClaimedUpTo } from '../../../src/commands/operations/lost-time.ts';

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 12, minute));
const lost = { backupAt: at(0), stoppedAt: at(10) };
const campaign = { claimed_position: 500, messages_per_second: 10, started: true, scheduled_at: null };

describe('how far a campaign may have been sent in the lost time', () => {
  it('is undefined when its workflow ran no send step since the backup', () => {
    const history = { claimedPosition: 500, reportedAt: at(-30), lastStepAt: at(-30) };
    expect(mayBeClaimedUpTo(campaign, history, lost)).toBeUndefined();
  });

  it('is the last reported position when no later step was running', () => {
    const history = { claimedPosition: 2_300, reportedAt: at(5), lastStepAt: at(4) };
    expect(mayBeClaimedUpTo(campaign, history, lost)).toBe(2_300);
  });

  it('is the last reported position plus what the rate allows since, when a step was running', () => {
    const history = { claimedPosition: 2_300, reportedAt: at(9), lastStepAt: at(9), openStepSince: at(9) };
    expect(mayBeClaimedUpTo(campaign, history, lost)).toBe(2_300 + 10 * (60 + 10));
  });

  it('is never before the position of the record', () => {
    const history = { claimedPosition: 100, reportedAt: at(-9), lastStepAt: at(-1), openStepSince: at(-1) };
    expect(mayBeClaimedUpTo(campaign, history, lost)).toBe(500 + 10 * (600 + 10));
  });

  it('is bounded by the rate alone when Temporal has no history, or no step reported a position', () => {
    expect(mayBeClaimedUpTo(campaign, undefined, lost)).toBe(500 + 10 * (600 + 10));
    expect(mayBeClaimedUpTo(campaign, { lastStepAt: at(3) }, lost)).toBe(500 + 10 * (600 + 10));
  });

  it('is undefined for a campaign that was not due yet', () => {
    const scheduled = { ...campaign, started: false, claimed_position: 0, scheduled_at: at(11) };
    expect(mayBeClaimedUpTo(scheduled, undefined, lost)).toBeUndefined();
    expect(mayBeClaimedUpTo({ ...scheduled, scheduled_at: at(9) }, undefined, lost)).toBe(10 * (600 + 10));
  });
});
