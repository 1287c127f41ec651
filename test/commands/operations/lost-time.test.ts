import { describe, expect, it } from 'vitest';
import { maybeSentUpTo } from '../../../src/commands/operations/restore.ts';

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 12, minute));
const lost = { backupAt: at(0), stoppedAt: at(10) };
const campaign = {
  claimed_position: 500,
  last_position: 100_000,
  messages_per_second: 10,
  started: true,
  scheduled_at: null,
};

describe('how far a campaign may have been sent in the lost time', () => {
  it('is what the rate allows in that time, with a margin of ten seconds', () => {
    expect(maybeSentUpTo(campaign, lost)).toBe(500 + 10 * (600 + 10));
  });

  it('ends with the last recipient', () => {
    expect(maybeSentUpTo({ ...campaign, last_position: 3_000 }, lost)).toBe(3_000);
  });

  it('is nobody for a campaign that was not due yet', () => {
    const scheduled = { ...campaign, started: false, claimed_position: 0, scheduled_at: at(11) };
    expect(maybeSentUpTo(scheduled, lost)).toBe(0);
    expect(maybeSentUpTo({ ...scheduled, scheduled_at: at(9) }, lost)).toBe(10 * (600 + 10));
  });
});
