import type { WebhookEvent } from './schemas.ts';

export interface WebhookRequest {
  /** The received bytes, or their text; not parsed JSON. */
  readonly body: string | Uint8Array;
  /** `Headers`, or an object with names in lower case such as Node's `request.headers`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly secret: string;
  /** Largest difference between the timestamp and the clock; default 300. */
  readonly toleranceSeconds?: number;
}

/** Returns the event if the signature fits the secret and the timestamp is recent. Throws an Error otherwise. */
export async function verifyWebhook({
  body,
  headers,
  secret,
  toleranceSeconds = 300,
}: WebhookRequest): Promise<WebhookEvent> {
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    return typeof value === 'string' ? value : '';
  };
  const id = header('webhook-id');
  const timestamp = header('webhook-timestamp');
  const age = Math.abs(Date.now() / 1_000 - Number(timestamp));
  if (id === '' || !(age <= toleranceSeconds)) throw new Error('The webhook is too old, or has no timestamp');
  const encoder = new TextEncoder();
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  const signed = new Uint8Array([...encoder.encode(`${id}.${timestamp}.`), ...bytes]);
  const key = await crypto.subtle.importKey(
    'raw',
    keyBytes(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  for (const signature of header('webhook-signature').split(' ')) {
    const given = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : undefined;
    if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed))) {
      return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
    }
  }
  throw new Error('The webhook is not signed with this secret');
}

/** `whsec_…` holds the key in Base64; the key of any other secret is its UTF-8 bytes. */
function keyBytes(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
  const decoded = fromBase64(encoded);
  const isBase64 =
    decoded !== undefined && encoded !== '' && btoa(String.fromCharCode(...decoded)) === encoded;
  return isBase64 ? decoded : new TextEncoder().encode(secret);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}
