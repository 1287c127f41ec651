/** One request to one endpoint, in this order: host, route, method, credentials, rate, body, path, fields, handler. */
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { Dependencies } from '../../dependencies.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import { withCallContext } from '../../concurrency/call-context.ts';
import type { KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import { Overloaded, Unauthorized } from '../../domain/error.ts';
import type { Authenticator } from './caller/authenticate.ts';
import { limitedParty, type AddressReader } from './caller/client-address.ts';
import type { Answer } from './answer.ts';
import type { Declaration, Endpoint, EndpointRequest } from './endpoint.ts';
import { decodeFields, decodePath } from './decode-request.ts';
import type { FrameContext, FrameState } from './state.ts';
import { CallerGone, HttpProblem } from './http-problem.ts';
import { idempotencyKeyOf, noIdempotency, openIdempotency, Replay } from './idempotency.ts';
import type { MemoryBudget, MemoryShare } from './body/memory-budget.ts';
import type { RateLimiter } from './caller/rate-limit.ts';
import { valuesOf } from './raw-headers.ts';
import { bytesPerToken, receiveBody } from './body/receive-body.ts';
import { createRouter } from './router.ts';
import { createSerialiser, respond, respondText, type Serialise } from './respond.ts';

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
    return serve({ frame, ctx, target, params: ctx.params });
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

async function serve(serving: Serving): Promise<void> {
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
    const length = respond(ctx, answer, { serialise, memory });
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
