import { expect, test } from 'vitest';
import { loggedError, redact, withoutValues } from '../../src/telemetry/redact.ts';

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

test('an error is logged with its class and text, without numbers of people and tokens', () => {
  const cause = Object.assign(new Error('no answer from +49 151 1234567'), { code: 'ECONNRESET' });
  expect(loggedError(new TypeError('cannot send', { cause }))).toEqual({
    name: 'TypeError',
    code: 'ECONNRESET',
    message: 'cannot send: no answer from …',
  });
  expect(withoutValues(`refused ${'x'.repeat(40)}\nat line 2`)).toBe('refused …');
  expect(loggedError('plain')).toBe('plain');
});

test('an error of the database or of a parser is logged without its text, which quotes values', () => {
  const cause = Object.assign(new Error('invalid input syntax for type integer: "Ada"'), { code: '22P02' });
  expect(loggedError(new Error('Query failed', { cause }))).toEqual({ name: 'Error', code: '22P02' });
  expect(loggedError(new SyntaxError('Unexpected token A in Ada'))).toEqual({ name: 'SyntaxError' });
});
