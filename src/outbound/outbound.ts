import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Readable, Transform } from 'node:stream';
import type { Config } from '../config.ts';
import { checkTargetUrl, createOutboundPolicy, type TargetUrlCheck } from './address-guard.ts';
import { dial, type Dialer, DialError } from './dial.ts';
import { postWebhook, type WebhookOutcome, type WebhookRequest } from './post-webhook.ts';
import { createResolver } from './resolver.ts';
import { Failure } from '../domain/error.ts';

/** Requests to addresses that customers choose. The messaging provider has its own client. */
export interface Outbound {
  /** Checks a URL when it is stored, without resolving its name. */
  readonly checkUrl: (url: string) => TargetUrlCheck;
  readonly postWebhook: (request: WebhookRequest) => Promise<WebhookOutcome>;
  readonly fetchFile: (url: string, limits?: FetchLimits) => Promise<FetchFileResult>;
}

export function createOutbound(
  config: Pick<Config, 'outboundAllowCidrs' | 'outboundDnsServers'>,
  options: Pick<Dialer, 'extraAuthorities'> = {},
): Outbound {
  const dialer: Dialer = {
    policy: createOutboundPolicy(config.outboundAllowCidrs),
    resolve: createResolver({ servers: config.outboundDnsServers }),
    ...options,
  };
  return {
    checkUrl: (url) => checkTargetUrl(url, dialer.policy),
    postWebhook: (message) => postWebhook(dialer, message),
    fetchFile: (url, limits) => fetchFile(dialer, url, limits),
  };
}

/** The preparation error codes with which a download can fail. */
export type FileErrorCode = 'FILE_FETCH_REFUSED' | 'FILE_NOT_FOUND' | 'FILE_TOO_LARGE';

/** Thrown before the body starts; later errors destroy the stream. */
export class FileFetchError extends Failure {
  readonly code: FileErrorCode;
  /** True for a failure that may be temporary: one of the network or the file server, not of the file. */
  readonly isTemporary: boolean;
  constructor(code: FileErrorCode, message: string, isTemporary = false) {
    super(message);
    this.code = code;
    this.isTemporary = isTemporary;
  }
}

export type FetchFileResult =
  | { readonly ok: true; readonly stream: Readable; readonly contentType: string }
  | { readonly ok: false; readonly error: FileFetchError };

export interface FetchLimits {
  readonly maxBytes: number;
  /** Time limit from the name lookup to the response head. */
  readonly headTimeoutMs: number;
  /** Time limit of the whole download, including a slow reader. */
  readonly totalTimeoutMs: number;
}

const defaultLimits: FetchLimits = {
  maxBytes: 256 * 1024 * 1024,
  headTimeoutMs: 10_000,
  totalTimeoutMs: 600_000,
};

function getResponse(socket: Socket, url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, accept: '*/*', 'accept-encoding': 'identity', connection: 'close' },
      signal,
    });
    outgoing.on('response', resolve);
    outgoing.on('upgrade', () => reject(new Error('the server switched protocols')));
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function dialFailure({ problem }: DialError): FileFetchError {
  if (problem === 'blocked_address') {
    return new FileFetchError('FILE_FETCH_REFUSED', 'The file URL points to an address that is not allowed');
  }
  const isTemporary = problem !== 'name_not_found';
  return new FileFetchError('FILE_NOT_FOUND', `The file server cannot be reached (${problem})`, isTemporary);
}

/** Returns the error that the response head implies, or undefined if the body may be read. */
function headFailure(response: IncomingMessage, maxBytes: number): FileFetchError | undefined {
  const status = response.statusCode ?? 0;
  if (status >= 300 && status <= 399) {
    return new FileFetchError('FILE_FETCH_REFUSED', 'The file URL answers with a redirect');
  }
  if (status !== 200) {
    const isTemporary = status >= 500 || status === 429;
    return new FileFetchError('FILE_NOT_FOUND', `The file URL answers with status ${status}`, isTemporary);
  }
  if ((response.headers['content-encoding'] ?? 'identity') !== 'identity') {
    return new FileFetchError('FILE_FETCH_REFUSED', 'The file URL answers with a compressed body');
  }
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) return tooLarge(maxBytes);
  return undefined;
}

function tooLarge(maxBytes: number): FileFetchError {
  return new FileFetchError('FILE_TOO_LARGE', `The file is larger than ${maxBytes} bytes`);
}

function limitedTo(maxBytes: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > maxBytes) done(tooLarge(maxBytes));
      else done(null, chunk);
    },
  });
}

/** Applies the limits to the body; exceeding one destroys it with a FileFetchError. */
function limitedBody(response: IncomingMessage, limits: FetchLimits, elapsedMs: number): Readable {
  const body = limitedTo(limits.maxBytes);
  const timer = setTimeout(() => {
    body.destroy(new FileFetchError('FILE_NOT_FOUND', 'The download took too long', true));
  }, limits.totalTimeoutMs - elapsedMs);
  response.on('error', () => {
    body.destroy(new FileFetchError('FILE_NOT_FOUND', 'The download was cut off', true));
  });
  pipeline(response, body, () => clearTimeout(timer));
  return body;
}

/**
 * Downloads a customer's file as a stream, with the same address checks as for webhooks. Follows no redirects. The caller
 * must read the stream to its end or destroy it.
 */
export async function fetchFile(
  dialer: Dialer,
  fileUrl: string,
  limits: FetchLimits = defaultLimits,
): Promise<FetchFileResult> {
  const target = checkTargetUrl(fileUrl, dialer.policy);
  if (!target.ok) {
    const error = new FileFetchError('FILE_FETCH_REFUSED', `The file URL is not allowed (${target.problem})`);
    return { ok: false, error };
  }
  const startedAt = performance.now();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), limits.headTimeoutMs);
  let socket: Socket | undefined;
  try {
    socket = await dial(dialer, target.url, controller.signal);
    const response = await getResponse(socket, target.url, controller.signal);
    const error = headFailure(response, limits.maxBytes);
    if (error === undefined) {
      return {
        ok: true,
        stream: limitedBody(response, limits, performance.now() - startedAt),
        contentType: response.headers['content-type'] ?? '',
      };
    }
    socket.destroy();
    return { ok: false, error };
  } catch (error) {
    socket?.destroy();
    if (error instanceof DialError) return { ok: false, error: dialFailure(error) };
    return {
      ok: false,
      error: new FileFetchError('FILE_NOT_FOUND', 'The file server did not answer properly', true),
    };
  } finally {
    clearTimeout(timer);
  }
}
