import { createCipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** A secret as releases before sealed it: version 1, bound to no row. */
export function sealUnbound(key: string, plainText: string): Buffer {
  const id = createHash('sha256').update('secrets-key-id:').update(key).digest().subarray(0, 8);
  const nonce = randomBytes(12);
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'messaging-campaigns secrets', 32));
  const cipher = createCipheriv('aes-256-gcm', derived, nonce);
  const body = Buffer.concat([cipher.update(plainText, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(1), id, nonce, cipher.getAuthTag(), body]);
}
