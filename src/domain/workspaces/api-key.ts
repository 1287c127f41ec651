/**
 * API keys: `mc_<keyId>_<secret>_<checksum>`. The checksum refuses typing errors without a query; the secret is kept as
 * HMAC-SHA256 under a pepper that the database does not hold (190 random bits need no slow hash).
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const keyScopes = ['channel', 'workspace', 'operator'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** The caller that a valid key identifies. */
export interface Principal {
  readonly workspaceId: number;
  /** The public part of the key; recorded as the creator of what the key creates. */
  readonly keyId: string;
  readonly scope: KeyScope;
  /** The sending channel; null unless the scope is `channel`. */
  readonly channelId: string | null;
}

const prefix = 'mc';
const keyIdLength = 12;
const secretLength = 32;
const checksumLength = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = new RegExp(
  `^${prefix}_([0-9A-Za-z]{${keyIdLength}})_([0-9A-Za-z]{${secretLength}})_([0-9A-Za-z]{${checksumLength}})$`,
);

/** The stored part of a key. */
export interface StoredSecret {
  readonly keyId: string;
  readonly secretHash: Buffer;
  readonly pepperId: string;
  readonly last4: string;
}

/** A new key under the present pepper; `apiKey` is shown once and never stored. */
export function mintApiKey(pepper: string): { readonly apiKey: string; readonly stored: StoredSecret } {
  const keyId = randomText(keyIdLength);
  const secret = randomText(secretLength);
  const body = `${prefix}_${keyId}_${secret}`;
  return {
    apiKey: `${body}_${checksum(body)}`,
    stored: {
      keyId,
      secretHash: hashSecret(secret, pepper),
      pepperId: pepperId(pepper),
      last4: secret.slice(-4),
    },
  };
}

/** Returns undefined for anything that is not one of our keys, a mistyped key included. */
export function parseApiKey(text: string): { readonly keyId: string; readonly secret: string } | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, keyId, secret, given] = match as unknown as readonly [string, string, string, string];
  return given === checksum(`${prefix}_${keyId}_${secret}`) ? { keyId, secret } : undefined;
}

/** HMAC-SHA256 of the secret, 32 bytes. */
export function hashSecret(secret: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest();
}

/** Identifies a pepper without revealing it, so that a key is checked under the pepper with which it was created. */
export function pepperId(pepper: string): string {
  return createHash('sha256').update('pepper-id:').update(pepper).digest('hex').slice(0, 16);
}

/** Three base64url parts, the first a JSON object with `alg`; the third may be empty. Nothing of it is verified or trusted. */
export function looksLikeJwt(credential: string): boolean {
  const [header, payload, signature, ...rest] = credential.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0)
    return false;
  if (![header, payload, signature].every((part) => /^[\w-]*$/.test(part)) || header === '') return false;
  try {
    const decoded: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
    return typeof decoded === 'object' && decoded !== null && 'alg' in decoded;
  } catch {
    return false;
  }
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let digit = 0; digit < checksumLength; digit += 1) {
    text = alphabet.charAt(rest % alphabet.length) + text;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}

// Bytes of 248 and above are dropped, so that every character is equally likely.
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}

// Secrets of cookies and sign-in links: 256 random bits, of which the database stores a hash.

export const newSessionSecret = (): string => randomBytes(32).toString('base64url');

/** SHA-256, 32 bytes: so many random bits need no slow hash. */
export const hashSessionSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();
