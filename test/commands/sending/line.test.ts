import { expect, it } from 'vitest';
import { Line } from '../../../src/commands/sending/line.ts';
import { toldLateMs } from '../../../src/records/sending/channel-rate.ts';
import type { ClaimedRecipient } from '../../../src/records/sending/claims.ts';

const recipients = Array.from({ length: 1_000 }, (_, index): ClaimedRecipient => ({
  position: index + 1,
  id: `id-${index}`,
  to: '+4915112345678',
  country: 'DE',
  variables: null,
  attempts: 1,
}));

it('delays the schedule by steps, and not for each message, where a provider answers more slowly than the rate', async () => {
  const ends: number[] = [];
  let settled = 0;
  const line = new Line({
    messagesPerSecond: 100_000,
    answerMs: 1,
    share: 1,
    most: 8,
    send: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return { kind: 'accepted', providerMessageId: 'wamid.1', messageStatus: 'accepted', otherIds: [] };
    },
    stopped: () => false,
    settle: () => {
      settled += 1;
    },
    endsLater: (endsAt) => ends.push(endsAt),
  });
  const startsAt = performance.now();
  line.add(recipients, startsAt, 0.01);
  await line.empty();
  expect(settled).toBe(1_000);
  const lateMs = (ends.at(-1) ?? 0) - startsAt - 10;
  expect(lateMs).toBeGreaterThan(50);
  expect(ends.length).toBeLessThanOrEqual(lateMs / toldLateMs);
  expect(ends).toEqual(ends.toSorted((a, b) => a - b));
});
