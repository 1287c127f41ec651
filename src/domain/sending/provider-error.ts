/**
 * Maps a rejection by the provider to the action to take. A table lists the policy for each error code, because the same
 * codes arrive in the response to a send and, later, in `failed` status callbacks. Imports neither io-ts nor Node.
 */

/** Why the provider refuses a whole channel. Used in the record, the alert and the log. */
export const channelBlockCauses = ['token', 'payment', 'policy', 'limit', 'number', 'address'] as const;
export type ChannelBlockCause = (typeof channelBlockCauses)[number];

/** A lasting effect beyond the message itself. */
type ProviderErrorEffect =
  | 'unsubscribe_contact'
  | 'block_country'
  | 'template_paused'
  | 'template_disabled'
  | 'resync_templates'
  | 'report_code';

export type ProviderErrorRule =
  /**
   * Send this message again after a growing delay, at most `attempts` times in all, then fail the recipient. With
   * `retry_recipient` only this recipient waits; the others go on.
   */
  | {
      readonly kind: 'retry' | 'retry_recipient';
      readonly attempts: number;
      readonly firstDelayMs: number;
      readonly factor: number;
    }
  /** Send this message once more, then fail the recipient. */
  | { readonly kind: 'retry_once'; readonly delayMs: number }
  /** The whole channel slows down or pauses for a while; the message is returned to pending and does not count as an attempt. */
  | { readonly kind: 'throttle'; readonly delayMs: number; readonly silenceMs: number }
  /** Final for the recipient. */
  | { readonly kind: 'fail'; readonly effect?: ProviderErrorEffect }
  /** Pause the campaigns of this template; the recipient stays pending. */
  | { readonly kind: 'pause_template'; readonly effect?: ProviderErrorEffect }
  /** Pause every campaign of the channel and raise an alert; the recipient stays pending. */
  | { readonly kind: 'pause_channel'; readonly cause: ChannelBlockCause };

/** What a failure blames: the message, with its template and media; the person; or the person's country. */
export type FailureKind = 'own' | 'person' | 'country';

interface ProviderErrorRow {
  readonly codes: readonly number[];
  readonly meaning: string;
  /** Absent: `own`. The failure brake counts the kinds apart. */
  readonly kind?: Exclude<FailureKind, 'own'>;
  /** What a person can do about it; absent if the provider's documentation says more than we could. */
  readonly advice?: string;
  /** Another message to the same recipient would fail again, or should not be sent. */
  readonly isHopeless?: true;
  readonly rule: ProviderErrorRule;
}

const second = 1000;
const minute = 60 * second;

/** 1 s, 4 s, 16 s, 64 s, then the recipient fails. */
export const retry = {
  kind: 'retry',
  attempts: 5,
  firstDelayMs: second,
  factor: 4,
} as const satisfies ProviderErrorRule;
const fail = { kind: 'fail' } as const satisfies ProviderErrorRule;
/** A notice names the code, so that somebody looks it up. */
const unlisted: ProviderErrorRule = { kind: 'fail', effect: 'report_code' };
const templateSyncing: ProviderErrorRule = {
  kind: 'retry',
  attempts: 3,
  firstDelayMs: 10 * minute,
  factor: 1,
};
const pauseTemplate: ProviderErrorRule = { kind: 'pause_template' };

