/** Stable codes of the error envelope: what each means, and what the caller can do about it. `docs/errors.md` is written from this table. */

interface ErrorCodeEntry {
  readonly meaning: string;
  readonly advice: string;
}

export const errorCodeTable = {
  unauthorized: {
    meaning: 'The credentials are missing, wrong, revoked or of too small a scope.',
    advice: 'Send a valid API key in the header X-API-Key.',
  },
  jwt_not_allowed: {
    meaning: 'A JWT was sent where only an API key is accepted.',
    advice: 'Send an API key in the header X-API-Key.',
  },
  forbidden: {
    meaning: 'The verify token or the origin of the request is not accepted.',
    advice: 'Check the token, or send the request from the page of this service.',
  },
  validation_failed: {
    meaning: 'The request breaks a rule; `error` lists the fields.',
    advice: 'Correct the listed fields and send the request again.',
  },
  malformed_request: {
    meaning: 'The request cannot be read: its HTTP, JSON, encoding or form is broken.',
    advice: 'Correct the syntax; the message names what is wrong.',
  },
  name_required: { meaning: 'The campaign has no name.', advice: 'Send `name`.' },
  channel_required: {
    meaning: 'The request needs a channel, but the key has no single one.',
    advice: 'Use the API key of a channel.',
  },
  schedule_in_past: {
    meaning: 'The scheduled time is not in the future.',
    advice: 'Send a later `scheduled_at`, with its time zone.',
  },
  feature_unavailable: {
    meaning: 'The workspace does not have the feature that the request needs.',
    advice: 'Ask the operator of the service to enable the feature.',
  },
  quota_exhausted: {
    meaning: 'The broadcasts of this month are used up.',
    advice: 'Wait for the next month, or ask the operator for a larger quota.',
  },
  insufficient_balance: {
    meaning: 'The wallet of the channel does not cover the message.',
    advice: 'Recharge the wallet, then send the request again.',
  },
  provider_rejected: {
    meaning: 'The messaging provider refused the request; `error` holds its code and its details.',
    advice: 'Look up the provider’s code and correct what its details name.',
  },
  template_not_found: {
    meaning: 'The workspace and the business account have no such template.',
    advice: 'Choose a template of GET /api/templates.',
  },
  template_not_approved: {
    meaning: 'The provider has not approved the template, or has withdrawn it.',
    advice: 'Choose a template of GET /api/templates?status=APPROVED.',
  },
  not_found: {
    meaning: 'The route or the record does not exist, or the record belongs to another workspace.',
    advice: 'Check the path and the id.',
  },
  method_not_allowed: {
    meaning: 'The path does not take this method.',
    advice: 'Use a method of the header Allow.',
  },
  cursor_expired: {
    meaning: 'Events after the cursor are no longer kept, or the cursor is of another copy of the database.',
    advice: 'Continue with `error.oldestCursor`, and read the records whose events are missing.',
  },
  request_timeout: {
    meaning: 'The request took too long to arrive.',
    advice: 'Send it again over a faster connection, or in smaller parts.',
  },
  conflict: {
    meaning: 'The present state of the record does not permit the change.',
    advice: 'Read the record again; the message names its state.',
  },
  idempotency_conflict: {
    meaning: 'A request with this Idempotency-Key is still running.',
    advice: 'Send the same request again a little later.',
  },
  idempotency_mismatch: {
    meaning: 'This Idempotency-Key was used with another request body.',
    advice: 'Send the first body again, or use a new key.',
  },
  too_large: {
    meaning: 'The head, the body or the file is too large, or the storage of the workspace is full.',
    advice: 'Send less; the message names the limit.',
  },
  unsupported_media_type: {
    meaning: 'The media type or the content encoding of the body is not supported.',
    advice: 'Send JSON, or a form where a file is expected; compress with gzip or not at all.',
  },
  expectation_failed: {
    meaning: 'The header Expect holds something other than 100-continue.',
    advice: 'Leave the header out.',
  },
  rate_limited: {
    meaning:
      'Too many requests were sent, too many messages wait for the channel, or the provider takes no more at the moment.',
    advice: 'Wait for the seconds of Retry-After, then send the request again.',
  },
  messaging_limit: {
    meaning: 'The business account has written to as many different people in 24 hours as it may.',
    advice: 'Wait for the seconds of Retry-After, then send the request again.',
  },
  provider_unreachable: {
    meaning: 'The messaging provider cannot be reached; nothing was sent.',
    advice: 'Send the request again later.',
  },
  outcome_unknown: {
    meaning: 'The messaging provider gave no answer that can be read: the message may have been sent.',
    advice: 'Wait for the events of the message before you send it again.',
  },
  unavailable: {
    meaning: 'The service or something that it needs is unavailable at the moment.',
    advice: 'Send the request again after the seconds of Retry-After.',
  },
  internal_error: {
    meaning: 'The service failed.',
    advice: 'Report the X-Request-Id of the answer to the operator.',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

export type ErrorCode = keyof typeof errorCodeTable;
export const errorCodes = Object.keys(errorCodeTable) as readonly ErrorCode[];
