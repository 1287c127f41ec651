/** The Koa application and the HTTP server around it, with its limits of size and time. */
import { within } from '../../concurrency/within.ts';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import type { Middleware } from 'koa';
import { randomUUID } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import { type FindMissing, findMissingOfDatabase } from '../../process/find-missing.ts';
import { dashboardPage } from '../dashboard/page.ts';
import { sessionApi } from '../dashboard/session-api.ts';
import { sessionEndpoints } from '../dashboard/sign-in.ts';
import { createRequestRecorder, loggedPath, type RequestRecorder } from './request-recorder.ts';
import { createAuthenticator } from './caller/authenticate.ts';
import { createAddressReader, createProxyTest, limitedParty } from './caller/client-address.ts';
import type { Endpoint } from './endpoint.ts';
import { errorBody } from './error-envelope.ts';
import { createReadiness, type Readiness } from './health.ts';
import type { FrameState } from './state.ts';
import { createKeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import { createMemoryBudget } from './body/memory-budget.ts';
import { maxStreams, mount } from './mount.ts';
import { limitDocuments } from './caller/limit-documents.ts';
import { createRateLimiter } from './caller/rate-limit.ts';
import { refuse, refuseUnreadable } from './refuse.ts';
import { createSessionAuthenticator, createSessionGuard } from './caller/session.ts';
import { withCallContext } from '../../concurrency/call-context.ts';
import type { Config } from '../../config.ts';
import { createLogSample, type Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/tracing.ts';

const securityHeaders = new Map([
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
]);

/** Limit per address for credentials that are refused or not cached, since each costs a query. */
const mostRefusalsPerSecond = 100;

export interface ServerLimits {
  /** Time limit for a request's head, from the connection or from the end of the previous request. */
  readonly headersMs: number;
  /** Time limit for a request's body, from the end of its head. */
  readonly bodyMs: number;
  /** Time limit for a whole request, uploads included. */
  readonly requestMs: number;
  /** Time without progress after which a caller that reads nothing of its answer is disconnected. */
  readonly unreadMs: number;
  readonly connections: number;
  /** Limits the memory that bodies and large answers hold at a time. */
  readonly memoryBytes: number;
}

const defaultLimits: ServerLimits = {
  headersMs: 10_000,
  bodyMs: 30_000,
  requestMs: 600_000,
  unreadMs: 30_000,
  connections: 2_000,
  memoryBytes: 256 * 1024 * 1024,
};

interface AppOptions {
  readonly dependencies: Dependencies;
  readonly endpoints: readonly Endpoint[];
  readonly limits: ServerLimits;
  readonly isStopping: () => boolean;
  readonly readiness: Readiness;
  /** Folder of the built dashboard; undefined when none is served. */
  readonly pageFolder: string | undefined;
  readonly recorder: RequestRecorder;
}

function createApp(options: AppOptions): Koa<FrameState> {
  const { dependencies, endpoints, limits, isStopping, readiness, pageFolder, recorder } = options;
  const { config, logger, now } = dependencies;
  const rate = (perSecond: number) => ({ perSecond, burst: perSecond * 2 });
  const refusals = createRateLimiter(rate(Math.min(config.rateLimitPerSecond, mostRefusalsPerSecond)));
  const app = new Koa<FrameState>();
  app.silent = true;
  // Only answers that broke off get here; every other error was answered with an envelope.
  app.on('error', (error: Error) =>
    logger.debug({ reason: error.message }, 'connection lost while answering'),
  );

  app.use(requestLog({ ...dependencies, recorder }));
  app.use(async (ctx, next) => {
    await next();
    if (isStopping()) ctx.set('Connection', 'close');
  });
  app.use(refuse({ logger, now }));
  const frame = {
    dependencies,
    authenticate: createAuthenticator({ ...dependencies, refusals }),
    addressOf: createAddressReader(config.trustedProxies, (address) =>
      logger.warn(
        { address },
        'X-Forwarded-For comes from an address outside TRUSTED_PROXIES and is ignored: name a proxy of yours there',
      ),
    ),
    keyLimiter: createRateLimiter(rate(config.rateLimitPerSecond)),
    bodyTimeoutMs: limits.bodyMs,
    memory: createMemoryBudget(limits.memoryBytes),
    strangersMemory: createMemoryBudget(limits.memoryBytes / 4),
    streams: createKeyedSemaphore({
      total: Math.floor(limits.connections / 4),
      perKey: maxStreams,
      waiting: 0,
    }),
    isStopping,
    findMissing: readiness.findMissing,
  };
  app.use(limitDocuments(frame.addressOf)).use(dashboardPage(pageFolder));
  const guard = createSessionGuard({ ...dependencies, refusals });
  app.use(sessionApi({ ...frame, authenticate: createSessionAuthenticator(guard) }, endpoints));
  const sessions = sessionEndpoints({
    prove: (apiKey, ip) => frame.authenticate(requestWith(apiKey), limitedParty(ip), { access: 'workspace' }),
    guard: {
      require: (header, ip) => guard.require(header, limitedParty(ip)),
      end: (header, ip) => guard.end(header, limitedParty(ip)),
    },
    takeToken: (ip) => void refusals.take(limitedParty(ip)),
    returnToken: (ip) => refusals.charge(limitedParty(ip), -1),
  });
  app.use(mount(frame, [...endpoints, ...sessions]));
  return app;
}

/** Builds the part of a request that authenticates a key, for a key that was sent in a body. */
const requestWith = (apiKey: string) =>
  ({ rawHeaders: ['X-API-Key', apiKey], headers: {} }) as unknown as IncomingMessage;

export interface ApiServer {
  /** The HTTP server; the caller makes it listen. */
  readonly server: Server;
  /**
   * Fails the readiness check and goes on listening for `delayMs`, so that load balancers notice; then refuses new
   * connections. Resolves when the last request is answered, at most `limitMs` later: open connections are then cut.
   */
  readonly drain: (limitMs: number, delayMs?: number) => Promise<void>;
}

export function createApiServer(
  dependencies: Dependencies,
  endpoints: readonly Endpoint[],
  given: Partial<ServerLimits> = {},
  {
    pageFolder,
    findMissing = () => findMissingOfDatabase(dependencies),
  }: { readonly pageFolder?: string; readonly findMissing?: FindMissing } = {},
): ApiServer {
  let stopping = false;
  const limits = { ...defaultLimits, ...given };
  const { headersMs, requestMs, unreadMs, connections } = limits;
  const isStopping = () => stopping;
  const readiness = createReadiness(() => findMissing());
  const recorder = createRequestRecorder(dependencies);
  const app = createApp({ dependencies, endpoints, limits, isStopping, readiness, pageFolder, recorder });
  const handle = app.callback();
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      // How often Node checks for late requests.
      connectionsCheckingInterval: Math.min(1_000, headersMs / 2),
      keepAliveTimeout: 65_000,
      // `requireOneHost` answers a missing Host header with the error envelope.
      requireHostHeader: false,
    },
    (request, response) => {
      // Called when the connection has been idle for `unreadMs`. Without unsent bytes the client waits for our answer: keep it.
      response.setTimeout(unreadMs, () => {
        if (request.socket.writableLength > 0) request.socket.destroy();
      });
      response.setHeaders(securityHeaders);
      const serve = () => {
        if (isSurplus(request.socket)) {
          response.setHeader('Connection', 'close');
          if (!isProbe(request.url)) {
            refuseSurplus(response, dependencies.now());
            return;
          }
        }
        if (stopping || !readiness.answer(request, response)) void handle(request, response);
      };
      // Pipelined requests are served one at a time, each in a later turn of the event loop, so that other connections get theirs.
      if (response.socket === null) response.once('socket', () => setImmediate(serve));
      else serve();
    },
  );
  const isSurplus = boundConnections(server, {
    most: connections,
    isProxy: createProxyTest(dependencies.config.trustedProxies),
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseUnreadable(error, socket, dependencies.now());
  });
  server.on('checkExpectation', (_request, response) => {
    response.setHeader('Connection', 'close');
    response.writeHead(417, { 'Content-Type': 'application/json; charset=utf-8' });
    response.end(errorBody({ status: 417, message: 'Expect must be 100-continue' }, dependencies.now()));
  });
  return {
    server,
    drain: async (limitMs, delayMs = 0) => {
      stopping = true;
      if (delayMs > 0) await sleep(delayMs);
      const timer = setTimeout(() => server.closeAllConnections(), limitMs);
      await new Promise<void>((resolve) => server.close(() => resolve()));
      clearTimeout(timer);
      // A database that does not answer must not hold up the end of the process.
      await within(flushMs, recorder.flush());
    },
  };
}

