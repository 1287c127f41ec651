/** One request to one endpoint, in this order: host, route, method, credentials, rate, body, path, fields, handler. */
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, Transform } from 'node:stream';
import type { Middleware } from 'koa';
import { isLeft } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { Router, type RouterContext } from '@koa/router';
import type { Dependencies } from '../../dependencies.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import { withCallContext } from '../../concurrency/call-context.ts';
import type { KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import { inSlices } from '../../concurrency/slices.ts';
import { type FieldProblem, Invalid, NotFound, Overloaded, Unauthorized } from '../../domain/error.ts';
import type { Authenticator } from './caller/authenticate.ts';
import { type AddressReader, limitedParty } from './caller/client-address.ts';
import {
  type Answer,
  type Declaration,
  deprecationHeaders,
  type Endpoint,
  type EndpointRequest,
  type JsonAnswer,
  type Method,
} from './endpoint.ts';
import { type FrameContext, type FrameState, valuesOf } from './state.ts';
import { CallerGone, HttpProblem } from './error-envelope.ts';
import { idempotencyKeyOf, noIdempotency, openIdempotency, Replay } from './idempotency.ts';
import type { MemoryBudget, MemoryShare } from './body/memory-budget.ts';
import type { RateLimiter } from './caller/rate-limit.ts';
import { bytesPerToken, countBytes, receiveBody } from './body/receive-body.ts';
import { report } from '../../codecs/report.ts';
import { isStorable } from './body/json-body.ts';
import type { StoredResponse } from '../../records/workspaces/idempotency-keys.ts';

export interface Frame {
  readonly dependencies: Dependencies;
  readonly authenticate: Authenticator;
  readonly keyLimiter: RateLimiter;
  readonly addressOf: AddressReader;
  readonly bodyTimeoutMs: number;
  readonly memory: MemoryBudget;
  /** The part of `memory` that callers without a key may take together. */
  readonly strangersMemory: MemoryBudget;
  /** Answers that stream for long, by workspace: each holds a connection. */
  readonly streams: KeyedSemaphore;
  /** True once the process is stopping: it is not ready any more, but still answers requests. */
  readonly isStopping: () => boolean;
  /** Names missing dependencies of the process. */
  readonly findMissing: () => Promise<readonly string[]>;
}

/** 10 s: a body without a key holds memory for no longer before it has arrived. */
const strangersBodyMs = 10_000;
/** Open streams of a workspace in this process. */
export const maxStreams = 20;
const streamRetrySeconds = 5;

// A reservation of an Idempotency-Key is abandoned 30 s after the provider's time limit has passed.
const abandonedAfterMs = 30_000;
const storedBytesPerToken = 16 * 1024;

/** The middleware that serves the endpoints. Throws when they contradict each other. */
export function mount(frame: Frame, endpoints: readonly Endpoint[]): Middleware<FrameState> {
  const router = createRouter(endpoints, (ctx, target) => {
    if (target.declaration.probe) ctx.state.quiet = true;
    if (target.declaration.sampled) ctx.state.sampled = true;
    const { deprecation } = target.declaration;
    // Before anything can be refused: errors have the headers too.
    if (deprecation !== undefined) ctx.set({ ...deprecationHeaders(deprecation) });
    return serveRequest({ frame, ctx, target, params: ctx.params });
  });
  // The cast is safe: the router itself sets the context fields that its type requires.
  const dispatch = router.routes() as Middleware<FrameState>;
  return (ctx) => {
    requireOneHost(ctx.req);
    return dispatch(ctx, async () => {
      throw new HttpProblem(404, 'Route not found: /docs lists every one');
    });
  };
}

function requireOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  const hosts = valuesOf(rawHeaders, 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw new HttpProblem(400, 'The request must have exactly one Host header', { Connection: 'close' });
  }
}

interface Serving {
  readonly frame: Frame;
  readonly ctx: FrameContext;
  readonly target: Endpoint;
  readonly params: Readonly<Record<string, string>>;
}

