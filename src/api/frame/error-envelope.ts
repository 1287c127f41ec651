/** The one translator of errors into the error envelope (Spec 7). */
import type { ErrorCode } from '../../domain/error-code.ts';
import {
  Conflict,
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
import { codeOfStatus, errorCodeOf } from './error-code.ts';
import { ErrorEnvelope } from './envelope.ts';
import { HttpProblem } from './http-problem.ts';

export interface Failure {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Translation = Pick<ErrorEnvelope, 'message' | 'error'> & {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
};

export function toFailure(error: unknown, now: Date): Failure {
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
