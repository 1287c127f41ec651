/**
 * Encryption of secrets at rest: AES-256-GCM, the key found by an id that stands in front of the cipher text,
 * so that keys can be rotated (`SECRETS_KEY` first, `SECRETS_KEY_PREVIOUS` still read).
 * Layout: version (1 byte) · key id (8) · nonce (12) · tag (16) · cipher text.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

export interface SecretBox {
  readonly encrypt: (plainText: string) => Buffer;
  /** Throws when the key is unknown or the text was altered. */
  readonly decrypt: (cipherText: Buffer) => string;
  /** True when the text was encrypted under an older key. */
  readonly isStale: (cipherText: Buffer) => boolean;
}

const version = 1;
const headerLength = 1 + 8 + 12 + 16;

/** `keys[0]` encrypts; every key decrypts. */
export function createSecretBox(keys: readonly string[]): SecretBox {
  const derived = keys.map((key) => ({
    id: createHash('sha256').update('secrets-key-id:').update(key).digest().subarray(0, 8),
    key: Buffer.from(hkdfSync('sha256', key, '', 'messaging-campaigns secrets', 32)),
  }));
  const current = derived[0];
  if (current === undefined) throw new Error('createSecretBox needs at least one key');

  return {
    encrypt(plainText) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce);
      const body = Buffer.concat([cipher.update(plainText, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(version), current.id, nonce, cipher.getAuthTag(), body]);
    },
    decrypt(cipherText) {
      if (cipherText.length < headerLength || cipherText[0] !== version)
        throw new Error('Not an encrypted secret');
      const id = cipherText.subarray(1, 9);
      const found = derived.find((candidate) => candidate.id.equals(id));
      if (found === undefined)
        throw new Error('The secret was encrypted under a key that SECRETS_KEY does not list');
      const decipher = createDecipheriv('aes-256-gcm', found.key, cipherText.subarray(9, 21));
      decipher.setAuthTag(cipherText.subarray(21, 37));
      return Buffer.concat([decipher.update(cipherText.subarray(37)), decipher.final()]).toString('utf8');
    },
    isStale: (cipherText) => !current.id.equals(cipherText.subarray(1, 9)),
  };
}