/** Each code appears in only one row. */
export const providerErrorTable: readonly ProviderErrorRow[] = [
  {
    codes: [130429],
    meaning: 'throughput of the number exceeded',
    rule: { kind: 'throttle', delayMs: second, silenceMs: 0 },
  },
  {
    codes: [4, 17, 341, 613, 80007, 80008],
    meaning: 'call limit of the app or the business account reached',
    rule: { kind: 'throttle', delayMs: minute, silenceMs: minute },
  },
  {
    codes: [131056],
    meaning: 'too many messages to this recipient in a short time',
    advice: 'Too many messages to one person in a short time. Wait before writing to them again.',
    kind: 'person',
    rule: { kind: 'retry_recipient', attempts: 6, firstDelayMs: second, factor: 4 },
  },
  {
    codes: [131057, 2494100],
    meaning: 'account in maintenance or in a throughput upgrade',
    rule: { kind: 'retry', attempts: 5, firstDelayMs: minute, factor: 1 },
  },
  { codes: [1, 2, 131000, 131016, 133004], meaning: 'temporary server trouble', rule: retry },
  {
    codes: [134101],
    meaning: 'template still being prepared for marketing messages',
    rule: templateSyncing,
  },
  { codes: [135000], meaning: 'generic user error', rule: { kind: 'retry_once', delayMs: second } },
  {
    codes: [131048, 131064],
    meaning: 'spam or classification limit of the number',
    rule: { kind: 'pause_channel', cause: 'limit' },
  },
  {
    codes: [368, 131031],
    meaning: 'account blocked for a policy violation',
    rule: { kind: 'pause_channel', cause: 'policy' },
  },
  {
    codes: [0, 3, 10, 104, 190, 131005],
    meaning: 'access token or permission',
    rule: { kind: 'pause_channel', cause: 'token' },
  },
  {
    codes: [131042, 131044],
    meaning: 'payment method, credit line or currency of the account',
    advice: 'There is a problem with the payment to the provider: look at the account’s billing.',
    rule: { kind: 'pause_channel', cause: 'payment' },
  },
  {
    codes: [33, 131037, 131045, 133000, 133005, 133006, 133008, 133009, 133010, 133015, 133016],
    meaning: 'number not registered, not approved or deleted',
    rule: { kind: 'pause_channel', cause: 'number' },
  },
  {
    codes: [132001],
    meaning: 'template missing in this language or not approved',
    advice: 'The template does not exist in this language: sync the templates.',
    rule: { kind: 'pause_template', effect: 'resync_templates' },
  },
  {
    codes: [132015],
    meaning: 'template paused for low quality',
    rule: { kind: 'pause_template', effect: 'template_paused' },
  },
  {
    codes: [132016],
    meaning: 'template disabled for low quality',
    rule: { kind: 'pause_template', effect: 'template_disabled' },
  },
  {
    codes: [131058],
    meaning: 'the sample template may be sent from test numbers only',
    advice: 'hello_world works with a test number only: choose a template of your own.',
    rule: pauseTemplate,
  },
  {
    codes: [131061],
    meaning: 'template with a maximum price on the ordinary endpoint',
    advice: 'Switch the marketing endpoint of the channel on, or remove the maximum price of the template.',
    rule: pauseTemplate,
  },
  {
    codes: [134011],
    meaning: 'terms of payments not accepted',
    advice: 'Accept the terms of payments at the provider: order templates need them.',
    rule: pauseTemplate,
  },
  { codes: [132007], meaning: 'template content violates a policy', rule: pauseTemplate },
  { codes: [132068, 132069], meaning: 'flow of the template blocked or throttled', rule: pauseTemplate },
  {
    codes: [131055, 134100],
    meaning: 'not a MARKETING template, which the marketing endpoint needs',
    advice: 'The provider may have changed the category: sync the templates.',
    rule: { kind: 'pause_template', effect: 'resync_templates' },
  },
  {
    codes: [131063],
    meaning: 'marketing templates are switched off on the ordinary endpoint',
    advice: 'Switch the marketing endpoint of the channel on.',
    rule: pauseTemplate,
  },
  {
    codes: [134102],
    meaning: 'the account is not onboarded for marketing messages',
    advice: 'Onboard the account at the provider, or switch the marketing endpoint of the channel off.',
    rule: pauseTemplate,
  },
  { codes: [132005], meaning: 'filled text too long', rule: fail },
  {
    codes: [100, 131008, 131009, 132000, 132008, 132012, 132018],
    meaning: 'parameter missing, miscounted or malformed',
    advice: 'The mapping does not fit the template: compare their variables.',
    rule: fail,
  },
  { codes: [131014, 131053], meaning: 'media could not be fetched or uploaded', rule: fail },
  // No effect beyond the recipient: this is the most frequent failure, and the person may be reachable tomorrow.
  {
    codes: [131026],
    meaning: 'recipient cannot receive the message',
    advice:
      'The number is probably not on the service, or its app is too old. Leave it out of the next campaign.',
    isHopeless: true,
    kind: 'person',
    rule: fail,
  },
  {
    codes: [131050],
    meaning: 'recipient opted out of marketing messages',
    advice: 'This person blocked marketing from your number. Do not write to them.',
    isHopeless: true,
    kind: 'person',
    rule: { kind: 'fail', effect: 'unsubscribe_contact' },
  },
  {
    codes: [130497],
    meaning: 'business may not message this country',
    kind: 'country',
    rule: { kind: 'fail', effect: 'block_country' },
  },
  {
    codes: [131049],
    meaning: 'held back by the provider: too much marketing to this person',
    advice: 'The provider limits marketing to this person. Try again in a few days, not sooner.',
    isHopeless: true,
    kind: 'person',
    rule: fail,
  },
  {
    codes: [130472],
    meaning: "recipient's number is part of an experiment",
    advice: 'This person is in a test group of the provider. Nothing can be done.',
    isHopeless: true,
    kind: 'person',
    rule: fail,
  },
  {
    codes: [130403],
    meaning: 'the business blocked the recipient',
    advice: 'Unblock the person in the provider’s app.',
    isHopeless: true,
    kind: 'person',
    rule: fail,
  },
  {
    codes: [131047],
    meaning: 'outside the 24-hour window',
    advice: 'More than a day has passed since the person last wrote: only a template may be sent.',
    kind: 'person',
    rule: fail,
  },
  {
    codes: [131021],
    meaning: 'the recipient is the sender',
    isHopeless: true,
    kind: 'person',
    rule: fail,
  },
  { codes: [131030, 131051], meaning: 'recipient or message type not allowed', rule: fail },
  { codes: [131062], meaning: 'recipient known by user id only is not allowed here', rule: fail },
  { codes: [131035, 131036, 131043], meaning: 'message expired or cannot be stored', rule: fail },
  { codes: [137000], meaning: "recipient's identity changed and needs review", kind: 'person', rule: fail },
  {
    codes: [
      131020, 131041, 131052, 131059, 131201, 131202, 131204, 131207, 131208, 131209, 131210, 131211, 131212,
      131213, 131214, 131215, 138000, 138001, 138002, 138003, 138004, 138005, 138006, 138007, 138009, 138012,
      138013, 138018, 139000, 139001, 139002, 139003, 139004, 139100, 139101, 139102, 139103, 147001, 147002,
      147003, 147004, 147005, 1752041, 2388012, 2388019, 2388040, 2388047, 2388073, 2388091, 2388093, 2388103,
      2388293, 2388299, 2494164, 2494165, 2494166, 2494167, 2494168, 2494176, 2494177, 2494179,
    ],
    meaning: 'not about sending: groups, calls, blocks, user names, creation of templates, onboarding',
    rule: fail,
  },
];

