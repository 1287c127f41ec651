/** Answers of handlers → bytes. */
import type { Answer, Declaration, JsonAnswer } from './endpoint.ts';
import type { StoredResponse } from '../records/idempotency-keys.ts';
import type { FrameContext } from './frame-state.ts';

/** The JSON text of an answer, as the codec of its status encodes it. */
export function serialise(
  { operationId, responses }: Declaration,
  { status, body }: JsonAnswer,
): StoredResponse {
  const declared = responses[status];
  if (declared?.body === undefined) throw new Error(`${operationId} declares no JSON body for ${status}`);
  return { status, body: JSON.stringify(declared.body.encode(body)) };
}

export function respond(ctx: FrameContext, declaration: Declaration, answer: Answer): void {
  if (answer.headers !== undefined) ctx.set({ ...answer.headers });
  if ('content' in answer) {
    ctx.status = answer.status;
    ctx.body = answer.content;
    // After the body: Koa guesses a type when it sees one.
    ctx.set('Content-Type', answer.contentType);
  } else if (answer.body === undefined) {
    ctx.status = answer.status;
    ctx.body = null;
  } else {
    respondText(ctx, serialise(declaration, answer));
  }
}

export function respondText(ctx: FrameContext, { status, body }: StoredResponse): void {
  ctx.status = status;
  ctx.body = body;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
}
