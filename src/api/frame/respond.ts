/** Answers of handlers → bytes. */
import type { Answer, Declaration, JsonAnswer } from './endpoint.ts';
import type { StoredResponse } from '../../records/workspaces/idempotency-keys.ts';
import type { MemoryShare } from './body/memory-budget.ts';
import type { FrameContext } from './state.ts';

export type Serialise = (answer: JsonAnswer) => StoredResponse;

/**
 * The JSON text of an answer, as the codec of its status encodes it. For one request: what was kept for its Idempotency-Key
 * is not encoded again to be sent.
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

// Small answers are not counted.
const smallAnswer = 64 * 1024;

interface Responding {
  readonly serialise: Serialise;
  readonly memory: MemoryShare;
}

export function respond(ctx: FrameContext, answer: Answer, { serialise, memory }: Responding): void {
  if (answer.headers !== undefined) ctx.set({ ...answer.headers });
  if ('content' in answer) {
    const { content } = answer;
    if (typeof content === 'string' && content.length > smallAnswer) memory.take(content.length);
    ctx.status = answer.status;
    // Before the body: Koa guesses a type for one that has none.
    ctx.res.setHeader('Content-Type', answer.contentType);
    ctx.body = content;
  } else if (answer.body === undefined) {
    ctx.status = answer.status;
    ctx.body = null;
  } else {
    const response = serialise(answer);
    // Until it is sent: a caller that does not read what it asked for keeps it in memory.
    if (response.body.length > smallAnswer) memory.take(response.body.length);
    respondText(ctx, response);
  }
}

export function respondText(ctx: FrameContext, { status, body }: StoredResponse): void {
  ctx.status = status;
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.body = body;
}
