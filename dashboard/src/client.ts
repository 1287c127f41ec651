/** The API as its own generated client speaks it, for the session of the page. */
import { defaults } from '../generated-client.ts';

export * as api from '../generated-client.ts';

defaults.baseUrl = '/dashboard';

/** What the API refused: its status and the sentence it said. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly problems: readonly { readonly field: string; readonly message: string }[];
  constructor(status: number, body: unknown) {
    const { message, error } = (body ?? {}) as { message?: string; error?: unknown };
    super(message ?? `The service answered ${status}`);
    this.name = 'ApiFailure';
    this.status = status;
    this.problems = Array.isArray(error) ? (error as ApiFailure['problems']) : [];
  }
}

interface Answer {
  readonly status: number;
  readonly data?: unknown;
}
type Good<A extends Answer> = Extract<A, { status: 200 | 201 | 202 }>['data'];

/** The body of a good answer; throws ApiFailure for any other. */
export async function take<A extends Answer>(asked: Promise<A>): Promise<Good<A>> {
  const { status, data } = await asked;
  if (status >= 200 && status < 300) return data as Good<A>;
  throw new ApiFailure(status, data);
}

export interface Session {
  readonly workspaceId: number;
  readonly channelId: string | null;
  readonly scope: 'channel' | 'workspace' | 'operator';
  /** The session may recharge. */
  readonly operator: boolean;
  readonly expiresAt: string;
}

async function askSession(method: string, path = '', body?: object): Promise<unknown> {
  const response = await fetch(`/dashboard/session${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await response.text();
  const answer: unknown = text === '' ? undefined : JSON.parse(text);
  if (!response.ok) throw new ApiFailure(response.status, answer);
  return answer;
}

/** Null when nobody is signed in. */
export const readSession = (): Promise<Session | null> =>
  askSession('GET').then(
    (session) => session as Session,
    (error: unknown) => {
      if (error instanceof ApiFailure && error.status === 401) return null;
      throw error;
    },
  );
export const signIn = (proof: { api_key: string } | { token: string }) => askSession('POST', '', proof);
export const addOperatorKey = (api_key: string) => askSession('PUT', '/operator', { api_key });
export const signOut = () => askSession('DELETE');