async function serveRequest(serving: Serving): Promise<void> {
  const { frame, ctx, target, params: given } = serving;
  const { declaration } = target;
  const principal = await admit(frame, ctx, declaration);
  if (declaration.stream) await openStream(frame, ctx, principal);
  const memory = openMemory(frame, ctx, principal);
  const charge = (tokens: number) => {
    if (declaration.access !== 'public') frame.keyLimiter.charge(principal.keyId, tokens);
  };
  const received = await receiveBody({
    ctx,
    declaration,
    timeoutMs: principal === undefined ? Math.min(frame.bodyTimeoutMs, strangersBodyMs) : frame.bodyTimeoutMs,
    memory,
    charge,
  });
  const params = decodePath(declaration, given);
  const serialise = createSerialiser(declaration);
  try {
    const { bytes } = received;
    const caller =
      declaration.access === 'public' ? {} : { keyId: principal.keyId, workspaceId: principal.workspaceId };
    const answer = await withCallContext(caller, async () => {
      const request = await describeRequest({ frame, ctx, declaration, principal, bytes, serialise });
      return answerOf({ ...serving, principal, params, request, body: received.value });
    });
    const length = await respond(ctx, answer, {
      serialise,
      memory,
      ...(declaration.stream !== true && { onBytes: countBytes(charge) }),
    });
    // The answer to a change is what the change has stored, for each reader and in each event.
    charge(Math.floor(length / (declaration.method === 'GET' ? bytesPerToken : storedBytesPerToken)));
  } catch (error) {
    if (!(error instanceof Replay)) throw error;
    ctx.set('Idempotent-Replayed', 'true');
    respondText(ctx, error.response);
  }
}

interface Answering extends Omit<Serving, 'params'> {
  readonly principal: Principal;
  readonly params: unknown;
  readonly request: EndpointRequest;
  readonly body: unknown;
}

async function answerOf(answering: Answering): Promise<Answer> {
  const { frame, ctx, target, principal, params, request } = answering;
  const { query, body } = decodeFields(target.declaration, {
    query: { ...ctx.query },
    body: answering.body,
  });
  return target.handle({ dependencies: frame.dependencies, principal, params, query, body, request });
}

async function admit(frame: Frame, ctx: FrameContext, declaration: Declaration): Promise<Principal> {
  // A public endpoint has no principal; a handler that reads it fails at once.
  if (declaration.access === 'public') {
    declaration.precheck?.((name) => headerOf(ctx, name));
    return undefined as unknown as Principal;
  }
  const principal = await frame.authenticate(ctx.req, limitedParty(frame.addressOf(ctx.req)), declaration);
  ctx.state.principal = principal;
  const headers = frame.keyLimiter.take(principal.keyId);
  for (const [name, value] of Object.entries(headers)) ctx.res.setHeader(name, value);
  return principal;
}

/** Counts the stream until its response closes. */
async function openStream({ streams }: Frame, ctx: FrameContext, { workspaceId }: Principal): Promise<void> {
  const release = await streams.acquire([workspaceId]);
  if (release === undefined)
    throw new Overloaded(
      `Too many streams are open: a workspace can have at most ${maxStreams} streams at a time`,
      streamRetrySeconds,
    );
  if (ctx.res.destroyed) release();
  else ctx.res.once('close', release);
}

/** Opens the request's share of the memory budget; released when the response closes. */
function openMemory(frame: Frame, ctx: FrameContext, principal: Principal | undefined): MemoryShare {
  const party = limitedParty(frame.addressOf(ctx.req));
  // A destroyed response has already emitted `close`, so the share would never be released.
  if (ctx.res.destroyed) throw new CallerGone();
  const memory = frame.memory.open(String(principal?.workspaceId ?? party));
  ctx.res.once('close', memory.release);
  if (principal !== undefined) return memory;
  const ofStrangers = frame.strangersMemory.open(party);
  ctx.res.once('close', ofStrangers.release);
  return {
    take(bytes) {
      ofStrangers.take(bytes);
      memory.take(bytes);
    },
    release: memory.release,
  };
}

interface RequestParts {
  readonly frame: Frame;
  readonly ctx: FrameContext;
  readonly declaration: Declaration;
  readonly principal: Principal;
  readonly bytes: Buffer;
  readonly serialise: Serialise;
}

