import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Client, type Dispatcher } from 'undici';

/** The outcome of one HTTP exchange; the kinds differ in what is known about the request. */
export type Exchange =
  | {
      readonly kind: 'answered';
      readonly httpStatus: number;
      /** Alternating names and values. */
      readonly headers: readonly Buffer[];
      readonly body: string;
    }
  /** No byte of the request was written. */
  | { readonly kind: 'unreachable'; readonly cause: string }
  /** The request was or may have been written, and no complete response arrived. */
  | { readonly kind: 'unknown'; readonly cause: string };

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string | null;
  /** Returns true if a request that has waited for a connection must no longer be written. */
  readonly heldBack?: () => boolean;
}

export interface Exchanger {
  /**
   * Sends the request and resolves to `read(outcome)`; `read` must not throw. Never rejects. One deadline covers waiting for a
   * connection, connecting, the response head and the whole body.
   */
  exchange<T>(request: ExchangeRequest, read: (exchange: Exchange) => T): Promise<T>;
  /** Waits for requests in flight. */
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
 * Exchanges requests over keep-alive connections to one origin. It uses undici's handler interface instead of `request`,
 * because only the handler knows whether a request was started, and that separates "certainly not processed" from "unknown".
 * One timer checks the deadlines of all requests: an abort signal per request would cost a third of the throughput.
 */
export function createExchanger({ origin, connections: most, timeoutMs }: ExchangerOptions): Exchanger {
  const connections = createConnections(origin, most, {
    // The sweep below enforces the deadline; undici's own timers have a resolution of one second.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxResponseSize: maxResponseBytes,
    connect: { timeout: timeoutMs },
  });
  const inFlight = new Set<ExchangeHandler>();
  let sweeping: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;
  let drained = (): void => undefined;

  const settled = (handler: ExchangeHandler): void => {
    inFlight.delete(handler);
    if (inFlight.size === 0) drained();
  };

  const sweep = (): void => {
    const now = performance.now();
    // Insertion order is deadline order: all requests have the same time limit.
    for (const handler of inFlight) {
      if (handler.deadline > now) return;
      connections.withdraw(handler);
      handler.expire();
    }
    if (inFlight.size === 0) {
      clearInterval(sweeping);
      sweeping = undefined;
    }
  };

  const close = async (): Promise<void> => {
    if (inFlight.size > 0) {
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    }
    await connections.close();
  };

  return {
    exchange: (request, read) =>
      new Promise((resolve) => {
        if (closing !== undefined) {
          resolve(read({ kind: 'unreachable', cause: 'closed' }));
          return;
        }
        const handler = new ExchangeHandler(request, performance.now() + timeoutMs, (outcome) => {
          settled(handler);
          resolve(read(outcome));
        });
        inFlight.add(handler);
        sweeping ??= setInterval(sweep, Math.min(Math.max(timeoutMs / 20, 5), 250));
        connections.send(handler);
      }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * undici's older handler interface: the newer one parses the headers of every response into an object and allocates a
 * controller, which is a tenth of the cost of an exchange.
 */
class ExchangeHandler implements ConnectionRequest {
  readonly options: Dispatcher.DispatchOptions;
  readonly deadline: number;
  onEnded: (answered: boolean) => void = () => undefined;
  readonly #heldBack: ExchangeRequest['heldBack'];
  readonly #settle: (outcome: Exchange) => void;
  #abort: ((error?: Error) => void) | undefined;
  #settled = false;
  #httpStatus = 0;
  #headers: readonly Buffer[] = [];
  #body: Buffer | undefined;
  #more: Buffer[] | undefined;

  constructor(request: ExchangeRequest, deadline: number, settle: (outcome: Exchange) => void) {
    this.options = request as Dispatcher.DispatchOptions;
    this.deadline = deadline;
    this.#heldBack = request.heldBack;
    this.#settle = settle;
  }

  /** Called when a connection is about to write the request. */
  onConnect(abort: (error?: Error) => void): void {
    // The request expired while it waited, or was started a second time: nothing more may be written.
    if (this.#settled || this.#abort !== undefined || this.deadline <= performance.now()) {
      abort(new Error('the request must not be written'));
    } else if (this.#heldBack?.() === true) {
      this.#finish(this.#failed('held back'));
      abort(new Error('the request must not be written'));
    } else this.#abort = abort;
  }

  onHeaders(httpStatus: number, headers: Buffer[]): boolean {
    this.#httpStatus = httpStatus;
    this.#headers = headers;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#body === undefined) this.#body = chunk;
    else (this.#more ??= [this.#body]).push(chunk);
    return true;
  }

  onComplete(): void {
    const bytes = this.#more === undefined ? this.#body : Buffer.concat(this.#more);
    const body = textOf(bytes ?? nothing, this.#headers);
    // Free the connection before delivering the outcome, so that a waiting request goes first.
    this.#end(true);
    this.#finish(
      body === undefined
        ? { kind: 'unknown', cause: 'answer in an encoding that cannot be read' }
        : { kind: 'answered', httpStatus: this.#httpStatus, headers: this.#headers, body },
    );
  }

  onError(error: Error): void {
    this.#end(false);
    this.#finish(this.#failed(causeOf(error)));
  }

  expire(): void {
    this.#finish(this.#failed('timeout'));
    this.#abort?.(new Error('the time limit passed'));
  }

  #end(answered: boolean): void {
    const onEnded = this.onEnded;
    this.onEnded = () => undefined;
    onEnded(answered);
  }

  #failed(cause: string): Exchange {
    return { kind: this.#abort === undefined ? 'unreachable' : 'unknown', cause };
  }

  #finish(outcome: Exchange): void {
    if (!this.#settled) {
      this.#settled = true;
      this.#settle(outcome);
    }
  }
}

const nothing = Buffer.alloc(0);

function textOf(bytes: Buffer, headers: readonly Buffer[]): string | undefined {
  const encoding = headerOf(headers, 'content-encoding');
  if (encoding === undefined) return bytes.toString('utf8');
  try {
    return decodeContent(bytes, { encoding, maxBytes: maxResponseBytes }).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Returns a response header, or the first of several with this name. `name` must be in lower case. */
export function headerOf(headers: readonly Buffer[], name: string): string | undefined {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const given = headers[at];
    if (given?.length === name.length && given.toString('latin1').toLowerCase() === name) {
      return headers[at + 1]?.toString('latin1');
    }
  }
  return undefined;
}

/**
 * Returns a short word for logs and records: the error code of the system or the client, never a message, which may contain
 * data.
 */
function causeOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' ? code : error.name;
}

// Keep-alive connections to one origin, each with one request at a time, and a queue of waiting requests.

/** A request together with its undici handler. */
interface ConnectionRequest extends Dispatcher.DispatchHandler {
  readonly options: Dispatcher.DispatchOptions;
  /** Call once when the connection has finished the request; `true` after a complete response. */
  onEnded: (answered: boolean) => void;
}

interface Connections {
  send(request: ConnectionRequest): void;
  /** Removes a waiting request from the queue. Does nothing once a connection has started the request. */
  withdraw(request: ConnectionRequest): void;
  /** Closes the connections once their requests have ended. */
  close(): Promise<void>;
}

/**
 * A pool of undici clients. undici's own pool searches its connections one by one and reuses a connection two event-loop
 * turns after its last response; this one passes a free connection to the next caller at once. undici still waits one turn
 * before it writes, so that it does not use a connection that the server closes after its response.
 */
function createConnections(origin: string, most: number, options: Client.Options): Connections {
  const clients: Client[] = [];
  const idle: Client[] = [];
  const waiting = new Set<ConnectionRequest>();

  const open = (): Client | undefined => {
    if (clients.length >= most) return undefined;
    const client = new Client(origin, { ...options, pipelining: 1 });
    clients.push(client);
    return client;
  };

  const start = (client: Client, request: ConnectionRequest): void => {
    request.onEnded = (answered) => {
      if (answered) release(client);
      // undici resets the connection only after it reports the error.
      else queueMicrotask(() => release(client));
    };
    client.dispatch(request.options, request);
  };

  const release = (client: Client): void => {
    for (const next of waiting) {
      waiting.delete(next);
      start(client, next);
      return;
    }
    idle.push(client);
  };

  return {
    send(request) {
      const client = idle.pop() ?? open();
      if (client === undefined) waiting.add(request);
      else start(client, request);
    },
    withdraw(request) {
      waiting.delete(request);
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

const decoders = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/**
 * Decodes the content encodings of a response body; a proxy may have added some although we ask for none. Throws if the body
 * cannot be decoded or exceeds `maxBytes`.
 */
function decodeContent(
  bytes: Buffer,
  { encoding, maxBytes }: { readonly encoding: string | undefined; readonly maxBytes: number },
): Buffer {
  const names = (encoding ?? '').toLowerCase().split(',');
  const applied = names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  return applied.toReversed().reduce((content, name) => {
    const decode = Object.hasOwn(decoders, name) ? decoders[name as keyof typeof decoders] : undefined;
    if (decode === undefined) throw new Error('The content encoding is not known');
    return decode(content, { maxOutputLength: maxBytes });
  }, bytes);
}