const flushMs = 2_000;
/** A surplus connection that has sent no request within 1 s is closed. */
const surplusMs = 1_000;

/**
 * Limits the open connections of one address to half of `most`; proxies of ours are exempt. A connection beyond `most` is
 * accepted as surplus, so that it can be answered: a probe as usual, everybody else 503. A quarter of `most` may be surplus;
 * Node drops further ones. The result tells of a connection with a request whether it is surplus.
 */
function boundConnections(
  server: Server,
  { most, isProxy }: { readonly most: number; readonly isProxy: (address: string) => boolean },
): (socket: Socket) => boolean {
  const surplus = new WeakMap<Socket, NodeJS.Timeout>();
  const ofParty = new Map<string, number>();
  let open = 0;
  server.maxConnections = most + Math.ceil(most / 4);
  server.on('drop', () => server.closeIdleConnections());
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket;
    const party = isProxy(remoteAddress) ? undefined : limitedParty(remoteAddress);
    const count = party === undefined ? 0 : (ofParty.get(party) ?? 0) + 1;
    if (count > most / 2) {
      socket.destroy();
      return;
    }
    open += 1;
    if (party !== undefined) ofParty.set(party, count);
    socket.once('close', () => {
      open -= 1;
      if (party === undefined) return;
      const left = (ofParty.get(party) ?? 1) - 1;
      if (left === 0) ofParty.delete(party);
      else ofParty.set(party, left);
    });
    if (open <= most) return;
    server.closeIdleConnections();
    const timer = setTimeout(() => socket.destroy(), surplusMs);
    surplus.set(socket, timer);
    socket.once('close', () => clearTimeout(timer));
  });
  return (socket) => {
    clearTimeout(surplus.get(socket));
    return surplus.has(socket);
  };
}

