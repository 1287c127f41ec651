import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSignedBy, isVerifyToken } from '../../src/provider/signature.ts';

const body = Buffer.from('{"text":"caf\\u00e9 \\/ 😀"}');
const digest = createHmac('sha256', 'app-secret').update(body).digest('hex');

describe('isSignedBy', () => {
  it('accepts the digest of the raw bytes', () => {
    expect(isSignedBy(['app-secret'], { body, signature: `sha256=${digest}` })).toBe(true);
    expect(isSignedBy(['app-secret'], { body, signature: `sha256=${digest.toUpperCase()}` })).toBe(true);
    expect(isSignedBy(['new-secret', 'app-secret'], { body, signature: `sha256=${digest}` })).toBe(true);
  });

  it('refuses the digest of the same JSON written differently', () => {
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(body.toString())));

    expect(isSignedBy(['app-secret'], { body: rewritten, signature: `sha256=${digest}` })).toBe(false);
  });

  it.each([
    undefined,
    '',
    'sha256=',
    digest,
    `sha1=${digest}`,
    `sha256=${digest.slice(2)}`,
    `sha256=${digest}00`,
    `sha256=${'zz'.repeat(32)}`,
    `sha256=${'0'.repeat(64)}`,
  ])('refuses the signature %s', (signature) => {
    expect(isSignedBy(['app-secret'], { body, signature })).toBe(false);
  });

  it('refuses another secret', () => {
    expect(isSignedBy(['other-secret', 'older-secret'], { body, signature: `sha256=${digest}` })).toBe(false);
  });
});

describe('isVerifyToken', () => {
  it('accepts the token itself and nothing else', () => {
    expect(isVerifyToken('token', 'token')).toBe(true);
    for (const given of [undefined, '', 'toke', 'token2', 'TOKEN']) {
      expect(isVerifyToken('token', given)).toBe(false);
    }
  });
});
