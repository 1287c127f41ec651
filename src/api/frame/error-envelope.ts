/** The one translator of errors into the error envelope (Spec 7). */
import type { ErrorCode } from '../../domain/error-code.ts';
import {
  CallerFailure,
  CursorExpired,
  Failure,
  Invalid,
  MessagingLimitReached,
  Overloaded,
  ProviderRefused,
  Unauthorized,
} from '../../domain/error.ts';
import { isDatabaseUnavailable } from '../../records/database/failure.ts';
import { StorageFailure } from '../../storage/file-storage.ts';
import { ErrorEnvelope } from './envelope.ts';

export interface FailureResponse {
  readonly status: number;
  readonly errorCode: ErrorCode;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Translation = Pick<ErrorEnvelope, 'message' | 'error'> & {
  readonly status: number;
  readonly errorCode?: ErrorCode;
  readonly headers?: Readonly<Record<string, string>>;
};

export function toFailure(error: unknown, now: Date): FailureResponse {
  const {
    status,
    message,
    errorCode = codeOfStatus(status),
    error: details,
    headers = {},
  } = translate(error);
  const wait = headers['Retry-After'];
  const messageWithWait = wait === undefined ? message : `${message}: try again in ${wait} s`;
  return {
    status,
    errorCode,
    body: errorBody({ status, message: messageWithWait, errorCode, details }, now),
    headers,
  };
}

/** The JSON text of an error envelope. */
export function errorBody(
  failure: {
    readonly status: number;
    readonly message: string;
    /** If absent, the code of the status. */
    readonly errorCode?: ErrorCode | undefined;
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
  if (error instanceof CallerFailure)
    return {
      status: statuses[error.code],
      message: error.message,
      errorCode: error.code,
      ...extrasOf(error),
    };
  if (isDatabaseUnavailable(error) || error instanceof StorageFailure) {
    return {
      status: 503,
      message: 'The service is temporarily unavailable',
      headers: { 'Retry-After': '1' },
    };
  }
  return { status: 500, message: 'Internal server error: its log has this X-Request-Id' };
}

function extrasOf(error: CallerFailure): Pick<Translation, 'error' | 'headers'> {
  if (error instanceof Invalid) return error.problems.length > 0 ? { error: error.problems } : {};
  if (error instanceof ProviderRefused)
    return { error: { providerCode: error.providerCode, details: error.details } };
  if (error instanceof CursorExpired) return { error: { oldestCursor: error.oldestCursor } };
  if (error instanceof Unauthorized) return { headers: { 'WWW-Authenticate': 'ApiKey header="X-API-Key"' } };
  if (error instanceof Overloaded || error instanceof MessagingLimitReached)
    return { headers: { 'Retry-After': String(error.retryAfterSeconds) } };
  return {};
}

/** The status of an error that carries its code. */
const statuses: Readonly<Record<ErrorCode, number>> = {
  unauthorized: 401,
  jwt_not_allowed: 401,
  forbidden: 403,
  validation_failed: 400,
  malformed_request: 400,
  name_required: 400,
  channel_required: 400,
  schedule_in_past: 400,
  feature_unavailable: 400,
  quota_exhausted: 400,
  insufficient_balance: 400,
  provider_rejected: 400,
  template_not_found: 404,
  template_not_approved: 400,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  cursor_expired: 410,
  idempotency_conflict: 409,
  idempotency_mismatch: 422,
  too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  rate_limited: 429,
  messaging_limit: 429,
  provider_unreachable: 502,
  outcome_unknown: 502,
  unavailable: 503,
  internal_error: 500,
};

/** The code of an error of the HTTP layer, which carries its status. */
const byStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'malformed_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  410: 'cursor_expired',
  413: 'too_large',
  415: 'unsupported_media_type',
  417: 'expectation_failed',
  422: 'idempotency_mismatch',
  429: 'rate_limited',
  431: 'too_large',
  502: 'provider_unreachable',
  503: 'unavailable',
};

export const codeOfStatus = (status: number): ErrorCode => byStatus[status] ?? 'internal_error';

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
