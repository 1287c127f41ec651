import { describe, expect, it } from 'vitest';
import {
  hashSecret,
  looksLikeJwt,
  mintApiKey,
  parseApiKey,
  pepperId,
} from '../../../src/domain/workspaces/api-key.ts';

const pepper = 'a pepper of the tests';

describe('an API key', () => {
  it('is read back into the parts that were stored', () => {
    const { apiKey, stored } = mintApiKey(pepper);
    const parts = parseApiKey(apiKey);
    expect(apiKey).toMatch(/^mc_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(parts?.keyId).toBe(stored.keyId);
    expect(hashSecret(parts?.secret ?? '', pepper).equals(stored.secretHash)).toBe(true);
    expect(stored.pepperId).toBe(pepperId(pepper));
    expect(apiKey).toContain(`${stored.last4}_`);
  });

  it('is different every time', () => {
    const keys = new Set(Array.from({ length: 1000 }, () => mintApiKey(pepper).stored.keyId));
    expect(keys.size).toBe(1000);
  });

  it('is refused with any one character changed', () => {
    const { apiKey } = mintApiKey(pepper);
    for (let at = 0; at < apiKey.length; at += 1) {
      const other = apiKey[at] === 'x' ? 'y' : 'x';
      expect(parseApiKey(`${apiKey.slice(0, at)}${other}${apiKey.slice(at + 1)}`)).toBeUndefined();
    }
    expect(parseApiKey(`${apiKey} `)).toBeUndefined();
    expect(parseApiKey('')).toBeUndefined();
  });
});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

it.each([
  ['three parts with alg', `${part({ alg: 'none' })}.${part({})}.abc`, true],
  ['an empty third part', `${part({ alg: 'none' })}.${part({})}.`, true],
  ['no alg', `${part({ typ: 'JWT' })}.${part({})}.abc`, false],
  ['a header that is no object', `${part('alg')}.${part({})}.abc`, false],
  ['a header that is no JSON', 'abc.def.ghi', false],
  ['two parts', `${part({ alg: 'none' })}.abc`, false],
  ['four parts', `${part({ alg: 'none' })}.a.b.c`, false],
  ['characters outside base64url', `${part({ alg: 'none' })}.a+b.c`, false],
])('tells whether a credential with %s is a JWT', (_, credential, expected) => {
  expect(looksLikeJwt(credential)).toBe(expected);
});
