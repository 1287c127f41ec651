import { expect, it } from 'vitest';
import { SendQueue } from '../../../src/commands/sending/send-queue.ts';
import { toldLateMs } from '../../../src/records/sending/channel-rate.ts';
import type { ClaimedRecipient } from '../../../src/records/sending/claim-batch.ts';

const recipients = Array.from({ length: 1_000 }, (_, index): ClaimedRecipient => ({
  claimId: '',
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
  const queue = new SendQueue({
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
  queue.add({ recipients, startsAt: performance.now(), spacingMs: 0.01, askedEnd: 0 });
  const endsAt = queue.endsAt;
  await queue.empty();
  expect(settled).toBe(1_000);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(toldLateMs);
  const toldMs = delays.reduce((sum, lateMs) => sum + lateMs, 0);
  expect(toldMs).toBeGreaterThan(50);
  const untoldMs = queue.endsAt - endsAt - toldMs;
  expect(untoldMs).toBeLessThan(toldLateMs);
  expect(untoldMs).toBeGreaterThan(-0.001);
});

it('delays the schedule by what the queue became later while a page was asked for, although others have leased before it', async () => {
  const delays: number[] = [];
  let isClaiming = false;
  const queue = new SendQueue({
    messagesPerSecond: 1_000,
    answerMs: 1,
    share: 1,
    most: 100,
    send: async () => ({
      kind: 'accepted',
      providerMessageId: 'wamid.1',
      messageStatus: 'accepted',
      otherIds: [],
    }),
    stopped: () => false,
    settle: () => undefined,
    endsLater: (lateMs) => !isClaiming && delays.push(lateMs) > 0,
  });
  const startsAt = performance.now();
  const [some, others] = [recipients.slice(0, 10), recipients.slice(10, 12)];
  queue.add({ recipients: some, startsAt, spacingMs: 1, askedEnd: 0 });
  const askedEnd = queue.endsAt;
  isClaiming = true;
  while (performance.now() < startsAt + 100);
  queue.leave();
  isClaiming = false;
  expect(delays).toEqual([]);
  const laterMs = queue.endsAt - askedEnd;
  expect(laterMs).toBeGreaterThan(50);
  queue.add({ recipients: others, startsAt: startsAt + 500, spacingMs: 1, askedEnd });
  expect(delays).toEqual([laterMs]);
  await queue.empty();
});
