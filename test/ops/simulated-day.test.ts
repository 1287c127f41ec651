import { describe, expect, it } from 'vitest';
import { simulateDay, type UnitCosts } from '../../bench/support/simulated-day.ts';

const one = { node: 1, postgres: 1, wal: 100, kept: 10 };
const costs: UnitCosts = {
  prepared: one,
  sent: one,
  callback: one,
  status: one,
  event: one,
  delivery: { ...one, temporal: 10, temporalKept: 50 },
};
const demand = {
  messages: 1_000_000,
  hours: [1, ...Array.from({ length: 23 }, () => 0)],
  channelRate: 1_000,
  statusesPerMessage: 2,
  eventsPerMessage: 1,
};
const plenty = { databases: 4, coresOfDatabase: 64, nodeCores: 256, temporalCores: 256, highestLoad: 1 };

describe('the simulated day', () => {
  it('sends no faster than the channels may, and everything in the end', () => {
    const day = simulateDay(costs, demand, plenty);
    expect(day.peakSent).toBeCloseTo(1_000);
    expect(day.unserved).toBe(0);
    expect(day.sendingBehindMinutes).toBe(7);
    expect(day.statusesBehindMinutes).toBe(0);
  });

  it('has webhooks wait for a Temporal that is too small, and nothing else', () => {
    const day = simulateDay(costs, demand, { ...plenty, temporalCores: 2 });
    expect(day.peakDeliveries).toBeCloseTo(200);
    expect(day.deliveriesBehindMinutes).toBeGreaterThan(20);
    expect(day.sendingBehindMinutes).toBe(7);
  });

  it('keeps what each thing leaves behind', () => {
    const { keptGigabytes } = simulateDay(costs, demand, plenty);
    expect(keptGigabytes.recipients).toBeCloseTo(0.04);
    expect(keptGigabytes.callbacks).toBeCloseTo(0.02);
    expect(keptGigabytes.temporal).toBeCloseTo(0.05);
  });
});
