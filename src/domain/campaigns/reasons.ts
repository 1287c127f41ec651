/**
 * The only place for the texts of reasons. The dashboard, Temporal's page, the diagnosis, notices, `docs/errors.md` and the
 * API document read these tables; a new reason that lacks a text does not compile. Imports neither io-ts nor Node.
 */
import type { PauseEvidence } from '../sending/failure-brake.ts';
import { findProviderError, kindOfReason } from '../sending/provider-error.ts';
import type { ImportReason } from '../contacts/import.ts';
import type { PauseReason, PreparationErrorCode, WaitingReason } from './campaign.ts';
import { skipReasons, type SkipReason } from './recipient.ts';

export interface ReasonText {
  /** A sentence. */
  readonly meaning: string;
  readonly advice: string;
}

interface TitledText extends ReasonText {
  /** A few words for a table or a badge. For a wait, the words that follow "Waits: ". */
  readonly title: string;
}

interface RecipientReasonText extends TitledText {
  /** Another message to the same recipient would fail again, or should not be sent. */
  readonly isHopeless: boolean;
}

export type ReasonTable<R extends string> = Readonly<Record<R, ReasonText>>;
export type TitledReasonTable<R extends string> = Readonly<Record<R, TitledText>>;

/** One line per reason, for the description of an enum in the API document. */
export const describeReasons = (table: Readonly<Record<string, ReasonText>>): string =>
  Object.entries(table)
    .map(([reason, { meaning, advice }]) => `${reason}: ${meaning} ${advice}`)
    .join('\n');

export const pauseReasonTable: TitledReasonTable<PauseReason> = {
  INSUFFICIENT_BALANCE: {
    title: 'The wallet is empty',
    meaning: 'The wallet of the channel does not cover the next message.',
    advice: 'Recharge the wallet, then start the campaign.',
  },
  BROADCAST_QUOTA: {
    title: 'The month’s broadcasts are used up',
    meaning: 'The broadcasts of this month are used up.',
    advice: 'Start the campaign next month, or ask the operator for a larger quota.',
  },
  TEMPLATE_UNAVAILABLE: {
    title: 'The template may not be sent',
    meaning: 'The template is no longer approved, the provider refuses it, or its offer has ended.',
    advice:
      'Have the template approved again, then start the campaign. If its offer has ended, create another campaign with a later end.',
  },
  CHANNEL_BLOCKED: {
    title: 'The channel is blocked',
    meaning: 'The channel is blocked, or the provider refuses its number or access token.',
    advice: 'Have the operator unblock the channel, then start the campaign.',
  },
  MESSAGE_REJECTED: {
    title: 'The provider rejects every message',
    meaning:
      'The provider rejected a hundred messages in a row as malformed. Releases from 1.1.0 on pause with FAILURES instead.',
    advice:
      'Correct the mapping in a new campaign; `start` with `{"force": true}` continues without changes.',
  },
  RECORD_RESTORED: {
    title: 'The records were restored from a backup',
    meaning:
      'The database was restored from a backup, and messages sent since the backup may be missing from the record.',
    advice: 'Have the operator settle the restore with the doctor, then start the campaign.',
  },
  OPERATOR: {
    title: 'Paused by an operator',
    meaning: 'A user or an operator paused the campaign.',
    advice: 'Start the campaign to continue.',
  },
  FAILURES: {
    title: 'Too many messages fail',
    meaning: 'Too many messages failed for one reason, by answer or by status; `pause_evidence` says which.',
    advice:
      'Remove the cause, then try some recipients with `start` and `{"probe": 50}`; `{"force": true}` continues and ignores this reason.',
  },
  MAX_COST: {
    title: 'The maximum cost is reached',
    meaning: 'The next message would cost more than `max_cost` leaves.',
    advice: 'Raise or remove `max_cost` with PATCH, then start the campaign.',
  },
  PRICE_RAISED: {
    title: 'The messages have become more expensive',
    meaning:
      'The provider changed the category of the template, and a message costs more than when the campaign began; `price_change` has both prices.',
    advice: 'Start the campaign to send the rest at the new price, or cancel it.',
  },
};

