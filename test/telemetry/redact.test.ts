import { expect, test } from 'vitest';
import { redact } from '../../src/telemetry/redact.ts';

test.each(['apiKey', 'accessToken', 'secret', 'phoneNumber', 'phone_number', 'authorization'])(
  'hides %s at any depth, in lists too, and leaves what it was given as it is',
  (key) => {
    const given = { [key]: 'x', plain: 1, inner: { list: [{ [key]: ['x'], kept: 'y' }] } };
    expect(redact(given)).toEqual({
      [key]: '[redacted]',
      plain: 1,
      inner: { list: [{ [key]: '[redacted]', kept: 'y' }] },
    });
    expect(given[key]).toBe('x');
  },
);

test('returns the same object when there is nothing to hide', () => {
  const fields = { campaignId: 'c', at: new Date(0), inner: { count: 1n, list: ['a'] } };
  expect(redact(fields)).toBe(fields);
});

test('hides values nested too deep to inspect, and cycles', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  expect(JSON.stringify(redact(cycle))).toContain('[redacted]');
});
