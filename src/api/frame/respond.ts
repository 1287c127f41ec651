/** Answers of handlers → bytes. */
import type { Answer, JsonAnswer } from './answer.ts';
import type { Declaration } from './endpoint.ts';
import type { StoredResponse } from '../../records/workspaces/idempotency-keys.ts';
import type { MemoryShare } from './body/memory-budget.ts';
import type { FrameContext } from './state.ts';

export type Serialise = (answer: JsonAnswer) => StoredResponse;

/**
 * Encodes an answer with the codec of its status, once per request: the text that was stored for its Idempotency-Key is sent
 * as it is.
 */
export function createSerialiser({ operationId, responses }: Declaration): Serialise {
  let last: { readonly answer: JsonAnswer; readonly response: StoredResponse } | undefined;
  return (answer) => {
    if (last?.answer === answer) return last.response;
    const { status, body } = answer;
    const declared = responses[status];
    if (declared?.body === undefined) throw new Error(`${operationId} declares no JSON body for ${status}`);
    last = { answer, response: { status, body: JSON.stringify(declared.body.encode(body)) } };
    return last.response;
  };
}

/** 64 KiB: smaller answers are not counted against the memory budget. */
const smallAnswer = 64 * 1024;

interface Responding {
  readonly serialise: Serialise;
  readonly memory: MemoryShare;
}

/** Returns the length of the answer in characters; 0 for a stream. */
export function respond(ctx: FrameContext, answer: Answer, { serialise, memory }: Responding): number {
  if (answer.headers !== undefined) ctx.set({ ...answer.headers });
  if ('content' in answer) {
    const { content } = answer;
    if (typeof content === 'string' && content.length > smallAnswer) memory.take(content.length);
    ctx.status = answer.status;
    // The type is set before the body, because Koa guesses the type of a body without one.
    ctx.res.setHeader('Content-Type', answer.contentType);
    ctx.body = content;
    return typeof content === 'string' || Buffer.isBuffer(content) ? content.length : 0;
  } else if (answer.body === undefined) {
    ctx.status = answer.status;
    ctx.body = null;
    return 0;
  } else {
    const response = serialise(answer);
    // Counts the bytes until they are sent: a caller that reads slowly keeps them in memory.
    if (response.body.length > smallAnswer) memory.take(response.body.length);
    respondText(ctx, response);
    return response.body.length;
  }
}

export function respondText(ctx: FrameContext, { status, body }: StoredResponse): void {
  ctx.status = status;
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.body = body;
}