const isProbe = (path: string | undefined): boolean => path === '/healthz' || path === '/readyz';

function refuseSurplus(response: ServerResponse, now: Date): void {
  const message = 'Too many connections are open: try again in 1 s';
  response.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8', 'Retry-After': '1' });
  response.end(errorBody({ status: 503, message }, now));
}

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/** Request id, one log line, one measurement and, for a key, one entry of the request log per request. Never a query string, a body or a header's value. */
function requestLog({
  logger,
  metrics,
  tracing,
  config,
  now,
  recorder,
}: {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly config: Pick<Config, 'logSamplePercent'>;
  readonly now: () => Date;
  readonly recorder: RequestRecorder;
}): Middleware<FrameState> {
  const isSampled = createLogSample(config.logSamplePercent);
  return (ctx, next) => {
    const startedAt = performance.now();
    const at = now();
    const { path } = ctx;
    const given = ctx.get('X-Request-Id');
    ctx.state.requestId = acceptable.test(given) ? given : randomUUID();
    ctx.res.setHeader('X-Request-Id', ctx.state.requestId);
    ctx.res.once('close', () => {
      const { requestId, route, principal, failure, messageId } = ctx.state;
      const durationMs = performance.now() - startedAt;
      const { method, status } = ctx;
      // Probes and scrapes are no requests of callers: a failing /readyz must not look like failing requests.
      if (ctx.state.quiet !== true)
        metrics.httpRequestSeconds.observe(
          { method: knownMethod(method), route: route ?? 'unmatched', status },
          durationMs / 1000,
        );
      // The dashboard polls with the session of a key: those requests are none of the customer's programs. A program that watches
      // the log would fill it with its own readings.
      if (
        principal !== undefined &&
        route !== undefined &&
        path.startsWith('/api/') &&
        route !== '/api/requests'
      )
        recorder.record({
          workspaceId: principal.workspaceId,
          key_id: principal.keyId,
          at,
          method,
          path: loggedPath(route, path),
          status,
          error_code: ctx.state.errorCode ?? null,
          request_id: requestId,
          duration_ms: Math.round(durationMs),
        });
      const line = {
        requestId,
        method,
        route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        ...(principal !== undefined && { workspaceId: principal.workspaceId, keyId: principal.keyId }),
        ...(messageId !== undefined && { messageId }),
        ...(failure !== undefined && { failure }),
        ...(!ctx.res.writableFinished && { aborted: true }),
      };
      if (ctx.state.sampled === true && status < 400 && !isSampled()) return;
      logger[levelOf(status, ctx.state.quiet === true ? 'probe' : 'request')](line, 'request');
    });
    const { requestId } = ctx.state;
    if (!tracing.enabled) return withCallContext({ requestId }, next);
    return withCallContext({ requestId }, () =>
      tracing.span(
        { name: 'request', kind: 'server', parent: ctx.get('traceparent'), attributes: { requestId } },
        async (span) => {
          await next();
          span.set({
            'http.request.method': knownMethod(ctx.method),
            'http.route': ctx.state.route ?? 'unmatched',
            'http.response.status_code': ctx.status,
          });
          if (ctx.status >= 500) span.fail(String(ctx.status));
        },
      ),
    );
  };
}

function levelOf(status: number, kind: 'probe' | 'request') {
  if (status >= 500) return kind === 'probe' ? 'warn' : 'error';
  return kind === 'probe' ? 'debug' : 'info';
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

// Labels an unknown method as `other`: every invented method would create a time series.
function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other';
}
