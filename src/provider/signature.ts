import { createHmac, timingSafeEqual } from 'node:crypto';

const prefix = 'sha256=';
const digestBytes = 32;

/** Returns whether the text has the form of a signature; if not, the request is refused before its body is read. */
export const isSignature = (text: string | undefined): text is string =>
  /^sha256=[0-9a-f]{64}$/i.test(text ?? '');

/**
 * Checks the provider's `X-Hub-Signature-256` over the raw bytes of the body in constant time. The body must not be parsed
 * and serialized again, because its escapes would differ.
 */
export function isSignedBy(
  appSecrets: readonly string[],
  { body, signature }: { readonly body: Uint8Array; readonly signature: string | undefined },
): boolean {
  if (!isSignature(signature)) return false;
  const given = Buffer.from(signature.slice(prefix.length), 'hex');
  const expected = appSecrets.map((secret) => createHmac('sha256', secret).update(body).digest());
  return given.length === digestBytes && expected.some((digest) => timingSafeEqual(given, digest));
}

/** Compares the token of the provider's verification request, in constant time for tokens of any length. */
export function isVerifyToken(verifyToken: string, given: string | undefined): boolean {
  if (given === undefined) return false;
  const digest = (text: string): Buffer => createHmac('sha256', 'verify-token').update(text).digest();
  return timingSafeEqual(digest(given), digest(verifyToken));
}