async function describeRequest(parts: RequestParts): Promise<EndpointRequest> {
  const { frame, ctx, declaration, principal, bytes, serialise } = parts;
  const { config, database } = frame.dependencies;
  const key = declaration.idempotent === true ? idempotencyKeyOf(ctx.req.rawHeaders) : undefined;
  const idempotency =
    key === undefined
      ? noIdempotency
      : await openIdempotency({
          connection: database,
          scope: {
            workspaceId: principal.workspaceId,
            channelId: principal.channelId,
            route: `${declaration.method} ${ctx.path}`,
            key,
          },
          rawBody: bytes,
          longestRequestMs: config.providerTimeoutMs + abandonedAfterMs,
          serialise,
        });
  return {
    id: ctx.state.requestId,
    header: (name) => headerOf(ctx, name),
    ip: frame.addressOf(ctx.req),
    isStopping: frame.isStopping,
    findMissing: frame.findMissing,
    isStillAllowed: () =>
      frame.authenticate(ctx.req, limitedParty(frame.addressOf(ctx.req)), declaration).then(
        () => true,
        (error: unknown) => !(error instanceof Unauthorized),
      ),
    idempotency,
    nameMessage: (messageId: string) => {
      ctx.state.messageId = messageId;
    },
  };
}

function headerOf(ctx: FrameContext, name: string): string | undefined {
  const value = ctx.req.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

// Path, query and body, decoded with the codecs of the declaration.

const notFound = ' not found';

/** A path id that does not decode is answered as NotFound. */
function decodePath({ params: codec }: Declaration, given: Readonly<Record<string, string>>): unknown {
  if (codec === undefined) return given;
  const decoded = codec.decode(given);
  if (!isLeft(decoded)) return decoded.right;
  const [problem] = report(decoded.left);
  // `idOf` reports `<what> not found`, the message of NotFound.
  const what = problem?.message.endsWith(notFound) ? problem.message.slice(0, -notFound.length) : 'Resource';
  throw new NotFound(what, problem?.code);
}

interface Fields {
  readonly query: Readonly<Record<string, unknown>>;
  /** Parsed, or the raw body of an endpoint without a codec. */
  readonly body: unknown;
}

/** Every problem at once: those of the query, then those of the body, each in declaration order. */
function decodeFields(
  declaration: Declaration,
  { query, body }: Fields,
): { readonly query: unknown; readonly body: unknown } {
  const problems: FieldProblem[] = [];
  const decode = (codec: t.Mixed | undefined, value: unknown): unknown => {
    if (codec === undefined) return undefined;
    const decoded = codec.decode(value);
    if (!isLeft(decoded)) return decoded.right;
    for (const problem of report(decoded.left)) problems.push(problem);
    return undefined;
  };
  const decodedQuery = decode(declaration.query, query);
  for (const problem of unstorable(query, decodedQuery)) problems.push(problem);
  const codec = typeof declaration.body === 'object' ? declaration.body : declaration.jsonBody;
  // A receiver of a form is a function.
  const decodedBody = codec === undefined || typeof body === 'function' ? body : decode(codec, body);
  if (problems.length > 0) throw Invalid.of(problems);
  return { query: decodedQuery, body: decodedBody };
}

/** Checks declared parameters only: unknown ones are ignored. */
function unstorable(query: Fields['query'], decoded: unknown): readonly FieldProblem[] {
  return Object.keys(decoded ?? {})
    .filter((field) => [query[field]].flat().some((text) => typeof text === 'string' && !isStorable(text)))
    .map((field) => ({ field, message: `${field} must not contain NUL characters` }));
}

/** One request to one endpoint; `ctx.params` are percent-decoded where that is possible. */
export type Serve = (ctx: RouterContext<FrameState>, target: Endpoint) => Promise<void>;

/**
 * Routes by path with @koa/router. At the first difference between two paths a literal segment wins over a parameter. Answers 405
 * with `Allow` itself and leaves unknown paths to the next middleware. Throws when two
 * endpoints claim the same method and path.
 */
export function createRouter(endpoints: readonly Endpoint[], serve: Serve): Router<FrameState> {
  const router = new Router<FrameState>({ sensitive: true, strict: true });
  const routes = [...byPath(endpoints)].sort(([a], [b]) => (rankOf(a) < rankOf(b) ? -1 : 1));
  for (const [path, methods] of routes) {
    const allow = allowOf(methods);
    // One route for every method, because this handler answers 405 itself.
    router.all(path, (ctx) => {
      ctx.state.route = path;
      const target = methods.get((ctx.method === 'HEAD' ? 'GET' : ctx.method) as Method);
      if (target !== undefined) return serve(ctx, target);
      const below = endpoints.flatMap(({ declaration: { method, path: other } }) =>
        method === ctx.method && other.startsWith(`${path}/`) && !other.includes(':') ? [other] : [],
      );
      const hint = below.length === 0 ? '' : `; ${ctx.method} is for ${below.join(', ')}`;
      throw new HttpProblem(405, `Method not allowed: this path takes ${allow}${hint}`, { Allow: allow });
    });
  }
  return router;
}

type Methods = ReadonlyMap<Method, Endpoint>;

function byPath(endpoints: readonly Endpoint[]): ReadonlyMap<string, Methods> {
  const paths = new Map<string, Map<Method, Endpoint>>();
  for (const endpoint of endpoints) {
    const { method, path } = endpoint.declaration;
    const methods = paths.get(path) ?? new Map<Method, Endpoint>();
    if (methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    paths.set(path, methods.set(method, endpoint));
  }
  return paths;
}

// Compares as text: a literal segment (0) comes before a parameter (1).
function rankOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '1' : '0'))
    .join('');
}

