/**
 * Requests that must not be carried out twice, such as a recharge. Until one is answered, another with the same body has the
 * same Idempotency-Key, also after a reload or a new sign-in in this tab: it is unknown whether the first arrived.
 */
import { clientSeenBy, type api } from './client.ts';

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

const seedOf = (action: string): string => `unanswered ${action}`;

/** Where the key of an unanswered body is kept: by a hash with a random seed, so that this tab keeps neither names nor numbers. */
async function placeOf(action: string, body: object): Promise<string> {
  const seed = sessionStorage.getItem(seedOf(action)) ?? crypto.randomUUID();
  sessionStorage.setItem(seedOf(action), seed);
  const text = new TextEncoder().encode(seed + JSON.stringify(body));
  return `${seedOf(action)} ${hex(await crypto.subtle.digest('SHA-256', text))}`;
}

/** From now on every body is a new request: with another seed, the kept keys are not found any more. */
export const forgetUnanswered = (action: string): void => sessionStorage.removeItem(seedOf(action));

export interface Sent<A> {
  readonly answer: A;
  /** True where an earlier request had arrived: this one did nothing, and has the answer of then. */
  readonly isRepeated: boolean;
}

/** `action` names what is done, with the record that it is done to. */
export async function sendOnce<A, B extends object>(
  action: string,
  operation: (client: api.Client, body: B, options: api.CallOptions) => Promise<A>,
  body: B,
): Promise<Sent<A>> {
  const place = await placeOf(action, body);
  const earlier = sessionStorage.getItem(place);
  const idempotencyKey = earlier ?? crypto.randomUUID();
  sessionStorage.setItem(place, idempotencyKey);
  let isReplayed = false;
  const client = clientSeenBy(({ headers }) => (isReplayed = headers.has('Idempotent-Replayed')));
  const answer = await operation(client, body, { idempotencyKey });
  sessionStorage.removeItem(place);
  return { answer, isRepeated: earlier !== null && isReplayed };
}
