import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import type { WebhookErrorCode } from '../domain/webhooks/delivery.ts';
import { checkTargetUrl } from './address-guard.ts';
import { dial, type Dialer, DialError } from './dial.ts';

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly the bytes that were signed. */
  readonly body: Buffer;
}

/** The outcome of one attempt. A receiver that fails is an outcome, not an exception. */
export interface WebhookOutcome {
  readonly state: 'delivered' | 'failed';
  readonly errorCode: WebhookErrorCode | null;
  readonly responseStatus: number | null;
  /** The first 16 KiB of the response body as text. */
  readonly responseExcerpt: string | null;
  /** Time from the name lookup to the response head, or to the failure. */
  readonly durationMs: number;
}

/** Spec 6.1: the receiver has 5 seconds. They cover DNS, connect, TLS, the request and the response head. */
const webhookTimeoutMs = 5000;
const excerptLimit = 16 * 1024;
const maxHeaderSize = 16 * 1024;

type Answer =
  | { readonly kind: 'response'; readonly response: IncomingMessage }
  | { readonly kind: 'problem'; readonly errorCode: WebhookErrorCode; readonly status: number | null };

function exchangeProblem(error: NodeJS.ErrnoException): WebhookErrorCode {
  if (error.code === 'ABORT_ERR') return 'timeout';
  return error.code?.startsWith('HPE_') === true ? 'protocol_error' : 'connection_reset';
}

/**
 * Writes the request once and waits for the response head. Uses `node:http` instead of undici: it skips 100 Continue, and
 * with its own socket a request has no pool, retry or redirect that could write it again.
 */
function exchange(socket: Socket, url: URL, message: WebhookRequest, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve) => {
    const outgoing = request({
      createConnection: () => socket,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: {
        ...message.headers,
        host: url.host,
        'content-length': message.body.length,
        connection: 'close',
      },
      maxHeaderSize,
      signal,
    });
    outgoing.on('response', (response) => resolve({ kind: 'response', response }));
    outgoing.on('upgrade', ({ statusCode }) => {
      socket.destroy();
      resolve({ kind: 'problem', errorCode: 'protocol_error', status: statusCode ?? null });
    });
    outgoing.on('error', (error) => {
      resolve({ kind: 'problem', errorCode: exchangeProblem(error), status: null });
    });
    outgoing.end(message.body);
  });
}

function judge(status: number): WebhookErrorCode | null {
  if (status >= 200 && status <= 299) return null;
  return status >= 300 && status <= 399 ? 'redirect' : 'non_2xx';
}

/** Posts to a webhook at most once and ends within five seconds. Never rejects. */
export async function postWebhook(
  dialer: Dialer,
  message: WebhookRequest,
  timeoutMs = webhookTimeoutMs,
): Promise<WebhookOutcome> {
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  const failed = (errorCode: WebhookErrorCode, responseStatus: number | null = null): WebhookOutcome => ({
    state: 'failed',
    errorCode,
    responseStatus,
    responseExcerpt: null,
    durationMs: elapsed(),
  });

  const target = checkTargetUrl(message.url, dialer.policy);
  if (!target.ok) return failed('blocked_address');
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  let socket: Socket | undefined;
  try {
    socket = await dial(dialer, target.url, controller.signal);
    const answer = await exchange(socket, target.url, message, controller.signal);
    if (answer.kind === 'problem') return failed(answer.errorCode, answer.status);
    // The head decides the outcome; reading the body in the remaining time cannot change it.
    const durationMs = elapsed();
    const responseStatus = answer.response.statusCode ?? 0;
    const errorCode = judge(responseStatus);
    const responseExcerpt = await readUpTo(answer.response, excerptLimit, controller.signal);
    const state = errorCode === null ? 'delivered' : 'failed';
    return { state, errorCode, responseStatus, responseExcerpt, durationMs };
  } catch (error) {
    if (!(error instanceof DialError)) throw error;
    return failed(error.problem === 'name_not_found' ? 'dns_error' : error.problem);
  } finally {
    clearTimeout(timer);
    socket?.destroy();
  }
}

/**
 * Reads at most `limit` bytes of a stream as text and destroys it. A connection reset or the signal ends the read early and
 * returns the text received so far. Never rejects.
 */
function readUpTo(stream: Readable, limit: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      signal.removeEventListener('abort', finish);
      stream.off('data', onData).off('end', finish).off('close', finish);
      stream.on('error', () => undefined).destroy();
      resolve(textOf(Buffer.concat(chunks).subarray(0, limit)));
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) finish();
    };
    stream.on('error', finish).once('end', finish).once('close', finish).on('data', onData);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}

/**
 * Decodes leniently: invalid UTF-8 becomes U+FFFD. Drops a character cut off at the end, and NUL, which Postgres cannot
 * store.
 */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\u0000', '');
}