function allowOf(methods: Methods): string {
  return [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

type Serialise = (answer: JsonAnswer) => Promise<StoredResponse>;

/**
 * Encodes an answer with the codec of its status, once per request: the text that was stored for its Idempotency-Key is sent
 * as it is.
 */
function createSerialiser({ operationId, responses }: Declaration): Serialise {
  let last: { readonly answer: JsonAnswer; readonly response: StoredResponse } | undefined;
  return async (answer) => {
    if (last?.answer === answer) return last.response;
    const { status, body } = answer;
    const declared = responses[status];
    if (declared?.body === undefined) throw new Error(`${operationId} declares no JSON body for ${status}`);
    last = { answer, response: { status, body: await encode(declared.body, body) } };
    return last.response;
  };
}

/** Records of a list that are encoded at a time: of 64 KiB each, they take some milliseconds. */
const encodedAtATime = 10;

/** Yields to the event loop between the parts of a long list. */
async function encode(codec: t.Mixed, body: unknown): Promise<string> {
  const list = t.UnknownRecord.is(body) && Array.isArray(body['data']) ? body['data'] : [];
  if (!t.UnknownRecord.is(body) || list.length <= encodedAtATime) return JSON.stringify(codec.encode(body));
  const parts: string[] = [];
  await inSlices(list, encodedAtATime, (data) => {
    parts.push(JSON.stringify(codec.encode({ ...body, data }).data).slice(1, -1));
  });
  const frame: Readonly<Record<string, unknown>> = codec.encode({ ...body, data: [] });
  const fields = Object.entries(frame).map(
    ([name, value]) => `"${name}":${name === 'data' ? `[${parts.join(',')}]` : JSON.stringify(value)}`,
  );
  return `{${fields.join(',')}}`;
}

/** 64 KiB: smaller answers are not counted against the memory budget. */
const smallAnswer = 64 * 1024;

interface Responding {
  readonly serialise: Serialise;
  readonly memory: MemoryShare;
  /** Told of each part of an answer that is a stream. */
  readonly onBytes?: (bytes: number) => void;
}

/** Returns the length of the answer in characters; 0 for a stream, which is charged while it is read. */
async function respond(
  ctx: FrameContext,
  answer: Answer,
  { serialise, memory, onBytes }: Responding,
): Promise<number> {
  if (answer.headers !== undefined) ctx.set({ ...answer.headers });
  if ('content' in answer) {
    const { content } = answer;
    if (typeof content === 'string' && content.length > smallAnswer) memory.take(content.length);
    ctx.status = answer.status;
    // The type is set before the body, because Koa guesses the type of a body without one.
    ctx.res.setHeader('Content-Type', answer.contentType);
    ctx.body = content instanceof Readable && onBytes !== undefined ? counted(content, onBytes) : content;
    return typeof content === 'string' || Buffer.isBuffer(content) ? content.length : 0;
  } else if (answer.body === undefined) {
    ctx.status = answer.status;
    ctx.body = null;
    return 0;
  } else {
    const response = await serialise(answer);
    // Counts the bytes until they are sent: a caller that reads slowly keeps them in memory.
    if (response.body.length > smallAnswer) memory.take(response.body.length);
    respondText(ctx, response);
    return response.body.length;
  }
}

function counted(content: Readable, onBytes: (bytes: number) => void): Readable {
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  // Either one's end or error ends the other; the response reports an error of the content.
  return pipeline(content, meter, () => undefined);
}

function respondText(ctx: FrameContext, { status, body }: StoredResponse): void {
  ctx.status = status;
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
  ctx.body = body;
}
