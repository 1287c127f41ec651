/** Reads the body of one request as its declaration says; charges its rate limit and reserves memory for it. */
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { Declaration } from '../endpoint.ts';
import { CallerGone, HttpProblem } from '../error-envelope.ts';
import { parseJsonObject, scanJson } from './json-body.ts';
import type { MemoryShare } from './memory-budget.ts';
import { fileReceiver } from './receive-file.ts';
import type { FrameContext } from '../state.ts';

const defaultBodyLimit = 1024 * 1024;
const mostValuesPerMebibyte = 100_000;
/** Most values of any body; more than there are phone numbers in the largest body. */
const mostValues = 2_500_000;
/** Estimated memory of a parsed value of any type. */
const bytesPerValue = 64;
// A body costs one token for each of these units, an answer for its bytes; the request's own token pays the first unit of each.
export const bytesPerToken = 64 * 1024;
const valuesPerToken = 1_000;
const noBytes = Buffer.alloc(0);

/** Charges the rate limit for a stream, bit by bit, whatever becomes of it. */
export function countBytes(charge: (tokens: number) => void): (bytes: number) => void {
  let uncharged = 0;
  return (bytes) => {
    uncharged += bytes;
    const tokens = Math.floor(uncharged / bytesPerToken);
    uncharged -= tokens * bytesPerToken;
    if (tokens > 0) charge(tokens);
  };
}

export interface Receiving {
  readonly ctx: FrameContext;
  readonly declaration: Pick<
    Declaration,
    'access' | 'body' | 'bodyIsOptional' | 'bodyMayBeNull' | 'bodyLimit' | 'jsonBody'
  >;
  readonly timeoutMs: number;
  readonly memory: MemoryShare;
  /** Charges the rate limit for the body, in addition to the request itself, even when the body is refused. */
  readonly charge: (tokens: number) => void;
}

export interface Received {
  readonly value: unknown;
  /** The raw body, which the hash of an Idempotency-Key covers. */
  readonly bytes: Buffer;
}

export async function receiveBody({
  ctx,
  declaration: {
    access,
    body = 'none',
    bodyIsOptional,
    bodyMayBeNull,
    bodyLimit = defaultBodyLimit,
    jsonBody,
  },
  timeoutMs,
  memory,
  charge,
}: Receiving): Promise<Received> {
  const limits = { limit: bodyLimit, timeoutMs, memory, isFromStranger: access === 'public' };
  if (body === 'none') return { value: undefined, bytes: noBytes };
  if (body === 'multipart' && !(jsonBody !== undefined && isJson(ctx.req.headers['content-type']))) {
    requireMultipart(ctx.req);
    return { value: fileReceiver(ctx, countBytes(charge)), bytes: noBytes };
  }
  if (body === 'raw') {
    const bytes = await readBytes(ctx.req, limits);
    return { value: bytes, bytes };
  }
  if (bodyIsOptional && !hasBody(ctx.req)) return { value: {}, bytes: noBytes };
  const bytes = await readJsonBytes(ctx.req, limits);
  if (bytes === undefined) throw new HttpProblem(400, 'Request body is required');
  charge(Math.floor(bytes.length / bytesPerToken));
  if (bodyMayBeNull && bytes.length < 100 && bytes.toString().trim() === 'null')
    return { value: null, bytes };
  const most = bodyLimit <= defaultBodyLimit ? mostValuesPerMebibyte : mostValues;
  const { values, ...scan } = await scanJson(bytes, most);
  charge(Math.floor(values / valuesPerToken));
  if (values > most) throw new HttpProblem(400, `Request body must not hold more than ${most} values`);
  memory.take(bytes.length + values * bytesPerValue);
  return { value: await parseJsonObject(bytes, scan), bytes };
}

interface BodyLimits {
  /** Bytes, also after inflating. */
  readonly limit: number;
  readonly timeoutMs: number;
  readonly memory: MemoryShare;
  /** True for callers without a key: memory is reserved for bytes that have arrived, not for the declared length. */
  readonly isFromStranger: boolean;
}

/**
 * Throws HttpProblem 413 for a body beyond the limit, 503 for one that does not fit into memory, 408 for one that arrives too
 * late. If the length is declared, 413 comes before the first byte; 503 does so too, but only for a caller with a key.
 */
function readBytes(
  request: IncomingMessage,
  { limit, timeoutMs, memory, isFromStranger }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > limit) {
      reject(tooLarge(limit));
      return;
    }
    const weighed = isFromStranger ? 0 : declared;
    memory.take(weighed);
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(
      () => settle(() => reject(new HttpProblem(408, 'The request body took too long to arrive'))),
      timeoutMs,
    );
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      finish();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > limit) throw tooLarge(limit);
        if (weighed === 0) memory.take(chunk.length);
        chunks.push(chunk);
      } catch (problem) {
        settle(() => reject(problem as Error));
      }
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)));
    const onGone = () => settle(() => reject(new CallerGone()));
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/** The bytes of a JSON body, inflated; undefined when the request has none. Refuses other media types: 415. */
async function readJsonBytes(request: IncomingMessage, limits: BodyLimits): Promise<Buffer | undefined> {
  const contentType = request.headers['content-type'];
  if (contentType === undefined && !hasBody(request)) return undefined;
  if (!isJson(contentType)) throw new HttpProblem(415, 'Content-Type must be application/json');
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new HttpProblem(415, 'Content-Encoding must be gzip or identity');
  }
  const bytes = await readBytes(request, limits);
  return encoding === 'gzip' ? inflateWithin(bytes, limits) : bytes;
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** `multipart/form-data`, else 415. */
function requireMultipart({ headers }: IncomingMessage): void {
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) {
    throw new HttpProblem(415, 'Content-Type must be multipart/form-data, as curl -F sends it');
  }
}

function isJson(contentType: string | undefined): boolean {
  const [mediaType = '', ...parameters] = (contentType ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (mediaType !== 'application/json') return false;
  return parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
}

// Inflated as a stream, because the inflated size is known only piece by piece.
async function inflateWithin(
  bytes: Buffer,
  { limit, memory }: Pick<BodyLimits, 'limit' | 'memory'>,
): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 });
  gunzip.end(bytes);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      memory.take(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof HttpProblem ? error : new HttpProblem(400, 'Request body is not valid gzip');
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): HttpProblem {
  return new HttpProblem(413, `Request body must not be larger than ${limit} bytes`);
}
