/**
 * The failures that a caller can cause, each with its code. Nothing here knows HTTP: `api/frame/error-envelope.ts` translates
 * the failures.
 */
import type { ErrorCode } from './error-code.ts';

export interface FieldProblem {
  /** Dot path, e.g. `quick_contacts.1`. */
  readonly field: string;
  readonly message: string;
  /** If absent, `validation_failed`. */
  readonly code?: ErrorCode | undefined;
}

/** Maximum number of problems in a response: a body may contain millions of wrong elements. */
export const mostProblems = 100;

/** Adds a problem, unless the last one says the same: two values may be read from one place. */
export function addProblem(problems: FieldProblem[], problem: FieldProblem): void {
  const last = problems.at(-1);
  if (last?.field !== problem.field || last.message !== problem.message) problems.push(problem);
}

/** Maximum length of a field and of a message in a response, in characters: both may repeat the caller's input. */
const longestField = 200;
const longestMessage = 500;
/** Maximum size of all problems in a response, in bytes of JSON. */
const mostBytes = 48 * 1024;

/** Returns the first problems, within the size limit of a response. */
export function shownProblems(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const shown: FieldProblem[] = [];
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const { field, message } of problems.slice(0, mostProblems)) {
    const problem = { field: cut(field, longestField), message: cut(message, longestMessage) };
    bytes += encoder.encode(JSON.stringify(problem)).length;
    if (bytes > mostBytes) break;
    shown.push(problem);
  }
  return shown;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
}

/** An error that is named after its class. */
export class Failure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A failure that is reported to the caller. */
export class CallerFailure extends Failure {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The input breaks a rule; `message` is that of the first problem. */
export class Invalid extends CallerFailure {
  readonly problems: readonly FieldProblem[];
  constructor(
    message: string,
    problems: readonly FieldProblem[] = [],
    code: ErrorCode = 'validation_failed',
  ) {
    super(code, cut(message, longestMessage));
    this.problems = shownProblems(problems);
  }

  static at(field: string, message: string, code?: ErrorCode): Invalid {
    return new Invalid(message, [{ field, message }], code);
  }

  /** Reports all problems at once; the first one in declaration order supplies the message and the code. */
  static of(problems: readonly FieldProblem[]): Invalid {
    const [first] = problems;
    return new Invalid(first?.message ?? 'The request is not valid', problems, first?.code);
  }
}

/** The key belongs to the whole workspace, and the request names no channel. The message is fixed by the specification. */
export const channelNeeded = (): Invalid =>
  new Invalid(
    'Either channel_id or phone_number_id is required',
    [
      {
        field: 'X-API-Key',
        message: 'Send with an API key of a channel: this one is of the whole workspace',
      },
    ],
    'channel_required',
  );

/** The message is fixed by the specification. */
export const templateNotApproved = (field: string, status: string): Invalid =>
  new Invalid(
    'Template is not approved',
    [{ field, message: `The template is ${status}: choose one of GET /api/templates?status=APPROVED` }],
    'template_not_approved',
  );

/** The workspace's plan does not include the feature, or its quota is used up. */
export class FeatureUnavailable extends CallerFailure {
  readonly feature: string;
  constructor(feature: string, message: string) {
    super(
      feature === 'broadcasts_per_month' ? 'quota_exhausted' : 'feature_unavailable',
      `${message}: ask whoever runs this service`,
    );
    this.feature = feature;
  }
}

export class Unauthorized extends CallerFailure {
  constructor(
    message = 'Unauthorized access: Invalid or missing authentication credentials.',
    code: ErrorCode = 'unauthorized',
  ) {
    super(code, message);
  }
}

/** Also thrown for an id of another workspace. `what` is the kind of record, capitalised: `Template`. */
export class NotFound extends CallerFailure {
  constructor(what: string, code: ErrorCode = 'not_found') {
    super(code, `${what} not found`);
  }
}

export const notFound = (what: string, code?: ErrorCode): never => {
  throw new NotFound(what, code);
};

/** The current state of the record does not allow the request. */
export class Conflict extends CallerFailure {
  constructor(message: string, code: ErrorCode = 'conflict') {
    super(code, message);
  }
}

/** Events after the cursor are no longer kept. `oldestCursor` is the first one that works. */
export class CursorExpired extends CallerFailure {
  readonly oldestCursor: string;
  constructor(oldestCursor: string) {
    super('cursor_expired', 'Events after this cursor are no longer kept: continue with error.oldestCursor');
    this.oldestCursor = oldestCursor;
  }
}

/** A request repeats an Idempotency-Key with another body. */
export class IdempotencyMismatch extends CallerFailure {
  constructor() {
    super(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request body: send that one, or a new key',
    );
  }
}

/** The provider refused a request: one message, or the list of templates. */
export class ProviderRefused extends CallerFailure {
  readonly providerCode: number;
  readonly details: string;
  constructor(providerCode: number, details: string) {
    super('provider_rejected', `The provider refused the request: ${details}`);
    this.providerCode = providerCode;
    this.details = details;
  }
}

/**
 * The provider could not be reached; nothing was sent. `gatewayStatus` is the status of the gateway's HTTP error, if there
 * was one.
 */
export class ProviderUnreachable extends CallerFailure {
  constructor(gatewayStatus?: number) {
    const answered = gatewayStatus === undefined ? '' : `, HTTP ${gatewayStatus} came in its place`;
    super('provider_unreachable', `The messaging provider cannot be reached${answered}: try again later`);
  }
}

/** A file exceeds the size limit of its type. */
export class FileTooLarge extends CallerFailure {
  constructor(mimeType: string, bytes: number) {
    super('too_large', `A file of type ${mimeType} must not be larger than ${bytes} bytes`);
  }
}

/** The workspace has reached its limit of stored files. */
export class StorageFull extends CallerFailure {
  constructor(message: string) {
    super('too_large', message);
  }
}

/** The business account has reached its limit of different people per 24 hours. */
export class MessagingLimitReached extends CallerFailure {
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super(
      'messaging_limit',
      'The messaging limit of the business account is reached: no more different people in 24 hours',
    );
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Too much is waiting already; the same request may work after `retryAfterSeconds`. */
export class Overloaded extends CallerFailure {
  readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterSeconds: number) {
    super('rate_limited', message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
