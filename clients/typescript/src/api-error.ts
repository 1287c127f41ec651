import type { ErrorCode } from './schemas.ts';

export interface FieldProblem {
  /** In dot form, such as `variable_mapping.body.1`. */
  readonly field: string;
  readonly message: string;
}

/** What the messaging provider said when it refused a message. */
export interface ProviderRefusal {
  readonly providerCode: number;
  readonly details: string;
}

interface Envelope {
  readonly error_code?: ErrorCode;
  readonly message?: string;
  readonly error?: readonly FieldProblem[] | ProviderRefusal;
}

/** Any answer that is not a success. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** What went wrong, such as `insufficient_balance`; undefined where the answer is not the service's own. */
  readonly code: ErrorCode | undefined;
  /** The HTTP status. */
  readonly status: number;
  /** What is wrong with which field; empty where the answer names none. */
  readonly problems: readonly FieldProblem[];
  readonly refusal: ProviderRefusal | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(response: Response, envelope: Envelope) {
    super(envelope.message ?? `The service answered ${response.status}`);
    const { error } = envelope;
    this.code = envelope.error_code;
    this.status = response.status;
    this.problems = Array.isArray(error) ? error : [];
    this.refusal = error !== undefined && !Array.isArray(error) ? (error as ProviderRefusal) : undefined;
    this.requestId = response.headers.get('X-Request-Id') ?? undefined;
  }
}

/** An answer without the service's envelope, a proxy's page for example, becomes an error, too. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  return new ApiError(response, typeof body === 'object' && body !== null ? body : {});
}