/** What a changed category of the template means for the price of a message, as decimal strings. */
export interface PriceChange {
  readonly category_before: string;
  readonly category: string;
  /** ISO 3166 alpha-2 code of the country whose price rises most; empty for the countries without their own price. */
  readonly country: string;
  readonly price_before: string;
  readonly price: string;
}

export const describePriceChange = ({
  category_before,
  category,
  country,
  price_before,
  price,
}: PriceChange): string =>
  `The template’s category changed from ${category_before} to ${category}: a message${country === '' ? '' : ` to ${country}`} cost ${price_before} and costs ${price} now. ${pauseReasonTable.PRICE_RAISED.advice}`;

const adviceByKind = {
  own: 'Correct the message, its template or its media, then try 50 recipients.',
  person: 'Check where the numbers come from and whether these people expect your messages.',
  country: 'Leave this country out.',
} as const;

/** Says in a sentence why the failure brake paused a campaign, and in another what to do. Without personal data. */
export function describeEvidence({
  rule,
  reason,
  source,
  failed,
  of,
}: Pick<PauseEvidence, 'rule' | 'reason' | 'source' | 'failed' | 'of'>): string {
  const known = findProviderError(reason);
  const which = rule === 'first' ? 'first' : 'last';
  const when = source === 'status' ? ' after the provider had accepted them' : '';
  const cause = known?.meaning ?? 'a code that this release does not know';
  const most = rule === 'people' ? 'most often: ' : '';
  return `${failed} of the ${which} ${of} messages failed${when}, ${most}${cause} (${reason}). ${known?.advice ?? adviceByKind[kindOfReason(reason)]}`;
}

export const waitingReasonTable: TitledReasonTable<WaitingReason> = {
  TURN: {
    title: 'shares the channel with other campaigns',
    meaning: 'Other campaigns of the channel are sending.',
    advice: 'Wait: the campaigns of a channel share its rate.',
  },
  CHANNEL_TROUBLE: {
    title: 'the provider does not answer',
    meaning:
      'The provider fails, so the channel pauses between probes until `waiting_until`; or, without a time, it answers so slowly that the channel sends less than it may.',
    advice: 'Wait: sending speeds up again as soon as the provider answers.',
  },
  CHANNEL_THROTTLE: {
    title: 'the provider asked us to slow down',
    meaning: 'The provider asked the channel to send more slowly.',
    advice: 'Wait until `waiting_until`.',
  },
  MESSAGING_LIMIT: {
    title: 'the messaging limit is used up',
    meaning: 'The business account has sent to as many different people in 24 hours as it may.',
    advice: 'Wait until `waiting_until`, or ask the provider for a higher limit.',
  },
  SENDING_WINDOW: {
    title: 'it is outside its sending window',
    meaning: 'It is outside the hours in which the campaign may send.',
    advice: 'Wait until `waiting_until`, or change the sending window.',
  },
  PREPARATION: {
    title: 'its audience is being prepared',
    meaning: 'The recipients are being prepared.',
    advice: 'Wait: sending begins when they are ready.',
  },
  QUEUED: {
    title: 'the workers are busy',
    meaning: 'All workers are busy with other campaigns.',
    advice: 'Wait, or have the operator add workers.',
  },
  WORKFLOW_STUCK: {
    title: 'nothing moves, the workers do not answer',
    meaning: 'The workflow of the campaign cannot continue, or no worker takes its tasks.',
    advice: 'Have the operator look at the workers and the workflow.',
  },
  FIRST_STATUSES: {
    title: 'the first messages are on their way',
    meaning:
      'The first messages have left, and the rest follows when 80 % of their statuses are known, or after 60 s.',
    advice: 'Wait: it protects the list if the messages do not arrive.',
  },
};

