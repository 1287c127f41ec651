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
  const delays: number[] = [];
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
    endsLater: (lateMs) => delays.push(lateMs) > 0,
  });
  line.add(recipients, performance.now(), 0.01);
  const endsAt = line.endsAt;
  await line.empty();
  expect(settled).toBe(1_000);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(toldLateMs);
  const toldMs = delays.reduce((sum, lateMs) => sum + lateMs, 0);
  expect(toldMs).toBeGreaterThan(50);
  const untoldMs = line.endsAt - endsAt - toldMs;
  expect(untoldMs).toBeLessThan(toldLateMs);
  expect(untoldMs).toBeGreaterThan(-0.001);
});
