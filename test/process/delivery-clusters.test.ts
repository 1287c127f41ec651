import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { chooseCluster } from '../../src/process/delivery-clusters.ts';

/** `count` clusters that record the deliveries started on them; those in `away` fail. */
function fixture(count: number) {
  const clock = { now: 0 };
  const choice = chooseCluster(() => clock.now);
  const started = Array.from({ length: count }, (): string[] => []);
  const away = new Set<number>();
  for (const [index, ids] of started.entries())
    choice.add({
      startWebhookDelivery: async (id) => {
        if (away.has(index)) throw new Error('away');
        ids.push(id);
        return 'here';
      },
    });
  return { choice, clock, started, away };
}

it('spreads deliveries evenly, and each to the same cluster again', async () => {
  const { choice, started } = fixture(3);
  const ids = Array.from({ length: 600 }, () => randomUUID());
  for (const id of [...ids, ...ids]) await choice.startWebhookDelivery(id);
  for (const one of started) {
    expect(one.length).toBeGreaterThan(300);
    expect(one.filter((id, index) => one.indexOf(id) === index)).toHaveLength(one.length / 2);
  }
});

it('starts a delivery on another cluster when one fails, and does not use the failed one for a while', async () => {
  const { choice, clock, started, away } = fixture(2);
  away.add(0);
  const ids = Array.from({ length: 40 }, () => randomUUID());
  for (const id of ids) expect(await choice.startWebhookDelivery(id)).toBe('here');
  expect(started.map((one) => one.length)).toEqual([0, 40]);
  away.clear();
  for (const id of ids) await choice.startWebhookDelivery(id);
  expect(started[0]).toHaveLength(0);
  clock.now += 30_001;
  for (const id of ids) await choice.startWebhookDelivery(id);
  expect(started[0]?.length).toBeGreaterThan(0);
});

it('fails when every cluster does, and tries all of them again at the next start', async () => {
  const { choice, started, away } = fixture(2);
  for (const index of [0, 1]) away.add(index);
  await expect(choice.startWebhookDelivery(randomUUID())).rejects.toThrow('away');
  away.clear();
  expect(await choice.startWebhookDelivery(randomUUID())).toBe('here');
  expect(started.flat()).toHaveLength(1);
});

it('fails while no cluster is connected', async () => {
  await expect(chooseCluster().startWebhookDelivery(randomUUID())).rejects.toThrow('No Temporal cluster');
});
