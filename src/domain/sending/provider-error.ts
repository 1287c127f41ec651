/** Maps a rejection by the provider to the action to take. Imports neither io-ts nor Node. */
import {
  fail,
  providerErrorTable,
  retry,
  suspectMapping,
  type ProviderErrorRule,
} from './provider-error-table.ts';

const ruleByCode: ReadonlyMap<number, ProviderErrorRule> = new Map(
  providerErrorTable.flatMap(({ codes, rule }) => codes.map((code) => [code, rule] as const)),
);

/** A rejection by the provider; a status callback gives only its code. */
export interface ProviderError {
  readonly code: number;
  readonly subcode?: number | null;
  /** HTTP status of the answer; equal to `code` when the answer was outside the provider's protocol. */
  readonly httpStatus?: number;
  readonly isTransient?: boolean;
  /** How long the provider asked us to wait. */
  readonly retryAfterMs?: number;
}

/** The action to take: `retry_once` and used-up retries are resolved into one of these. */
export type ProviderErrorAction =
  | { readonly kind: 'retry' | 'retry_recipient'; readonly delayMs: number }
  | Extract<ProviderErrorRule, { kind: 'throttle' | 'fail' | 'pause_template' | 'pause_channel' }>;

/**
 * The action for a refused message. `attempts` is how often it was sent so far, this time included (1 = the first
 * send was refused); a throttled send does not count.
 */
export function providerErrorAction(error: ProviderError, attempts: number): ProviderErrorAction {
  const rule = providerErrorRule(error);
  const asked = error.retryAfterMs ?? 0;
  switch (rule.kind) {
    case 'retry':
    case 'retry_recipient': {
      if (attempts >= rule.attempts) return fail;
      return { kind: rule.kind, delayMs: Math.max(retryDelayMs(rule, attempts), asked) };
    }
    case 'retry_once':
      return attempts >= 2 ? fail : { kind: 'retry', delayMs: Math.max(rule.delayMs, asked) };
    case 'throttle':
      // A wait that the provider names replaces the delay and the silence of the rule.
      return asked > 0 ? { kind: 'throttle', delayMs: asked, silenceMs: asked } : rule;
    default:
      return rule;
  }
}

/** How long a message waits that was refused for the `attempts`-th time. */
export function retryDelayMs(
  { firstDelayMs, factor }: Extract<ProviderErrorRule, { kind: 'retry' | 'retry_recipient' }>,
  attempts: number,
): number {
  return firstDelayMs * factor ** (Math.max(attempts, 1) - 1);
}

/**
 * Finds the rule for an error. An error that the table does not list is retried if it is transient or came with HTTP 5xx, else
 * it fails the recipient.
 */
export function providerErrorRule({
  code,
  subcode,
  httpStatus,
  isTransient,
}: ProviderError): ProviderErrorRule {
  if (httpStatus !== undefined && code === httpStatus) return httpErrorRule(httpStatus);
  // "Object does not exist": the number in the address, not one of the parameters.
  if (code === 100 && subcode === 33) return ruleByCode.get(33) ?? fail;
  if (code >= 200 && code <= 299) return { kind: 'pause_channel', cause: 'token' };
  const listed = ruleByCode.get(code);
  if (listed) return listed;
  return isTransient === true || (httpStatus ?? 0) >= 500 ? retry : fail;
}

/**
 * An HTTP error without the provider's error body: from a gateway, a wrong address, or a broken provider. What refuses one
 * message so refuses the next ones too.
 */
function httpErrorRule(httpStatus: number): ProviderErrorRule {
  if (httpStatus === 429) return { kind: 'throttle', delayMs: 1000, silenceMs: 1000 };
  if (httpStatus === 401 || httpStatus === 403) return { kind: 'pause_channel', cause: 'token' };
  if (httpStatus === 404 || httpStatus < 400) return { kind: 'pause_channel', cause: 'address' };
  if (httpStatus === 408 || httpStatus === 425 || httpStatus === 503) return retry;
  return suspectMapping;
}
