import { expect, it } from 'vitest';
import { createLogSample } from '../../src/telemetry/logger.ts';

it.each([
  [0, 0],
  [1, 10],
  [33, 330],
  [100, 1000],
])('writes %i percent of the lines: %i of a thousand', (percent, written) => {
  const isSampled = createLogSample(percent);
  const lines = Array.from({ length: 1000 }, () => isSampled());
  expect(lines.filter(Boolean)).toHaveLength(written);
});
