/** The one translator of errors into the error envelope (Spec 7). */
import type { ErrorCode } from '../../domain/error-code.ts';
import {
  Conflict,
  Failure,
  FeatureUnavailable,
  FileTooLarge,
  IdempotencyMismatch,
  Invalid,
  MessagingLimitReached,
  NotFound,
  Overloaded,
  ProviderRefused,
  ProviderUnreachable,
  StorageFull,
  Unauthorized,
} from '../../domain/error.ts';
import { isDatabaseUnavailable } from '../../records/database/failure.ts';
import { StorageFailure } from '../../storage/file-storage.ts';
import { ErrorEnvelope } from './envelope.ts';

export interface FailureResponse {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Translation = Pick<ErrorEnvelope, 'message' | 'error'> & {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
};

export function toFailure(error: unknown, now: Date): FailureResponse {
  const { status, message, error: details, headers = {} } = translate(error);
  const wait = headers['Retry-After'];
  const messageWithWait = wait === undefined ? message : `${message}: try again in ${wait} s`;
  const errorCode = errorCodeOf(error, status);
  return { status, body: errorBody({ status, message: messageWithWait, errorCode, details }, now), headers };
}

/** The JSON text of an error envelope. */
export function errorBody(
  failure: {
    readonly status: number;
    readonly message: string;
    /** If absent, the code of the status. */
    readonly errorCode?: ErrorCode;
    readonly details?: ErrorEnvelope['error'];
  },
  now: Date,
): string {
  const { status, message, errorCode = codeOfStatus(status), details } = failure;
  const envelope: ErrorEnvelope = {
    status: 'error',
    code: status,
    error_code: errorCode,
    message,
    ...(details !== undefined && { error: details }),
    timestamp: now,
  };
  return JSON.stringify(ErrorEnvelope.encode(envelope));
}

function translate(error: unknown): Translation {
  if (error instanceof HttpProblem)
    return { status: error.status, message: error.message, headers: error.headers };
  if (error instanceof Invalid) {
    return {
      status: 400,
      message: error.message,
      ...(error.problems.length > 0 && { error: error.problems }),
    };
  }
  if (error instanceof FeatureUnavailable) return { status: 400, message: error.message };
  if (error instanceof ProviderRefused) {
    const { providerCode, details } = error;
    return { status: 400, message: error.message, error: { providerCode, details } };
  }
  if (error instanceof Unauthorized) {
    return {
      status: 401,
      message: error.message,
      headers: { 'WWW-Authenticate': 'ApiKey header="X-API-Key"' },
    };
  }
  if (error instanceof NotFound) return { status: 404, message: error.message };
  if (error instanceof Conflict) return { status: 409, message: error.message };
  if (error instanceof StorageFull || error instanceof FileTooLarge)
    return { status: 413, message: error.message };
  if (error instanceof IdempotencyMismatch) return { status: 422, message: error.message };
  if (error instanceof Overloaded || error instanceof MessagingLimitReached) {
    const headers = { 'Retry-After': String(error.retryAfterSeconds) };
    return { status: 429, message: error.message, headers };
  }
  if (error instanceof ProviderUnreachable) return { status: 502, message: error.message };
  if (isDatabaseUnavailable(error) || error instanceof StorageFailure) {
    return {
      status: 503,
      message: 'The service is temporarily unavailable',
      headers: { 'Retry-After': '1' },
    };
  }
  return { status: 500, message: 'Internal server error: its log has this X-Request-Id' };
}

/**
 * Chooses the code of an error envelope: by the message where that is fixed, else by the class of the error, else by its
 * status.
 */

/** Messages that clients may rely on: they never change. */
const byMessage: ReadonlyMap<string, ErrorCode> = new Map([
  ['Campaign name is required', 'name_required'],
  ['Either channel_id or phone_number_id is required', 'channel_required'],
  ['Scheduled time must be in the future', 'schedule_in_past'],
  ['This endpoint is restricted to API key usage only', 'jwt_not_allowed'],
  ['Template not found', 'template_not_found'],
  ['Template is not approved', 'template_not_approved'],
  ['Insufficient wallet balance', 'insufficient_balance'],
  ['A request with this Idempotency-Key is still running: send it again', 'idempotency_conflict'],
]);

const byStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'malformed_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'too_large',
  415: 'unsupported_media_type',
  417: 'expectation_failed',
  422: 'idempotency_mismatch',
  429: 'rate_limited',
  431: 'too_large',
  502: 'provider_unreachable',
  503: 'unavailable',
};

/** Error code for a message alone; for the examples of the document. */
export const codeOfMessage = (message: string, status: number): ErrorCode =>
  byMessage.get(message) ?? codeOfStatus(status);

export const codeOfStatus = (status: number): ErrorCode => byStatus[status] ?? 'internal_error';

export function errorCodeOf(error: unknown, status: number): ErrorCode {
  const fixed = error instanceof Error ? byMessage.get(error.message) : undefined;
  if (fixed !== undefined) return fixed;
  if (error instanceof Invalid) return 'validation_failed';
  if (error instanceof FeatureUnavailable)
    return error.feature === 'broadcasts_per_month' ? 'quota_exhausted' : 'feature_unavailable';
  if (error instanceof ProviderRefused) return 'provider_rejected';
  if (error instanceof MessagingLimitReached) return 'messaging_limit';
  if (error instanceof IdempotencyMismatch) return 'idempotency_mismatch';
  return codeOfStatus(status);
}

/** An error of the HTTP layer: routes, methods, bodies, limits. */
export class HttpProblem extends Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The client closed the connection before the request was complete, so no answer is written. */
export class CallerGone extends Failure {
  constructor() {
    super('The caller closed the connection');
  }
}
