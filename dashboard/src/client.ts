/** The API through its published client, authenticated by the page's session. */
import { errorOf } from '../../clients/typescript/src/api-error.ts';
import { ApiError, createClient, pages } from '../../clients/typescript/src/index.ts';

export * as api from '../../clients/typescript/src/index.ts';

const idleAfterMs = 60_000;
let lastInputAt = Date.now();
// Absent in unit tests, which run without a browser.
const { addEventListener } = globalThis as {
  addEventListener?: (event: string, listener: () => void, options: { passive: boolean }) => void;
};
for (const event of ['pointerdown', 'keydown', 'wheel'])
  addEventListener?.(event, () => (lastInputAt = Date.now()), { passive: true });

/** Marks requests after a minute without input, so that automatic polling does not keep the session alive. */
function markIfAutomatic(given: RequestInit['headers']): Headers {
  const headers = new Headers(given);
  if (Date.now() - lastInputAt > idleAfterMs) headers.set('X-Automatic', '1');
  return headers;
}

/**
 * How long a read waits for the head of an answer: a service that is frozen keeps connections open and never answers. With the
 * retries below, the page says so within a minute.
 */
const readWithinMs = 10_000;
const retries = 2;

/** Calls `fetch`; where no answer comes, throws an error whose message a user understands. */
export const ask: typeof fetch = async (address, options) => {
  const silence = new AbortController();
  const isRead = (options?.method ?? 'GET') === 'GET';
  const timer = isRead ? setTimeout(() => silence.abort(), readWithinMs) : undefined;
  try {
    return await fetch(address, {
      ...options,
      headers: markIfAutomatic(options?.headers),
      signal: AbortSignal.any([silence.signal, ...(options?.signal ? [options.signal] : [])]),
    });
  } catch (error) {
    throw new Error('The service did not answer. Check the network connection.', { cause: error });
  } finally {
    clearTimeout(timer);
  }
};

const clientBy = (send: typeof fetch) => createClient({ baseUrl: '/dashboard', fetch: send, retries });

export const client = clientBy(ask);

/** A client that passes each response to `look` too. */
export const clientSeenBy = (look: (response: Response) => void) =>
  clientBy(async (...request) => {
    const response = await ask(...request);
    look(response);
    return response;
  });

/** Returns every record of a list, fetched page by page; for lists that a user chooses from. */
export async function allOf<T>(list: Parameters<typeof pages<T>>[0]): Promise<T[]> {
  const all: T[] = [];
  for await (const record of pages(list)) all.push(record);
  return all;
}

/** True where the session has ended. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** True where a sign-in link would replace a session of another workspace. */
export const isOtherWorkspace = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409;

/** True where the record that was asked for does not exist, or no longer. */
export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** True where no answer came: the network or the service is gone. */
export const isUnanswered = (error: unknown): boolean => error !== null && !(error instanceof ApiError);

export interface Session {
  readonly workspaceId: number;
  readonly workspaceName: string;
  /** The public part of the key. */
  readonly keyId: string;
  readonly channelId: string | null;
  readonly scope: 'channel' | 'workspace' | 'operator';
  /** True where the session may recharge. */
  readonly operator: boolean;
  readonly expiresAt: string;
  /** True where the service does not run in production mode, such as on a developer's machine. */
  readonly local: boolean;
  /** The list of workflows on Temporal's page; null where its address is not configured. */
  readonly workflowsUrl: string | null;
}

async function askSession(method: string, path = '', body?: object): Promise<unknown> {
  const response = await ask(`/dashboard/session${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  if (!response.ok) throw await errorOf(response);
  return response.status === 204 ? undefined : response.json();
}

/** Returns null without a session. */
export const readSession = (): Promise<Session | null> =>
  askSession('GET').then(
    (session) => session as Session,
    (error: unknown) => {
      if (isSignedOut(error)) return null;
      throw error;
    },
  );
export const signIn = (proof: { api_key: string } | { token: string; replace?: boolean }) =>
  askSession('POST', '', proof);
export const addOperatorKey = (api_key: string) => askSession('PUT', '/operator', { api_key });
export const removeOperatorKey = () => askSession('DELETE', '/operator');
export const signOut = () => askSession('DELETE');

/** Joins the tabs of this browser, which share one session: a message says that one of them signed in. */
export const openSignIns = () => new BroadcastChannel('sign-in');
