import type { IncomingHttpHeaders } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import { decodeContent } from './decode-content.ts';

/** The outcome of one HTTP exchange, told apart by what can be known about the request's fate. */
export type Exchange =
  | {
      readonly kind: 'answered';
      readonly httpStatus: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: string;
    }
  /** No byte of the request was written. */
  | { readonly kind: 'unreachable'; readonly cause: string }
  /** The request was, or may have been, written, and no complete answer came. */
  | { readonly kind: 'unknown'; readonly cause: string };

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string | null;
  /** True when a request that has waited for a connection must not be written any more. */
  readonly heldBack?: () => boolean;
}

export interface Exchanger {
  /** Never rejects. One deadline covers waiting for a connection, connecting, the head and the whole body. */
  exchange(request: ExchangeRequest): Promise<Exchange>;
  close(): Promise<void>;
}

export interface ExchangerOptions {
  readonly origin: string;
  readonly connections: number;
  readonly timeoutMs: number;
}

const maxResponseBytes = 16 * 1024 * 1024;
const keepAliveMs = 4000;

/**
 * A pool of keep-alive connections to one origin.
 *
 * It dispatches to the pool directly instead of calling `Pool.request`, because only the handler learns whether
 * the request was started on a connection, which is what separates "surely not processed" from "unknown".
 * Deadlines are kept in one ordered set that a single timer sweeps: an abort signal a request costs a third of
 * the throughput.
 */
export function createExchanger({ origin, connections, timeoutMs }: ExchangerOptions): Exchanger {
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    // The sweep below is the one deadline; the pool's own timers have a resolution of a second.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxResponseSize: maxResponseBytes,
    connect: { timeout: timeoutMs },
  });
  const inFlight = new Set<ExchangeHandler>();
  let sweeper: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  const sweep = (): void => {
    const now = performance.now();
    // Insertion order is deadline order: all requests have the same time limit.
    for (const handler of inFlight) {
      if (handler.deadline > now) return;
      handler.expire();
    }
    if (inFlight.size === 0) {
      clearInterval(sweeper);
      sweeper = undefined;
    }
  };

  return {
    exchange: (request) =>
      new Promise((resolve) => {
        const handler = new ExchangeHandler({
          deadline: performance.now() + timeoutMs,
          heldBack: request.heldBack,
          settle: (outcome) => {
            inFlight.delete(handler);
            resolve(outcome);
          },
        });
        inFlight.add(handler);
        sweeper ??= setInterval(sweep, Math.min(Math.max(timeoutMs / 20, 5), 250));
        pool.dispatch(request as Dispatcher.DispatchOptions, handler);
      }),
    close: () => {
      closing ??= pool.close();
      return closing;
    },
  };
}

interface ExchangeHandlerOptions {
  readonly deadline: number;
  readonly heldBack: ExchangeRequest['heldBack'];
  readonly settle: (outcome: Exchange) => void;
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly deadline: number;
  readonly #settle: (outcome: Exchange) => void;
  readonly #heldBack: ExchangeRequest['heldBack'];
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #httpStatus = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];

  constructor(options: ExchangeHandlerOptions) {
    this.deadline = options.deadline;
    this.#settle = options.settle;
    this.#heldBack = options.heldBack;
  }

  /** Called when a connection is about to write the request. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Expired while it queued, or started a second time: nothing more may be written.
    if (this.#settled || this.#controller !== undefined || this.deadline <= performance.now()) {
      controller.abort(new Error('the request must not be written'));
    } else if (this.#heldBack?.() === true) {
      this.#finish(this.#failed('held back'));
      controller.abort(new Error('the request must not be written'));
    } else this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, httpStatus: number, headers: IncomingHttpHeaders): void {
    this.#httpStatus = httpStatus;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    const body = textOf(bytes, this.#headers);
    this.#finish(
      body === undefined
        ? { kind: 'unknown', cause: 'answer in an encoding that cannot be read' }
        : { kind: 'answered', httpStatus: this.#httpStatus, headers: this.#headers, body },
    );
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#finish(this.#failed(causeOf(error)));
  }

  expire(): void {
    this.#finish(this.#failed('timeout'));
    this.#controller?.abort(new Error('the time limit passed'));
  }

  #failed(cause: string): Exchange {
    return { kind: this.#controller === undefined ? 'unreachable' : 'unknown', cause };
  }

  #finish(outcome: Exchange): void {
    if (!this.#settled) {
      this.#settled = true;
      this.#settle(outcome);
    }
  }
}

function textOf(bytes: Buffer, headers: IncomingHttpHeaders): string | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return bytes.toString('utf8');
  try {
    return decodeContent(bytes, { encoding, maxBytes: maxResponseBytes }).toString('utf8');
  } catch {
    return undefined;
  }
}

/** A short word for logs and records: the system's or the client's error code, never a message with data in it. */
function causeOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' ? code : error.name;
}
