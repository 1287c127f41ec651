import { createHmac } from 'node:crypto';

export interface SignedMessage {
  /** The event's id: the same for every delivery of the event. */
  readonly id: string;
  /** When this attempt is made. */
  readonly sentAt: Date;
  readonly body: Buffer;
  /** Newest first; all of them sign. None: the message goes unsigned. */
  readonly secrets: readonly string[];
}

const standardPrefix = 'whsec_';

/**
 * Converts a secret to the signing key. Valid base64 after `whsec_` is decoded to bytes (Standard Webhooks); any other text is
 * used as it is, in UTF-8.
 */
export function signingKey(secret: string): Buffer {
  const encoded = secret.startsWith(standardPrefix) ? secret.slice(standardPrefix.length) : '';
  const decoded = Buffer.from(encoded, 'base64');
  // Node ignores invalid base64 characters: the text was valid only if encoding the bytes again gives the same text.
  const isBase64 = decoded.length > 0 && decoded.toString('base64') === encoded;
  return isBase64 ? decoded : Buffer.from(secret, 'utf8');
}

/**
 * `webhook-id`, `webhook-timestamp` and, with a secret, the two signatures: Standard Webhooks 1.0 over
 * `id.timestamp.body`, one per secret, and the plain hexadecimal one over the body by the newest secret.
 */
export function signatureHeaders({
  id,
  sentAt,
  body,
  secrets,
}: SignedMessage): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  const [newest] = secrets;
  if (newest === undefined) return headers;
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.`).update(body);
    return `v1,${hmac.digest('base64')}`;
  });
  const bodyHmac = createHmac('sha256', signingKey(newest)).update(body).digest('hex');
  return {
    ...headers,
    'webhook-signature': signatures.join(' '),
    'X-Webhook-Signature-256': `sha256=${bodyHmac}`,
  };
}
