/**
 * Chooses the code of an error envelope: by the message where that is fixed, else by the class of the error, else by its
 * status.
 */
import type { ErrorCode } from '../../domain/error-code.ts';
import {
  FeatureUnavailable,
  IdempotencyMismatch,
  Invalid,
  MessagingLimitReached,
  ProviderRefused,
} from '../../domain/error.ts';

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
