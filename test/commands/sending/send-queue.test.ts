import { expect, it, vi } from 'vitest';
import { SendQueue } from '../../../src/commands/sending/send-queue.ts';
import { ProviderTraffic } from '../../../src/commands/sending/throughput.ts';
import { reportedLagMs } from '../../../src/records/sending/channel-rate.ts';
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
    channelId: 'channel',
    traffic: new ProviderTraffic(),
    messagesPerSecond: 100_000,
    answerMs: 1,
    share: 1,
    connections: 8,
    send: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return { kind: 'accepted', providerMessageId: 'wamid.1', messageStatus: 'accepted', otherIds: [] };
    },
    isStopped: () => false,
    onResult: () => {
      settled += 1;
    },
    writeLag: (lagMs) => delays.push(lagMs) > 0,
  });
  // In the future, so that a pause of this process before the call is no lag.
  queue.add({ recipients, startsAt: performance.now() + 100, spacingMs: 0.01, endedAtClaim: 0 });
  const endsAt = queue.endsAt;
  await queue.drain();
  expect(settled).toBe(1_000);
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(reportedLagMs);
  const writtenMs = delays.reduce((sum, lagMs) => sum + lagMs, 0);
  expect(writtenMs).toBeGreaterThan(50);
  const unwrittenMs = queue.endsAt - endsAt - writtenMs;
  expect(unwrittenMs).toBeLessThan(reportedLagMs);
  expect(unwrittenMs).toBeGreaterThan(-0.001);
});

it('delays the schedule by the lag that grew during a claim, although others took tokens meanwhile', async () => {
  const delays: number[] = [];
  let isClaiming = false;
  const queue = new SendQueue({
    channelId: 'channel',
    traffic: new ProviderTraffic(),
    messagesPerSecond: 1_000,
    answerMs: 1,
    share: 1,
    connections: 100,
    send: async () => ({
      kind: 'accepted',
      providerMessageId: 'wamid.1',
      messageStatus: 'accepted',
      otherIds: [],
    }),
    isStopped: () => false,
    onResult: () => undefined,
    writeLag: (lagMs) => !isClaiming && delays.push(lagMs) > 0,
  });
  const startsAt = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(startsAt);
  const [some, others] = [recipients.slice(0, 10), recipients.slice(10, 12)];
  queue.add({ recipients: some, startsAt, spacingMs: 1, endedAtClaim: 0 });
  const endedAtClaim = queue.endsAt;
  isClaiming = true;
  clock.mockReturnValue(startsAt + 100);
  queue.sendDue();
  isClaiming = false;
  expect(delays).toEqual([]);
  const laterMs = queue.endsAt - endedAtClaim;
  expect(laterMs).toBeGreaterThan(50);
  queue.add({ recipients: others, startsAt: startsAt + 500, spacingMs: 1, endedAtClaim });
  expect(delays).toEqual([laterMs]);
  clock.mockRestore();
  await queue.drain();
});
