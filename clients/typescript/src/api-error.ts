import type { ErrorCode } from './schemas.ts';

export interface FieldProblem {
  /** Path in dot form, for example `variable_mapping.body.1`. */
  readonly field: string;
  readonly message: string;
}

/** The messaging provider's answer when it refused a message. */
export interface ProviderRefusal {
  readonly providerCode: number;
  readonly details: string;
}

interface Envelope {
  readonly error_code?: ErrorCode;
  readonly message?: string;
  readonly error?: readonly FieldProblem[] | ProviderRefusal | { readonly oldestCursor: string };
}

/** An answer whose status is not 2xx. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** For example `insufficient_balance`; undefined where the answer came from a proxy. */
  readonly code: ErrorCode | undefined;
  /** The HTTP status. */
  readonly status: number;
  /** Invalid fields; empty where the answer names none. */
  readonly problems: readonly FieldProblem[];
  /** The messaging provider's refusal; undefined for errors of the service. */
  readonly refusal: ProviderRefusal | undefined;
  /** With `cursor_expired`: the cursor from which the event feed goes on. */
  readonly oldestCursor: string | undefined;
  /** Seconds to wait before the request is sent again; undefined where the answer has no Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(response: Response, envelope: Envelope) {
    super(envelope.message ?? `The service answered ${response.status}`);
    const { error } = envelope;
    this.code = envelope.error_code;
    this.status = response.status;
    this.problems = Array.isArray(error) ? error : [];
    const details = error === undefined || Array.isArray(error) ? {} : error;
    this.refusal = 'providerCode' in details ? (details as ProviderRefusal) : undefined;
    this.oldestCursor = 'oldestCursor' in details ? (details.oldestCursor as string) : undefined;
    this.retryAfterSeconds = secondsOf(response.headers.get('Retry-After'));
    this.requestId = response.headers.get('X-Request-Id') ?? undefined;
  }
}

/** Also takes answers without the service's envelope, such as the page of a proxy. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  return new ApiError(response, typeof body === 'object' && body !== null ? body : {});
}

/** Retry-After holds seconds or, behind some proxies, a date. */
function secondsOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const seconds = Number(text);
  const known = Number.isNaN(seconds) ? (Date.parse(text) - Date.now()) / 1_000 : seconds;
  return Number.isNaN(known) ? undefined : Math.max(0, known);
}
