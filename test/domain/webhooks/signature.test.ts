import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signatureHeaders, signingKey } from '../../../src/domain/webhooks/signature.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const otherSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const body = Buffer.from('{"text":"grüße 👋"}');

function sign(secrets: readonly string[], sentAt = new Date()) {
  return signatureHeaders({ id: '0199d6c1-0000-7000-8000-000000000001', sentAt, body, secrets });
}

describe('signatureHeaders', () => {
  it('gives the signature of the example that Standard Webhooks publishes', () => {
    const headers = signatureHeaders({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      sentAt: new Date(1_614_265_330_999),
      body: Buffer.from('{"test": 2432232314}'),
      secrets: [secret],
    });
    expect(headers['webhook-timestamp']).toBe('1614265330');
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is accepted by the reference library', () => {
    const payload = new Webhook(secret).verify(body.toString(), { ...sign([secret]) });
    expect(payload).toEqual({ text: 'grüße 👋' });
  });

  it('is accepted by the reference library with a secret that is not base64', () => {
    const verifier = new Webhook('my own token!', { format: 'raw' });
    expect(verifier.verify(body.toString(), { ...sign(['my own token!']) })).toEqual(
      JSON.parse(body.toString()),
    );
  });

  it('is refused by the reference library when the body was altered', () => {
    expect(() => new Webhook(secret).verify('{"text":"x"}', { ...sign([secret]) })).toThrow();
  });

  it('is accepted under the old and the new secret while both sign', () => {
    const headers = sign([otherSecret, secret]);
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect(new Webhook(secret).verify(body.toString(), { ...headers })).toEqual(JSON.parse(body.toString()));
    expect(new Webhook(otherSecret).verify(body.toString(), { ...headers })).toEqual(
      JSON.parse(body.toString()),
    );
  });

  it('signs the body alone with the newest secret', () => {
    const expected = createHmac('sha256', Buffer.alloc(32, 7)).update(body).digest('hex');
    expect(sign([otherSecret, secret])['X-Webhook-Signature-256']).toBe(`sha256=${expected}`);
  });

  it('carries id and time but no signature without a secret', () => {
    expect(Object.keys(sign([]))).toEqual(['webhook-id', 'webhook-timestamp']);
  });
});

describe('signingKey', () => {
  it.each([
    [secret, Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')],
    ['plain', Buffer.from('plain')],
    ['schlüssel', Buffer.from('schlüssel', 'utf8')],
    ['whsec_', Buffer.from('whsec_')],
    ['whsec_not base64!', Buffer.from('whsec_not base64!')],
    ['whsec_abc', Buffer.from('whsec_abc')],
    ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')],
  ])('of %s is the decoded bytes after a valid prefix, else its UTF-8', (text, key) => {
    expect(signingKey(text)).toEqual(key);
  });
});
