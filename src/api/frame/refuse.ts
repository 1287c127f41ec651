/** Catches the error of a request and answers with the error envelope. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from 'koa';
import type { Socket } from 'node:net';
import { createKeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { CallerGone, errorBody, toFailure } from './error-envelope.ts';
import type { FrameState } from './state.ts';
import { hasBody } from './body/receive-body.ts';

// A remaining body that is known to be this small is read and dropped, so that the connection stays usable.
const smallRest = 64 * 1024;
const lingerMs = 1_000;
/** 1 s: refusals of clients without a valid key are delayed, so that a flood of them does not use up the process's time. */
const strangersWaitMs = 1_000;
/** Beyond 1,000 delayed refusals the next are answered at once, because each waiting one holds a connection. */
const waitingStrangers = createKeyedSemaphore({ total: 1_000, perKey: 1_000, waiting: 0 });
/** At most eight refused bodies are read to their end: some clients read no answer before they have written everything. */
const readingOn = createKeyedSemaphore({ total: 8, perKey: 8, waiting: 0 });

export function refuse({
  logger,
  now,
}: {
  readonly logger: Logger;
  readonly now: () => Date;
}): Middleware<FrameState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (error instanceof CallerGone) ctx.state.failure = error.message;
      else if (ctx.headerSent)
        logger.error({ requestId: ctx.state.requestId, error: describe(error) }, 'answer broke off');
      const { status, errorCode, body, headers } = toFailure(error, now());
      if (status === 429 && ctx.state.principal === undefined) {
        const release = await waitingStrangers.acquire(['everybody']);
        if (release !== undefined) await sleep(strangersWaitMs);
        release?.();
      }
      ctx.state.failure = status !== 500 && error instanceof Error ? error.message : describe(error);
      ctx.state.errorCode = errorCode;
      ctx.status = status;
      ctx.body = body;
      ctx.remove('Content-Encoding');
      ctx.set({ 'Cache-Control': 'no-store', ...headers, 'Content-Type': 'application/json; charset=utf-8' });
      if (restIsLarge(ctx.req)) closeAfter(ctx, body);
    }
  };
}

/**
 * Describes an error by class, message and stack. Of a database error only the code is logged, because its message quotes
 * values.
 */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause: from } = error as { readonly cause?: Error & { readonly code?: unknown } };
  const code = typeof from?.code === 'string' ? ` ${from.code}` : '';
  const cause = from instanceof Error ? ` ← ${from.name}${code}` : '';
  return `${error.stack ?? error.message}${cause}`;
}

function restIsLarge(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false;
  return !(Number(request.headers['content-length'] ?? Infinity) <= smallRest);
}

type Context = Parameters<Middleware<FrameState>>[0];

/**
 * The whole answer goes out at once, but the connection is closed a moment later: closing it under a caller that still
 * writes would reset it, and the answer could be lost on the way.
 */
function closeAfter(ctx: Context, body: string): void {
  ctx.set('Connection', 'close');
  const request = ctx.req;
  const stream = Readable.from(lingering(request, body), { objectMode: false });
  ctx.body = stream;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.length = Buffer.byteLength(body);
}

async function* lingering(request: IncomingMessage, body: string): AsyncGenerator<string> {
  yield body;
  const release = await readingOn.acquire(['everybody']);
  if (release === undefined) request.pause();
  else request.resume();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, lingerMs);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once('end', finish).once('close', finish);
  });
  release?.();
}

const parserFailures: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'Request headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'Chunk extensions are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
};
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

/** Answers a request that Node's parser cannot read with the error envelope, and closes the connection. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, now: Date): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const failure = parserFailures[error.code ?? ''] ?? {
    status: 400,
    message: 'The request is not valid HTTP',
  };
  const body = errorBody(failure, now);
  socket.end(
    [
      `HTTP/1.1 ${failure.status} ${reasons[failure.status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
