/** Contacts: the record, how it is shown (Spec 2.5), and what an edit changes. */
import type { Consent } from './consent.ts';
import type { FieldProblem } from '../error.ts';
import { formsOf } from '../number-rules.ts';
import { callingCodeFor, normalisePhoneNumber, type PhoneNumber } from '../phone-number.ts';

export interface Contact {
  readonly id: string;
  /** E.164 digits; null for a person known only by the provider's user id. */
  readonly phoneNumber: string | null;
  /** The calling code with which `phoneNumber` begins; '' without a number. */
  readonly countryCode: string;
  /** ISO 3166 alpha-2, or ''. */
  readonly country: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly chatName: string;
  /** The name at the provider of a person who may hide the number; ''. */
  readonly username: string;
  readonly email: string;
  readonly source: string;
  /** May receive MARKETING: `consent` is `all`. */
  readonly subscribed: boolean;
  readonly consent: Consent;
  readonly customFields: Readonly<Record<string, string>>;
  readonly tagsId: readonly string[];
  readonly dob: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Maximum number of custom fields per contact. */
export const maxCustomFields = 200;
/** Maximum size of a contact's custom fields in bytes, counted by `customFieldBytes`. */
export const maxCustomFieldBytes = 65_536;

/** UTF-8 bytes of `{"<fieldId>": "<value>", …}` as JSON without spaces. */
export const customFieldBytes = (fields: Contact['customFields']): number =>
  Buffer.byteLength(JSON.stringify(fields));

/** '' without a number. */
export const nationalNumber = ({
  phoneNumber,
  countryCode,
}: Pick<Contact, 'phoneNumber' | 'countryCode'>): string => phoneNumber?.slice(countryCode.length) ?? '';

/** Returns a contact in the form of the API and events, with national digits and the calling code without a plus sign. */
export function presentContact(contact: Contact) {
  const { country: _, customFields, tagsId, dob, createdAt, updatedAt, ...rest } = contact;
  return {
    ...rest,
    phoneNumber: nationalNumber(contact),
    customFields: Object.entries(customFields).map(([fieldId, value]) => ({ fieldId, value })),
    tagsId: [...tagsId],
    dob: dob?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Fields of a contact in a request; absent fields stay as they are. */
export interface ContactInput {
  /** National digits, or international ones with a plus sign. */
  readonly phoneNumber?: string;
  /** `91` or `+91` */
  readonly countryCode?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly chatName?: string;
  readonly email?: string;
  /** False stops everything, true allows everything; what the contact has already stays as it is. */
  readonly subscribed?: boolean;
  readonly consent?: Consent;
  /** Replaces all of them. */
  readonly customFields?: readonly { readonly fieldId: string; readonly value: string }[];
  /** Replaces all of them. */
  readonly tagsId?: readonly string[];
  readonly dob?: Date | null;
}

/**
 * Reads the number that `phoneNumber` and `countryCode` form together. Without a code, reads the digits as a national number
 * of `fallbackCode`, or else with the workspace's default country. Code and number must agree; the code may be that of a former
 * number.
 */
export function readContactNumber(
  { phoneNumber, countryCode }: Pick<ContactInput, 'phoneNumber' | 'countryCode'>,
  { fallbackCode = '', defaultCountry = '' } = {},
): PhoneNumber | FieldProblem {
  const code = countryCode === undefined ? undefined : callingCodeFor(countryCode);
  if (countryCode !== undefined && code === undefined) {
    return { field: 'countryCode', message: 'countryCode must be a calling code, such as 49' };
  }
  const number =
    normalisePhoneNumber(phoneNumber ?? '', code ?? fallbackCode, defaultCountry) ??
    // These may be digits of another country, written without a plus sign.
    (code === undefined ? normalisePhoneNumber(phoneNumber ?? '', '', defaultCountry) : undefined);
  if (number === undefined) {
    return {
      field: 'phoneNumber',
      message: 'phoneNumber must be in international form, such as +4915112345678',
    };
  }
  if (code !== undefined && !formsOf(number.digits).some((form) => form.startsWith(code))) {
    return { field: 'phoneNumber', message: 'phoneNumber begins with another code than countryCode' };
  }
  return number;
}

/** Creates a contact with a number and no other data. */
export function newContact(
  number: PhoneNumber,
  { id, source, createdAt }: Pick<Contact, 'id' | 'source' | 'createdAt'>,
): Contact {
  return {
    id,
    phoneNumber: number.digits,
    countryCode: number.countryCode,
    country: number.country,
    firstName: '',
    lastName: '',
    chatName: '',
    username: '',
    email: '',
    source,
    subscribed: true,
    consent: 'all',
    customFields: {},
    tagsId: [],
    dob: null,
    createdAt,
    updatedAt: createdAt,
  };
}

/** Clients that know `subscribed` alone send back what they read: `false` leaves a contact that stopped MARKETING as it is. */
function consentAfter(contact: Contact, { subscribed, consent }: ContactInput): Consent {
  if (consent !== undefined) return consent;
  if (subscribed === undefined || subscribed === contact.subscribed) return contact.consent;
  return subscribed ? 'all' : 'none';
}

/** Returns the contact after the edit. `number` is given if the edit names one. */
export function editContact(contact: Contact, input: ContactInput, number?: PhoneNumber): Contact {
  const consent = consentAfter(contact, input);
  return {
    ...contact,
    ...(number !== undefined && {
      phoneNumber: number.digits,
      countryCode: number.countryCode,
      country: number.country,
    }),
    firstName: input.firstName ?? contact.firstName,
    lastName: input.lastName ?? contact.lastName,
    chatName: input.chatName ?? contact.chatName,
    email: input.email ?? contact.email,
    subscribed: consent === 'all',
    consent,
    customFields:
      input.customFields === undefined
        ? contact.customFields
        : Object.fromEntries(input.customFields.map(({ fieldId, value }) => [fieldId, value])),
    tagsId: input.tagsId === undefined ? contact.tagsId : [...new Set(input.tagsId)].toSorted(),
    dob: input.dob === undefined ? contact.dob : input.dob,
  };
}

/**
 * Describes the problem with a changed contact's custom fields. Fields stored by 1.0.0 may exceed the limit; they may stay or
 * become smaller.
 */
export function customFieldsProblem(
  after: Contact,
  before?: Pick<Contact, 'customFields'>,
): FieldProblem | undefined {
  if (after.customFields === before?.customFields) return undefined;
  const bytes = customFieldBytes(after.customFields);
  if (bytes <= maxCustomFieldBytes) return undefined;
  if (before !== undefined && bytes < customFieldBytes(before.customFields)) return undefined;
  const message = `customFields must not take more than ${maxCustomFieldBytes} bytes as JSON, but take ${bytes}: shorten or leave out some`;
  return { field: 'customFields', message };
}

/** Returns whether the two contacts look the same to a caller. */
export function isSameContact(one: Contact, other: Contact): boolean {
  return comparable(one) === comparable(other);
}

function comparable({ customFields, tagsId, dob, createdAt: _, updatedAt: __, ...rest }: Contact): string {
  const fields = Object.entries(customFields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([rest, fields, [...tagsId].toSorted(), dob?.getTime() ?? null]);
}
