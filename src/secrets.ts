/**
 * Encrypts secrets at rest with AES-256-GCM. The key's id precedes the cipher text, so that keys can be rotated (`SECRETS_KEY`
 * encrypts, `SECRETS_KEY_PREVIOUS` only decrypts). A secret is bound to its row: copied to another row, it cannot be decrypted.
 * Layout: version (1 byte) · key id (8) · nonce (12) · tag (16) · cipher text.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** The row that owns the secret: the id of a channel, webhook configuration or notice target, or the workspace of an erasure key. */
export type SecretRow = `channel ${string}` | `webhook ${string}` | `notice ${string}` | `erasure ${string}`;

export interface SecretBox {
  readonly encrypt: (plainText: string, row: SecretRow) => Buffer;
  /** Throws if the key is unknown, the text was altered, or it belongs to another row. */
  readonly decrypt: (cipherText: Buffer, row: SecretRow) => string;
  /** True when the text was encrypted under an older key. */
  readonly isStale: (cipherText: Buffer) => boolean;
}

/** Version of the layout; stored, so that a later layout can be recognised. */
const layoutVersion = 2;
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
    encrypt(plainText, row) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce).setAAD(Buffer.from(row));
      const body = Buffer.concat([cipher.update(plainText, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(layoutVersion), current.id, nonce, cipher.getAuthTag(), body]);
    },
    decrypt(cipherText, row) {
      if (cipherText.length < headerLength || cipherText[0] !== layoutVersion)
        throw new Error('Not an encrypted secret');
      const id = cipherText.subarray(1, 9);
      const found = derived.find((candidate) => candidate.id.equals(id));
      if (found === undefined)
        throw new Error('The secret’s key is neither in SECRETS_KEY nor in SECRETS_KEY_PREVIOUS');
      const decipher = createDecipheriv('aes-256-gcm', found.key, cipherText.subarray(9, 21));
      decipher.setAuthTag(cipherText.subarray(21, 37));
      decipher.setAAD(Buffer.from(row));
      return Buffer.concat([decipher.update(cipherText.subarray(37)), decipher.final()]).toString('utf8');
    },
    isStale: (cipherText) => !current.id.equals(cipherText.subarray(1, 9)),
  };
}
