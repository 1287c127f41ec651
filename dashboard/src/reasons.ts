/** Explains why messages fail and campaigns wait, in words for users, with advice. */
import type { WaitingReason } from '../../src/domain/campaigns/campaign.ts';
import { providerErrorTable } from '../../src/domain/sending/provider-error.ts';
import { words } from './format.ts';

export interface Explanation {
  readonly title: string;
  readonly advice: string;
}

const own: Readonly<Record<string, Explanation>> = {
  OUTCOME_UNKNOWN: {
    title: 'No answer came, so it is unknown whether it was sent',
    advice: 'Wait for a receipt: it settles the message. It is never sent twice by itself.',
  },
  INVALID_PHONE: { title: 'Not a phone number', advice: 'Correct the number in the list.' },
  DUPLICATE: {
    title: 'The number stands in the list more than once',
    advice: 'Nothing: it is sent to once.',
  },
  UNSUBSCRIBED: { title: 'The person has unsubscribed', advice: 'Do not write to them.' },
  CONTACT_DELETED: { title: 'The contact was deleted', advice: 'Nothing.' },
  MISSING_VARIABLE: {
    title: 'A variable of the message has no value',
    advice: 'Fill the column, or give the variable a default value.',
  },
  MALFORMED_ROW: { title: 'The row cannot be read', advice: 'Look at its quotes and delimiters.' },
  BLOCKED_COUNTRY: {
    title: 'The channel does not send to this country',
    advice: 'Ask who runs the channel.',
  },
};

const adviceOf: Readonly<Record<number, string>> = {
  131026:
    'The number is probably not on the service, or its app is too old. Leave it out of the next campaign.',
  131047: 'More than a day has passed since the person last wrote: only a template may be sent.',
  131049: 'The provider keeps people from too much marketing. Try again in a few days, not sooner.',
  131050: 'The person has stopped marketing messages of this number. Do not write to them.',
  131056: 'Too many messages to one person in a short time. Wait before writing to them again.',
  132000: 'The mapping does not fit the template: compare their variables.',
  132001: 'The template does not exist in this language: sync the templates.',
  130472: 'The person is part of an experiment of the provider. Nothing can be done.',
  131042: 'There is a problem with the payment to the provider: look at the account’s billing.',
};

const meanings = new Map(
  providerErrorTable.flatMap(({ codes, meaning }) => codes.map((code) => [code, meaning] as const)),
);

/** Reasons after which another message to the same recipient would fail again, or should not be sent. */
const hopeless: ReadonlySet<string> = new Set([
  'PROVIDER_131026',
  'PROVIDER_131049',
  'PROVIDER_131050',
  'PROVIDER_130472',
  'UNSUBSCRIBED',
  'CONTACT_DELETED',
  'INVALID_PHONE',
  'BLOCKED_COUNTRY',
]);
export const isHopeless = (reason: string): boolean => hopeless.has(reason);

export function explain(reason: string): Explanation {
  const known = own[reason];
  if (known !== undefined) return known;
  const code = Number(/^PROVIDER_(\d+)$/.exec(reason)?.[1]);
  if (Number.isNaN(code)) return { title: words(reason), advice: '' };
  const meaning = meanings.get(code);
  return {
    title: `${meaning === undefined ? 'Refused by the provider' : meaning.slice(0, 1).toUpperCase() + meaning.slice(1)} (${code})`,
    advice: adviceOf[code] ?? 'Look the code up in the provider’s documentation.',
  };
}

/** Text for each reason why a campaign is paused. */
export const pauses: Readonly<Record<string, string>> = {
  INSUFFICIENT_BALANCE: 'The wallet is empty',
  BROADCAST_QUOTA: 'The month’s broadcasts are used',
  TEMPLATE_UNAVAILABLE: 'The template may not be sent',
  CHANNEL_BLOCKED: 'The channel is blocked',
  OPERATOR: 'Paused by an operator',
  MESSAGE_REJECTED: 'The provider rejects every message',
  RECORD_RESTORED: 'Paused after a restore of the records',
};

/** Text for each reason why a running campaign waits, shown after “Waits:”. */
export const waits: Readonly<Record<WaitingReason, string>> = {
  TURN: 'takes turns with others on its channel',
  CHANNEL_TROUBLE: 'the provider does not answer',
  CHANNEL_THROTTLE: 'the provider asked for silence',
  MESSAGING_LIMIT: 'the messaging limit is used up',
  SENDING_WINDOW: 'it is outside its sending window',
  PREPARATION: 'its audience is being prepared',
  QUEUED: 'the workers are busy',
  WORKFLOW_STUCK: 'its workflow is stuck',
};
