import { expect, it } from 'vitest';
import { createSecretBox } from '../../../src/secrets.ts';
import { sealUnbound } from '../../support/unbound-secret.ts';

const key = 'a key that is long enough';
const box = createSecretBox([key]);

it('opens a secret in the row it was sealed for, and in no other', () => {
  const sealed = box.encrypt('token', 'channel 1');
  expect(box.decrypt(sealed, 'channel 1')).toBe('token');
  expect(() => box.decrypt(sealed, 'channel 2')).toThrow();
  expect(() => box.decrypt(sealed, 'webhook 1')).toThrow();
  expect(box.isStale(sealed)).toBe(false);
});

it('does not open a bound secret as one that is not bound', () => {
  const sealed = box.encrypt('token', 'channel 1');
  sealed[0] = 1;
  expect(() => box.decrypt(sealed, 'channel 1')).toThrow();
});

it('opens what was sealed before secrets were bound, and calls it stale', () => {
  const sealed = sealUnbound(key, 'token');
  expect(box.decrypt(sealed, 'channel 1')).toBe('token');
  expect(box.isStale(sealed)).toBe(true);
});
