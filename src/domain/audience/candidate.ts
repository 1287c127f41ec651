/** Decides who of an audience becomes a recipient, and why the others are skipped. */
import type { SkipReason } from '../campaigns/recipient.ts';
import { type Consent, mayReceive } from '../contacts/consent.ts';
import { identityOf } from '../number-rules.ts';
import type { PhoneNumber } from '../phone-number.ts';
import type { RowConsent } from './consent-column.ts';
import type { PhoneSet } from './phone-set.ts';
import {
  resolveVariables,
  type CustomFields,
  type RecipientSource,
  type VariableResolver,
} from '../templates/recipient-variables.ts';
import type { TextLimit } from '../templates/text-limits.ts';

/** Fields that a campaign's input gives for a recipient; '' if it does not give a field. */
export interface Person {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly customFields: Readonly<Record<string, string>> | undefined;
}

/** The columns of a workspace's contact that the preparation needs. */
export interface AudienceContact {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly consent: Consent;
  /** The custom fields that the messages use, possibly more; null if none were read. */
  readonly customFields?: CustomFields | null;
}

/** One entry of the audience as it was given: a CSV row, a quick contact, a contact or a failed recipient. */
export interface Candidate {
  readonly line: number | null;
  /** Text of a cell without a valid phone number. */
  readonly given: string;
  /** Without digits if the contact is known only by the provider's user id. */
  readonly phone: PhoneNumber | undefined;
  /** What is wrong with `given`, as a sentence. */
  readonly problem?: string;
  /** Why the row cannot be read. */
  readonly malformed?: string;
  readonly person?: Person | undefined;
  readonly row?: readonly string[];
  readonly inline?: readonly string[];
  /** What the row says about consent. */
  readonly consent?: RowConsent;
  /** Set when the audience consists of contacts or failed recipients; null for a recipient without a contact. */
  readonly contact?: AudienceContact | null;
  /** The contact was deleted after it had been added to the audience. */
  readonly deleted?: boolean;
  /** The provider held a message to the person back a short while ago. */
  readonly rests?: boolean;
  /** The reason of an earlier failure that another message would meet again; null otherwise. */
  readonly hopeless?: string | null;
  /** Variables frozen by an earlier campaign, which are reused. */
  readonly frozen?: readonly string[];
}

export interface NewRecipient {
  readonly contactId: string | null;
  readonly phone: PhoneNumber | undefined;
  readonly line: number | null;
  readonly skip: { readonly reason: SkipReason; readonly detail: string | null } | undefined;
  readonly variables: readonly string[];
}

export interface AudienceRules {
  /** People who are no contacts are skipped; default false. */
  readonly requiresContact?: boolean;
  /** The template's category is MARKETING; default true. */
  readonly isMarketing?: boolean;
  /** Identities of people of whom some row, perhaps a later one, stops such messages. */
  readonly stopped?: Pick<PhoneSet, 'has'> | undefined;
  /** ISO 3166 alpha-2 codes to which the channel never sends. */
  readonly blockedCountries: ReadonlySet<string>;
  /** ISO 3166 alpha-2 codes to which no MARKETING template is sent. */
  readonly countriesWithoutMarketing?: ReadonlySet<string>;
  readonly resolvers: readonly VariableResolver[];
  /** The texts that the values may make too long. */
  readonly limits?: readonly TextLimit[];
  /** The contacts' custom fields that the resolvers read. */
  readonly customFields?: readonly string[];
}

/** True for a row that stops messages like these; one that nobody can read might. */
export const stopsByConsent = (
  { consent }: Pick<Candidate, 'consent'>,
  { isMarketing }: Pick<AudienceRules, 'isMarketing'>,
): boolean =>
  consent !== undefined &&
  (consent.kind === 'unclear' || (!consent.allows && (isMarketing !== false || consent.category === 'ALL')));

/** Skips people whom a row of the file stops. They do not become contacts. */
export function skipByConsent(
  candidate: Candidate,
  rules: Pick<AudienceRules, 'isMarketing' | 'stopped'>,
): NewRecipient['skip'] {
  const { stopped } = rules;
  const digits = candidate.phone?.digits ?? '';
  const isStopped =
    stopsByConsent(candidate, rules) ||
    (stopped !== undefined && digits !== '' && stopped.has(identityOf(digits)));
  return isStopped ? { reason: 'UNSUBSCRIBED', detail: 'The file says so' } : undefined;
}

