/** One request to one endpoint, in this order: route, method, credentials, rate, body, path, fields, handler. */
import { isLeft } from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { ParameterizedContext } from 'koa';
import { report } from '../codecs/report.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Principal } from '../domain/api-key.ts';
import { Invalid, NotFound, Unauthorized, type FieldProblem } from '../domain/error.ts';
import type { StoredResponse } from '../records/idempotency-keys.ts';
import type { Authenticator } from './authenticate.ts';
import type { Answer, Declaration, Endpoint, EndpointRequest, JsonAnswer } from './endpoint.ts';
import type { FrameState } from './frame-state.ts';
import { HttpProblem } from './http-problem.ts';
import { idempotencyKeyOf, noIdempotency, openIdempotency, Replay } from './idempotency.ts';
import { isStorable, parseJsonObject } from './json-body.ts';
import { createRouteMatcher } from './match-route.ts';
import type { RateLimiter } from './rate-limit.ts';
import { readBytes, readJsonBytes, requireMultipart } from './read-body.ts';

export type FrameContext = ParameterizedContext<FrameState>;

export interface Frame {
  readonly dependencies: Dependencies;
  readonly authenticate: Authenticator;
  readonly keyLimiter: RateLimiter;
  /** Of addresses that present credentials we refuse. */
  readonly addressLimiter: RateLimiter;
  /** The process is on its way out: not ready any more, though requests are still answered. */
  readonly isStopping: () => boolean;
}

const notFound = ' not found';
const defaultBodyLimit = 1024 * 1024;
// What a request may take beside its call to the provider, before its reservation counts as abandoned.
const abandonedAfterMs = 30_000;

/** The middleware that serves the endpoints. Throws when they contradict each other. */
export function mount(frame: Frame, endpoints: readonly Endpoint[]): (ctx: FrameContext) => Promise<void> {
  const match = createRouteMatcher(endpoints);
  return async (ctx) => {
    const found = match(ctx.path);
    if (found === undefined) throw new NotFound('Route');
    ctx.state.route = found.route.path;
    const target = found.route.methods.get(ctx.method);
    if (target === undefined) throw new HttpProblem(405, 'Method not allowed', { Allow: found.route.allow });
    if (target.declaration.probe) ctx.state.quiet = true;
    await serve({ frame, ctx, target, params: found.params });
  };
}

