/** Sends requests: the key, the query, JSON, and what is tried again. */
import { errorOf } from './api-error.ts';

export interface ClientOptions {
  /** Such as `https://campaigns.example.com`, without `/api`; in a page also a path of its own server. */
  readonly baseUrl: string;
  /** Absent where something else lets the request in, a page's session for example. */
  readonly apiKey?: string | undefined;
  /** How often a request is tried again; 3 where absent. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Of campaign creation and single sends; one is made for every call where absent. */
  readonly idempotencyKey?: string;
}

export interface Request extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** The service answers a repetition with the same key without doing it again. */
  readonly idempotent?: boolean;
  /** A body that is no JSON, made anew for each try, with its headers. Undefined: it can be read once. */
  readonly raw?: {
    readonly body: FormData | ReadableStream<Uint8Array>;
    readonly headers?: Record<string, string>;
    readonly once?: boolean;
  };
}

export interface Client {
  /** Throws ApiError for what is no success, and fetch's own error when there was no answer. */
  readonly send: <T>(request: Request) => Promise<T>;
}

const retriedStatuses = new Set([429, 502, 503]);
const firstWaitMs = 250;
const longestWaitMs = 10_000;

export function createClient({
  baseUrl,
  apiKey,
  retries = 3,
  fetch: send = globalThis.fetch,
}: ClientOptions): Client {
  return {
    async send<T>(request: Request): Promise<T> {
      const url = baseUrl.replace(/\/$/, '') + request.path + searchOf(request.query);
      const headers = headersOf(request, apiKey);
      const body = request.raw?.body ?? (request.body === undefined ? null : JSON.stringify(request.body));
      const { method, signal = null } = request;
      const init = { method, headers, body, signal, duplex: 'half' } as RequestInit;
      const attempts = 1 + (mayRepeat(request) ? retries : 0);
      for (let attempt = 1; ; attempt += 1) {
        const last = attempt === attempts;
        let response: Response | undefined;
        try {
          response = await send(url, init);
          if (response.ok) return (await response.json()) as T;
        } catch (error) {
          // No answer, or one that was cut off.
          if (last || signal?.aborted) throw error;
        }
        if (response !== undefined && !response.ok) {
          // The try before, whose answer was lost, may still be under way.
          const underWay = response.status === 409 && request.idempotent === true && attempt > 1;
          if (last || !(underWay || retriedStatuses.has(response.status))) throw await errorOf(response);
          await response.body?.cancel();
        }
        await wait(waitMs(attempt, response), request.signal);
      }
    },
  };
}

function searchOf(query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) search.append(name, String(one));
    }
  }
  return search.size === 0 ? '' : `?${search}`;
}

function headersOf({ body, raw, idempotent, idempotencyKey }: Request, apiKey: string | undefined): Headers {
  const headers = new Headers(raw?.headers);
  if (apiKey !== undefined) headers.set('X-API-Key', apiKey);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (idempotent) headers.set('Idempotency-Key', idempotencyKey ?? crypto.randomUUID());
  return headers;
}

/** What may have been done already is repeated only where doing it twice changes nothing. */
function mayRepeat({ method, idempotent, raw }: Request): boolean {
  return (idempotent === true || method !== 'POST') && raw?.once !== true;
}

/** Twice as long each time, with chance; the service's own word where it gave one. */
function waitMs(attempt: number, response: Response | undefined): number {
  const seconds = Number(response?.headers.get('Retry-After') ?? Number.NaN);
  if (seconds > 0) return Math.min(longestWaitMs, seconds * 1_000);
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}
