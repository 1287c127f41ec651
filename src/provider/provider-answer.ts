import { headerOf, type Exchange } from './exchange.ts';
import { isObject, type RequestFailure, type SendRejected, type SendResult } from './provider.ts';
import { cleanId } from '../domain/clean-text.ts';

type Answered = Extract<Exchange, { kind: 'answered' }>;

/** Classifies the response to a send. An outcome that is neither certainly accepted nor certainly refused is `unknown`. */
export function toSendResult(exchange: Exchange, to: string): SendResult {
  if (exchange.kind !== 'answered') return exchange;
  const body = parseJson(exchange.body);
  const refusal = toFailure(exchange, body);
  if (refusal) return refusal;
  const messages = isObject(body) ? body['messages'] : undefined;
  const message: unknown = Array.isArray(messages) ? messages[0] : undefined;
  const id = isObject(message) ? idOf(message['id']) : undefined;
  if (!isObject(message) || id === undefined)
    return { kind: 'unknown', cause: 'answer without a message id' };
  return {
    kind: 'accepted',
    providerMessageId: id,
    messageStatus: typeof message['message_status'] === 'string' ? message['message_status'] : 'accepted',
    otherIds: contactIdsOf(body).filter((other) => other !== to),
  };
}

/** The protocol defines ids as strings; an integer is accepted and read as the id that callbacks use. */
function idOf(value: unknown): string | undefined {
  const id = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  return typeof id === 'string' && id !== '' ? cleanId(id) : undefined;
}

/** Returns the body of a GET response, or the reason why there is none. */
export function toReading(
  exchange: Exchange,
): { readonly body: unknown } | { readonly failure: RequestFailure } {
  if (exchange.kind !== 'answered') return { failure: exchange };
  const body = parseJson(exchange.body);
  const failure = toFailure(exchange, body);
  if (failure) return { failure };
  return body === undefined ? { failure: { kind: 'unknown', cause: 'answer is not JSON' } } : { body };
}

/**
 * Classifies a response. A response with the provider's error body is a refusal, whatever its HTTP status. Without an error
 * body, a 4xx is a refusal too, and so is a 503 with a time to try again: no backend took the request. After any other 5xx
 * the message may have been accepted, because gateways also return 503 if the backend breaks off after it received the
 * request.
 */
function toFailure(answer: Answered, body: unknown): RequestFailure | undefined {
  const error = isObject(body) ? body['error'] : undefined;
  if (isObject(error) && toCode(error['code']) !== null) return toRejection(answer, error);
  if (answer.httpStatus >= 200 && answer.httpStatus < 300) return undefined;
  const asksToWait = answer.httpStatus === 503 && headerOf(answer.headers, 'retry-after') !== undefined;
  if (answer.httpStatus >= 500 && !asksToWait) {
    return { kind: 'unknown', cause: `HTTP ${answer.httpStatus} without the provider's error` };
  }
  return toRejection(answer, isObject(error) ? error : {});
}

function toRejection(answer: Answered, error: Readonly<Record<string, unknown>>): SendRejected {
  const retryAfterMs = retryAfter(answer.headers);
  return {
    kind: 'rejected',
    code: toCode(error['code']) ?? answer.httpStatus,
    subcode: toCode(error['error_subcode']),
    httpStatus: answer.httpStatus,
    message: typeof error['message'] === 'string' ? error['message'] : `HTTP ${answer.httpStatus}`,
    details: detailsOf(error),
    isTransient: error['is_transient'] === true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function toCode(value: unknown): number | null {
  const code = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof code === 'number' && Number.isInteger(code) ? code : null;
}

/** `error_data` is an object with `details`, or the details themselves as a string. */
function detailsOf(error: Readonly<Record<string, unknown>>): string | null {
  const data = error['error_data'];
  const details = isObject(data) ? data['details'] : data;
  const text = details ?? error['error_user_msg'];
  return typeof text === 'string' ? text : null;
}

function contactIdsOf(body: unknown): readonly string[] {
  const contacts = isObject(body) ? body['contacts'] : undefined;
  const contact: unknown = Array.isArray(contacts) ? contacts[0] : undefined;
  const ids = isObject(contact) ? [contact['wa_id'], contact['user_id']] : [];
  return ids.flatMap((id) => (typeof id === 'string' && id !== '' ? [cleanId(id)] : []));
}

/**
 * 1 h: if the provider wants a longer wait, its next response asks again. The channel's pause ends by itself
 * (`channel-rate.ts`).
 */
const longestWaitMs = 60 * 60 * 1000;

/** Reads Retry-After (seconds or a date), or else the provider's own usage header, which is in minutes. */
function retryAfter(headers: Answered['headers']): number | undefined {
  const given = headerOf(headers, 'retry-after');
  const wait = given === undefined ? regainAccess(headers) : delayOf(given, headerOf(headers, 'date'));
  return wait === undefined || !(wait > 0) ? undefined : Math.min(wait, longestWaitMs);
}

function delayOf(retryAfterHeader: string, date: string | undefined): number | undefined {
  if (/^\d+$/.test(retryAfterHeader)) return Number(retryAfterHeader) * 1000;
  const wait = Date.parse(retryAfterHeader) - (date === undefined ? Date.now() : Date.parse(date));
  return Number.isNaN(wait) ? undefined : wait;
}

function regainAccess(headers: Answered['headers']): number | undefined {
  const usage = headerOf(headers, 'x-business-use-case-usage');
  const accounts = usage === undefined ? undefined : parseJson(usage);
  const minutes = Object.values(isObject(accounts) ? accounts : {})
    .flat()
    .map((entry) => (isObject(entry) ? Number(entry['estimated_time_to_regain_access'] ?? 0) : 0))
    .filter(Number.isFinite);
  return minutes.length === 0 ? undefined : Math.max(...minutes) * 60_000;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