const ruleByCode: ReadonlyMap<number, ProviderErrorRule> = new Map(
  providerErrorTable.flatMap(({ codes, rule }) => codes.map((code) => [code, rule] as const)),
);

/** Too much marketing to this person: another message has a chance after 24 hours. */
export const heldBack = 'PROVIDER_131049';

/** Reasons that another message to the same person would meet again, however late it is sent. */
export const hopelessReasons: readonly string[] = providerErrorTable
  .filter(({ isHopeless }) => isHopeless === true)
  .flatMap(({ codes }) => codes.map((code) => `PROVIDER_${code}`))
  .filter((reason) => reason !== heldBack);

const rowByReason: ReadonlyMap<string, ProviderErrorRow> = new Map(
  providerErrorTable.flatMap((row) => row.codes.map((code) => [`PROVIDER_${code}`, row] as const)),
);

/** Takes the reason of a FAILED recipient; undefined for codes outside the table, and for failures without a code. */
export const findProviderError = (reason: string): ProviderErrorRow | undefined => rowByReason.get(reason);

export const kindOfReason = (reason: string): FailureKind => findProviderError(reason)?.kind ?? 'own';

const mediaCodes: ReadonlySet<number> = new Set([131014, 131053]);
const parameterCodes: ReadonlySet<number> = new Set([100, 131009]);