export const preparationErrorTable: ReasonTable<PreparationErrorCode> = {
  AUDIENCE_EMPTY: {
    meaning: 'No recipient is left that can be sent to.',
    advice: 'Look at `skipped_reasons`, and create the campaign with another audience.',
  },
  CSV_UNREADABLE: {
    meaning: 'The CSV, or another audience, cannot be read.',
    advice: 'Correct what the message names, and upload the file again.',
  },
  CSV_COLUMN_OUT_OF_RANGE: {
    meaning: 'The mapping names a column that the CSV does not have.',
    advice: 'Correct the mapping; columns count from 0.',
  },
  TEMPLATE_NOT_FOUND: {
    meaning: 'The template no longer exists.',
    advice: 'Choose a template of GET /api/templates.',
  },
  FILE_NOT_FOUND: {
    meaning: 'The file of `csv_file_key` or `csv_file_url` does not exist.',
    advice: 'Upload the file again.',
  },
  FILE_TOO_LARGE: {
    meaning: 'The file is larger than the service reads.',
    advice: 'Split the file over several campaigns.',
  },
  FILE_FETCH_REFUSED: {
    meaning: 'The address of `csv_file_url` may not be fetched, or it redirects.',
    advice: 'Use a public address without a redirect, or upload the file.',
  },
  MEDIA_UNREACHABLE: {
    meaning: 'The file of a media link cannot be fetched; the message says why. Nobody was written to.',
    advice:
      'Use a public address that answers 200 without a redirect, or upload the file with POST /api/media.',
  },
  MEDIA_TYPE: {
    meaning: 'The file of a media link has a type that the header does not take.',
    advice: 'Link to a JPEG or PNG image, an MP4 or 3GPP video, or a document such as a PDF.',
  },
  MEDIA_TOO_LARGE: {
    meaning: 'The file of a media link is larger than the provider takes.',
    advice: 'Use an image of up to 5 MiB, a video of up to 16 MiB, or a document of up to 100 MiB.',
  },
};

/** Why a message failed, or why its outcome is unknown. `PROVIDER_<code>` covers every code of the provider. */
export const failureReasonTable = {
  'PROVIDER_<code>': {
    title: 'Refused by the provider',
    isHopeless: false,
    meaning: 'The provider refused the message, or failed to deliver it, with this code.',
    advice: 'Look up the code at the provider; `reason_detail` holds its words.',
  },
  PROVIDER_UNREACHABLE: {
    title: 'The provider could not be reached',
    isHopeless: false,
    meaning: 'The provider could not be reached; nothing was sent.',
    advice: 'Send to the recipient again, with `failed_contacts` or another request.',
  },
  OUTCOME_UNKNOWN: {
    title: 'No answer came, so it is unknown whether it was sent',
    isHopeless: false,
    meaning: 'The provider did not answer: the message may have been sent.',
    advice: 'Wait for a receipt. Send again only if a second message does no harm.',
  },
  RATE_LIMITED: {
    title: 'Too many single sends were waiting',
    isHopeless: false,
    meaning: 'Too many single sends waited for the channel.',
    advice: 'Send the request again later.',
  },
} as const satisfies Readonly<Record<string, RecipientReasonText>>;

const { 'PROVIDER_<code>': _ofProvider, ...ownFailures } = failureReasonTable;

/** Every reason for a recipient or a message except those of the provider. */
export const serviceReasons = [
  ...(Object.keys(ownFailures) as readonly (keyof typeof ownFailures)[]),
  ...skipReasons,
] as const;

/** Every reason; the provider's codes are an open set. */
export const recipientReasonPattern = `^(PROVIDER_[0-9]+|${serviceReasons.join('|')})$`;

