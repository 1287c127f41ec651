import { expect, it } from 'vitest';
import { createSecretBox } from '../../../src/secrets.ts';

const key = 'a key that is long enough';
const box = createSecretBox([key]);

it('opens a secret in the row it was sealed for, and in no other', () => {
  const sealed = box.encrypt('token', 'channel 1');
  expect(box.decrypt(sealed, 'channel 1')).toBe('token');
  expect(() => box.decrypt(sealed, 'channel 2')).toThrow();
  expect(() => box.decrypt(sealed, 'webhook 1')).toThrow();
  expect(box.isStale(sealed)).toBe(false);
});

it('opens no secret of another layout', () => {
  const sealed = box.encrypt('token', 'channel 1');
  sealed[0] = 1;
  expect(() => box.decrypt(sealed, 'channel 1')).toThrow();
});

it('calls a secret of an older key stale', () => {
  const rotated = createSecretBox(['another key that is long enough', key]);
  const sealed = box.encrypt('token', 'channel 1');
  expect(rotated.decrypt(sealed, 'channel 1')).toBe('token');
  expect(rotated.isStale(sealed)).toBe(true);
});
