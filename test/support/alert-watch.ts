/** Waits for alerts of a Prometheus, and records how long each took. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Alert, Prometheus } from './prometheus.ts';

const mostSeconds = 60;

type Labels = Readonly<Record<string, string>>;

const isOf = (name: string, labels: Labels) => (alert: Alert) =>
  alert.labels['alertname'] === name &&
  Object.entries(labels).every(([label, value]) => alert.labels[label] === value);

export function watchAlerts(prometheus: Prometheus) {
  const report: string[] = [];
  return {
    /** One line per alert that fired. */
    report,
    /** Breaks something and waits for the alert, which must not have been there before. */
    async fires(name: string, labels: Labels, breakIt: () => Promise<unknown>): Promise<Alert> {
      expect((await prometheus.alerts()).filter(isOf(name, labels)), `${name} before the cause`).toEqual([]);
      const brokenAt = performance.now();
      await breakIt();
      for (;;) {
        const alert = (await prometheus.alerts()).find(isOf(name, labels));
        const seconds = (performance.now() - brokenAt) / 1000;
        if (alert !== undefined) {
          report.push(
            `${name} ${alert.state} after ${seconds.toFixed(1)} s: ${alert.annotations['summary']}`,
          );
          return alert;
        }
        expect(seconds, `${name} does not fire`).toBeLessThan(mostSeconds);
        await sleep(200);
      }
    },
    async isQuiet(name: string): Promise<void> {
      await expect
        .poll(async () => (await prometheus.alerts()).filter(isOf(name, {})).length, { timeout: 60_000 })
        .toBe(0);
    },
  };
}
