/** Reads the body of one request as its declaration says; charges its rate limit and reserves memory for it. */
import type { Declaration } from '../endpoint.ts';
import { HttpProblem } from '../http-problem.ts';
import { countValues, parseJsonObject } from './json-body.ts';
import type { MemoryShare } from './memory-budget.ts';
import { hasBody, readBytes, readJsonBytes, requireMultipart } from './read-body.ts';
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

export interface Receiving {
  readonly ctx: FrameContext;
  readonly declaration: Pick<Declaration, 'access' | 'body' | 'bodyIsOptional' | 'bodyLimit'>;
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
  declaration: { access, body = 'none', bodyIsOptional, bodyLimit = defaultBodyLimit },
  timeoutMs,
  memory,
  charge,
}: Receiving): Promise<Received> {
  const limits = { limit: bodyLimit, timeoutMs, memory, isFromStranger: access === 'public' };
  if (body === 'none') return { value: undefined, bytes: noBytes };
  if (body === 'multipart') {
    requireMultipart(ctx.req);
    return { value: fileReceiver(ctx), bytes: noBytes };
  }
  if (body === 'raw') {
    const bytes = await readBytes(ctx.req, limits);
    return { value: bytes, bytes };
  }
  if (bodyIsOptional && !hasBody(ctx.req)) return { value: {}, bytes: noBytes };
  const bytes = await readJsonBytes(ctx.req, limits);
  if (bytes === undefined) throw new HttpProblem(400, 'Request body is required');
  charge(Math.floor(bytes.length / bytesPerToken));
  const most = bodyLimit <= defaultBodyLimit ? mostValuesPerMebibyte : mostValues;
  const values = await countValues(bytes, most);
  charge(Math.floor(values / valuesPerToken));
  if (values > most) throw new HttpProblem(400, `Request body must not hold more than ${most} values`);
  memory.take(bytes.length + values * bytesPerValue);
  return { value: await parseJsonObject(bytes), bytes };
}