const longestDetail = 100;

/**
 * Returns a reason to skip a candidate that does not depend on its contact. `isNew` is true if the number occurs for the
 * first time.
 */
export function skipBeforeContact(
  candidate: Candidate,
  isNew: (phone: PhoneNumber) => boolean,
): NewRecipient['skip'] {
  if (candidate.malformed !== undefined) return { reason: 'MALFORMED_ROW', detail: candidate.malformed };
  if (candidate.phone === undefined) {
    return { reason: 'INVALID_PHONE', detail: refusedCell(candidate) };
  }
  return isNew(candidate.phone) ? undefined : { reason: 'DUPLICATE', detail: null };
}

/** The cell and what is wrong with it; null for an empty one. */
function refusedCell({ given, problem }: Candidate): string | null {
  if (given.trim() === '') return null;
  const cell = maskedCell(given.slice(0, longestDetail).toWellFormed());
  return problem === undefined ? cell : `${cell}: ${problem}`;
}

/** A cell with fewer digits contains no phone number. */
const leastDigits = 5;
const shownDigits = 3;

/**
 * Masks a cell before it is stored. A row without a readable number belongs to no contact, so an erasure cannot find it. The
 * mask keeps only the last three digits of what may be a number, and hides which letters the cell has.
 */
export function maskedCell(cell: string): string {
  let digits = cell.match(/\p{Nd}/gu)?.length ?? 0;
  if (digits < leastDigits && !cell.includes('@')) return cell;
  return cell.replaceAll(/\p{L}|\p{Nd}/gu, (character) => {
    if (!/\p{Nd}/u.test(character)) return 'a';
    digits -= 1;
    return digits < shownDigits ? character : '*';
  });
}

/** Builds the recipient of a candidate with a unique number. `contact` already includes the fields of the input. */
export function recipientOf(
  candidate: Candidate & { readonly phone: PhoneNumber },
  contact: AudienceContact | null,
  rules: AudienceRules,
): NewRecipient {
  const { phone, line } = candidate;
  const contactId = contact === null ? null : contact.id;
  const skipped = (reason: SkipReason, detail: string | null = null): NewRecipient => ({
    contactId,
    phone,
    line,
    skip: { reason, detail },
    variables: none,
  });
  if (rules.blockedCountries.has(phone.country)) return skipped('BLOCKED_COUNTRY', phone.country);
  if (rules.isMarketing !== false && rules.countriesWithoutMarketing?.has(phone.country) === true)
    return skipped('MARKETING_NOT_DELIVERED_TO_COUNTRY', phone.country);
  if (contact !== null && !mayReceive(contact.consent, rules.isMarketing !== false))
    return skipped('UNSUBSCRIBED');
  if (candidate.deleted === true) return skipped('CONTACT_DELETED');
  if (candidate.rests === true) return skipped('RESTED_24H');
  if (candidate.hopeless != null) return skipped('NO_CHANCE', candidate.hopeless);
  if (candidate.frozen !== undefined) {
    return { contactId, phone, line, skip: undefined, variables: candidate.frozen };
  }
  if (rules.resolvers.length === 0) return { contactId, phone, line, skip: undefined, variables: none };
  const resolved = resolveVariables(rules.resolvers, sourceOf(candidate, contact), rules.limits);
  if (!resolved.ok) return skipped(resolved.skip.reason, resolved.skip.detail);
  return { contactId, phone, line, skip: undefined, variables: resolved.values };
}

const none: readonly string[] = [];

// Runs for every recipient. The fields are written out, because spreading objects would cost more than everything else here.
function sourceOf(
  { phone, row = none, inline = none }: Candidate & { readonly phone: PhoneNumber },
  contact: AudienceContact | null,
): RecipientSource {
  return {
    contact: {
      firstName: contact === null ? '' : contact.firstName,
      lastName: contact === null ? '' : contact.lastName,
      email: contact === null ? '' : contact.email,
      phoneNumber: phone.nationalNumber,
      countryCode: phone.countryCode,
      customFields: contact === null ? null : contact.customFields,
    },
    row,
    inline,
  };
}