/** Whether the failure may mean that the provider no longer has the file of a media id. `words` are the provider's. */
export const refusesMedia = (code: number, words: string): boolean =>
  mediaCodes.has(code) || (parameterCodes.has(code) && /\b(?:media|id|ids|file)\b/i.test(words));

/** A rejection by the provider; a status callback gives only its code. */
export interface ProviderError {
  readonly code: number;
  readonly subcode?: number | null;
  /** HTTP status of the response; equal to `code` if the response was outside the provider's protocol. */
  readonly httpStatus?: number;
  readonly isTransient?: boolean;
  /** How long the provider asked us to wait. */
  readonly retryAfterMs?: number;
  /** The provider's words; only an answer to a send has them here. */
  readonly details?: string | null;
}

/** The action to take: `retry_once` and used-up retries are resolved into one of these. */
export type ProviderErrorAction =
  | { readonly kind: 'retry' | 'retry_recipient'; readonly delayMs: number }
  | Extract<ProviderErrorRule, { kind: 'throttle' | 'fail' | 'pause_template' | 'pause_channel' }>;

/**
 * Returns the action for a refused message. `attempts` is the number of sends so far including this one (1 = the first send
 * was refused); throttled sends do not count.
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
      // If the provider asked for a wait, it replaces the rule's delay and pause.
      return asked > 0 ? { kind: 'throttle', delayMs: asked, silenceMs: asked } : rule;
    default:
      return rule;
  }
}

/** Returns how long a message waits after its `attempts`-th refusal. */
export function retryDelayMs(
  { firstDelayMs, factor }: Extract<ProviderErrorRule, { kind: 'retry' | 'retry_recipient' }>,
  attempts: number,
): number {
  return firstDelayMs * factor ** (Math.max(attempts, 1) - 1);
}

/**
 * Finds the rule for an error. An error that the table does not list is retried if it is transient or came with HTTP 5xx, else
 * it fails the recipient and is reported.
 */
export function providerErrorRule({
  code,
  subcode,
  httpStatus,
  isTransient,
  details,
}: ProviderError): ProviderErrorRule {
  if (httpStatus !== undefined && code === httpStatus) return httpErrorRule(httpStatus);
  // "Object does not exist": the number in the address, not one of the parameters.
  if (code === 100 && subcode === 33) return ruleByCode.get(33) ?? fail;
  // A new template is unknown to the marketing endpoint for some minutes.
  if (code === 131009 && /\bsync/i.test(details ?? '')) return templateSyncing;
  if (code >= 200 && code <= 299) return { kind: 'pause_channel', cause: 'token' };
  const listed = ruleByCode.get(code);
  if (listed) return listed;
  return isTransient === true || (httpStatus ?? 0) >= 500 ? retry : unlisted;
}

/**
 * Returns the rule for an HTTP error without the provider's error body: it comes from a gateway, a wrong address or a broken
 * provider, and will affect the next messages too.
 */
function httpErrorRule(httpStatus: number): ProviderErrorRule {
  if (httpStatus === 429) return { kind: 'throttle', delayMs: 1000, silenceMs: 1000 };
  if (httpStatus === 401 || httpStatus === 403) return { kind: 'pause_channel', cause: 'token' };
  if (httpStatus === 404 || httpStatus < 400) return { kind: 'pause_channel', cause: 'address' };
  if (httpStatus === 408 || httpStatus === 425 || httpStatus === 503) return retry;
  return fail;
}
