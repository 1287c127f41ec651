/** Sends requests: adds the key, the query and the JSON body, limits the time and retries. */
import { errorOf, type ApiError } from './api-error.ts';
import { backoffMs, wait } from './wait.ts';

export interface ClientOptions {
  /** For example `https://campaigns.example.com`, without `/api`; in a browser also a path of the page's server. */
  readonly baseUrl: string;
  /** Omit it where something else authenticates the request, for example the session of a page. */
  readonly apiKey?: string | undefined;
  /** Retries after the first attempt; default 3. */
  readonly retries?: number;
  /** Longest time of one attempt in ms; default 60,000, for an upload 600,000. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** For operations that take an Idempotency-Key; the client makes a new one for every call without it. */
  readonly idempotencyKey?: string;
}

export interface Request extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** True where the service answers a repeated key with the stored response. */
  readonly idempotent?: boolean;
  /** A body other than JSON, with its headers. `once`: it can be read one time, so the request is never retried. */
  readonly raw?: {
    readonly body: FormData | ReadableStream<Uint8Array>;
    readonly headers?: Record<string, string>;
    readonly once?: boolean;
  };
}

export interface Client {
  /** Returns the decoded answer. Throws ApiError for every status but 2xx, and fetch's own error without an answer. */
  readonly send: <T>(request: Request) => Promise<T>;
  /** Returns the response as soon as its headers came; the timeout does not limit its body. */
  readonly open: (request: Request) => Promise<Response>;
}

// A single send waits up to 30 s for the provider.
const defaultTimeoutMs = 60_000;
// The service ends a request after 10 minutes.
const uploadTimeoutMs = 600_000;
/** A longer Retry-After is the caller's to wait for: a messaging limit lasts for hours. */
const longestRetryAfterMs = 60_000;

export function createClient({
  baseUrl,
  apiKey,
  retries = 3,
  timeoutMs,
  fetch: send = globalThis.fetch,
}: ClientOptions): Client {
  async function attempt<T>(request: Request, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, signal } = request;
    const timeout = new AbortController();
    const limitMs = timeoutMs ?? (request.raw === undefined ? defaultTimeoutMs : uploadTimeoutMs);
    const timer = setTimeout(
      () => timeout.abort(new DOMException(`No answer within ${limitMs} ms`, 'TimeoutError')),
      limitMs,
    );
    try {
      const response = await send(baseUrl.replace(/\/$/, '') + request.path + searchOf(request.query), {
        method,
        headers: headersOf(request, apiKey),
        body: request.raw?.body ?? (request.body === undefined ? null : JSON.stringify(request.body)),
        signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
        duplex: 'half',
      } as RequestInit);
      if (!response.ok) throw await errorOf(response);
      return await read(response);
    } finally {
      clearTimeout(timer);
    }
  }

  async function call<T>(given: Request, read: (response: Response) => Promise<T>): Promise<T> {
    // Every attempt carries the same key.
    const { idempotencyKey = crypto.randomUUID() } = given;
    const request = { ...given, idempotencyKey };
    for (let retry = 1; ; retry += 1) {
      try {
        return await attempt(request, read);
      } catch (error) {
        const waitMs =
          retry > retries || request.signal?.aborted ? undefined : retryAfter(error, request, retry);
        if (waitMs === undefined) throw error;
        await wait(waitMs, request.signal);
      }
    }
  }

  return {
    send: <T>(request: Request) => call(request, (response) => response.json() as Promise<T>),
    open: (request) => call(request, async (response) => response),
  };
}

/** Returns the wait in ms before the given retry, or undefined where the request must not be sent again. */
function retryAfter(error: unknown, { method, idempotent, raw }: Request, retry: number): number | undefined {
  if (raw?.once === true) return undefined;
  const { status, code, retryAfterSeconds } = error as Partial<ApiError>;
  const waitMs = retryAfterSeconds === undefined ? backoffMs(retry) : retryAfterSeconds * 1_000;
  if (waitMs > longestRetryAfterMs) return undefined;
  // The service did nothing yet.
  if (status === 429) return waitMs;
  // Anything else may have happened already.
  if (idempotent !== true && method === 'POST') return undefined;
  // The previous attempt, whose answer was lost, may still run.
  if (status === 409) return idempotent === true && retry > 1 ? waitMs : undefined;
  // The service has stored this answer and would only repeat it.
  if (code === 'outcome_unknown') return undefined;
  return status === undefined || status === 502 || status === 503 ? waitMs : undefined;
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
  if (idempotent === true && idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey);
  return headers;
}