interface Serving {
  readonly frame: Frame;
  readonly ctx: FrameContext;
  readonly target: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

async function serve({ frame, ctx, target, params: given }: Serving): Promise<void> {
  const { declaration } = target;
  const principal = await admit(frame, ctx, declaration);
  const received = await receive(ctx, declaration);
  const params = decodePath(declaration, given);
  try {
    const request = await describeRequest({ frame, ctx, declaration, principal, bytes: received.bytes });
    const { query, body } = decodeFields(ctx, declaration, received.value);
    const { dependencies } = frame;
    const call = { dependencies, principal, params, query, body, request };
    respond(ctx, declaration, await target.handle(call));
  } catch (error) {
    if (!(error instanceof Replay)) throw error;
    ctx.set('Idempotent-Replayed', 'true');
    respondText(ctx, error.response);
  }
}

async function admit(frame: Frame, ctx: FrameContext, declaration: Declaration): Promise<Principal> {
  // Reading it in a public endpoint is a programming error and fails at once.
  if (declaration.access === 'public') return undefined as unknown as Principal;
  try {
    const principal = await frame.authenticate(ctx.req, declaration);
    ctx.state.principal = principal;
    ctx.set(frame.keyLimiter.take(principal.keyId));
    return principal;
  } catch (error) {
    if (error instanceof Unauthorized) frame.addressLimiter.take(ctx.ip);
    throw error;
  }
}

/** `bytes` are what an Idempotency-Key compares. */
async function receive(
  ctx: FrameContext,
  { body = 'none', bodyLimit = defaultBodyLimit }: Declaration,
): Promise<{ readonly value: unknown; readonly bytes: Buffer }> {
  const none = Buffer.alloc(0);
  if (body === 'none') return { value: undefined, bytes: none };
  if (body === 'multipart') {
    requireMultipart(ctx.req);
    return { value: ctx.req, bytes: none };
  }
  if (body === 'raw') {
    const bytes = await readBytes(ctx.req, bodyLimit);
    return { value: bytes, bytes };
  }
  const bytes = await readJsonBytes(ctx.req, bodyLimit);
  if (bytes === undefined) throw new HttpProblem(400, 'Request body is required');
  return { value: parseJsonObject(bytes), bytes };
}

function decodePath({ params: codec }: Declaration, given: Readonly<Record<string, string>>): unknown {
  if (codec === undefined) return given;
  const decoded = codec.decode(given);
  if (!isLeft(decoded)) return decoded.right;
  const [problem] = report(decoded.left);
  // `idOf` writes the sentence that NotFound writes.
  const what = problem?.message.endsWith(notFound) ? problem.message.slice(0, -notFound.length) : 'Resource';
  throw new NotFound(what);
}

interface RequestParts {
  readonly frame: Frame;
  readonly ctx: FrameContext;
  readonly declaration: Declaration;
  readonly principal: Principal;
  readonly bytes: Buffer;
}

async function describeRequest(parts: RequestParts): Promise<EndpointRequest> {
  const { frame, ctx, declaration, principal, bytes } = parts;
  const { config, database } = frame.dependencies;
  const key = declaration.idempotent ? idempotencyKeyOf(ctx.req.rawHeaders) : undefined;
  const idempotency =
    key === undefined
      ? noIdempotency
      : await openIdempotency({
          connection: database,
          scope: {
            workspaceId: principal.workspaceId,
            route: `${declaration.method} ${declaration.path}`,
            key,
          },
          rawBody: bytes,
          longestRequestMs: config.providerTimeoutMs + abandonedAfterMs,
          serialise: (answer) => serialise(declaration, answer),
        });
  return {
    id: ctx.state.requestId,
    header: (name) => headerOf(ctx, name),
    ip: ctx.ip,
    stopping: frame.isStopping(),
    idempotency,
    raw: ctx.req,
  };
}

function headerOf(ctx: FrameContext, name: string): string | undefined {
  const value = ctx.req.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

function decodeFields(
  ctx: FrameContext,
  declaration: Declaration,
  body: unknown,
): { readonly query: unknown; readonly body: unknown } {
  const problems: FieldProblem[] = [];
  const decode = (codec: t.Mixed | undefined, value: unknown): unknown => {
    if (codec === undefined) return value;
    const decoded = codec.decode(value);
    if (!isLeft(decoded)) return decoded.right;
    problems.push(...report(decoded.left));
    return undefined;
  };
  const query = { ...ctx.query };
  problems.push(...unstorable(query));
  const decodedQuery = decode(declaration.query, query);
  const bodyCodec = typeof declaration.body === 'object' ? declaration.body : undefined;
  const decodedBody = decode(bodyCodec, body);
  if (problems.length > 0) throw Invalid.of(problems);
  return { query: decodedQuery, body: decodedBody };
}

function unstorable(query: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  return Object.entries(query)
    .filter(([, value]) => [value].flat().some((text) => typeof text === 'string' && !isStorable(text)))
    .map(([field]) => ({ field, message: `${field} must not contain NUL characters` }));
}

/** The JSON text of an answer, as the codec of its status encodes it. */
function serialise({ operationId, responses }: Declaration, { status, body }: JsonAnswer): StoredResponse {
  const declared = responses[status];
  if (declared?.body === undefined) throw new Error(`${operationId} declares no JSON body for ${status}`);
  return { status, body: JSON.stringify(declared.body.encode(body)) };
}

function respond(ctx: FrameContext, declaration: Declaration, answer: Answer): void {
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

function respondText(ctx: FrameContext, { status, body }: StoredResponse): void {
  ctx.status = status;
  ctx.body = body;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
}