export const skipReasonTable: Readonly<Record<SkipReason, RecipientReasonText>> = {
  NO_CONSENT: {
    title: 'No recorded consent',
    meaning: 'The person is no contact, and the workspace requires recorded consent for such a campaign.',
    advice: 'Import the people with their consent first: POST /api/contacts/imports.',
    isHopeless: true,
  },
  INVALID_PHONE: {
    title: 'Not a phone number',
    isHopeless: true,
    meaning:
      'The text holds no phone number that can be sent to; `reason_detail` says what is wrong with it.',
    advice:
      'Correct the number as `reason_detail` says, or write it in international form, such as +4915112345678. For numbers without a calling code give their country, or `default_country`.',
  },
  DUPLICATE: {
    title: 'Duplicate number',
    isHopeless: false,
    meaning: 'The audience contains the number more than once.',
    advice: 'None: the first entry is sent to.',
  },
  UNSUBSCRIBED: {
    title: 'The person has unsubscribed',
    isHopeless: true,
    meaning: 'The contact has opted out.',
    advice: 'Do not send to the contact until it opts in again.',
  },
  CONTACT_DELETED: {
    title: 'The contact was deleted',
    isHopeless: true,
    meaning: 'The contact was deleted or erased.',
    advice: 'Create the contact again to send to it.',
  },
  MISSING_VARIABLE: {
    title: 'A variable of the message has no value',
    isHopeless: false,
    meaning: 'A variable of the template has no value for the contact, or one that it cannot take.',
    advice: 'Fill or correct the field of `reason_detail`, or give a value in `default_values`.',
  },
  TEXT_TOO_LONG: {
    title: 'The text of the message is too long',
    isHopeless: false,
    meaning: 'The values of the recipient make a text of the message longer than the provider takes.',
    advice: 'Shorten the value; `reason_detail` names the text, its length and the limit.',
  },
  MALFORMED_ROW: {
    title: 'The row cannot be read',
    isHopeless: false,
    meaning: 'The row of the CSV cannot be read.',
    advice: 'Correct the row of `line_number`.',
  },
  BLOCKED_COUNTRY: {
    title: 'The channel does not send to this country',
    isHopeless: true,
    meaning: 'The channel does not send to the country of the number.',
    advice: 'Ask the operator to allow the country, or use another channel.',
  },
  MARKETING_NOT_DELIVERED_TO_COUNTRY: {
    title: 'The provider delivers no marketing to this country',
    isHopeless: true,
    meaning:
      'The provider delivers no MARKETING messages to the country of the number, and the operator has listed it.',
    advice: 'Use a UTILITY template, or another way to reach the person.',
  },
  RESTED_24H: {
    title: 'The provider held the last message back less than 24 hours ago',
    isHopeless: false,
    meaning:
      'The recipient failed with PROVIDER_131049 less than 24 hours ago. Another message so soon would fail again, and the provider limits accounts that retry too much.',
    advice: 'Send to the failed recipients again a day after they failed.',
  },
  NO_CHANCE: {
    title: 'Another message would fail again',
    isHopeless: true,
    meaning:
      'The recipient failed for a reason that another message would meet again, such as PROVIDER_131026; `reason_detail` names it.',
    advice: 'To send to these people anyway, name the reason in `failed_reasons`.',
  },
  FREQUENCY_CAP: {
    title: 'Already got enough messages lately',
    isHopeless: false,
    meaning:
      'The contact has got as many messages in the last days as the frequency cap of the workspace allows.',
    advice:
      'Send later. An operator can raise the cap (PUT /api/workspace/frequency-cap) or exempt a campaign (`ignore_frequency_cap`).',
  },
};

/** Why an import of contacts skipped a row. */
export const importReasonTable: TitledReasonTable<ImportReason> = {
  INVALID_PHONE: {
    title: 'No valid phone number',
    meaning: 'The row has no valid phone number; the detail says what is wrong.',
    advice: 'Correct the number, or name the country of the numbers.',
  },
  MALFORMED_ROW: {
    title: 'The row cannot be read',
    meaning: 'The row does not line up with the header.',
    advice: 'Look at its quotes and delimiters.',
  },
  DUPLICATE: {
    title: 'Duplicate number',
    meaning: 'The number stands in an earlier row; an opt-out of this row counts all the same.',
    advice: 'Remove one of the rows.',
  },
  EXISTS: {
    title: 'Already a contact',
    meaning: 'The person is a contact, and the import only creates contacts; an opt-out counts all the same.',
    advice: 'Import with the mode `update` or `both`.',
  },
  NOT_FOUND: {
    title: 'Not a contact yet',
    meaning:
      'The person is no contact, and the import only updates contacts; an opt-out is kept all the same.',
    advice: 'Import with the mode `create` or `both`.',
  },
  CONSENT_UNCLEAR: {
    title: 'Consent is unclear',
    meaning: 'The cell about consent is not understood, so nobody is subscribed because of it.',
    advice: 'Name the cell in `opted_out` or `opted_in` of the mapping.',
  },
  FIELDS_TOO_LARGE: {
    title: 'Too many custom fields',
    meaning: 'With the fields of the row, the contact would have more or larger custom fields than it may.',
    advice: 'Leave columns out of the mapping.',
  },
};
