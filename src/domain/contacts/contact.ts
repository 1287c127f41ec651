/** Contacts: the record, how it is shown (Spec 2.5), and what an edit changes. */
import type { FieldProblem } from '../error.ts';
import { callingCodeFor, normalisePhoneNumber, type PhoneNumber } from '../phone-number.ts';

export interface Contact {
  readonly id: string;
  /** E.164 digits; null for a person known by the provider's user id alone. */
  readonly phoneNumber: string | null;
  /** The calling code: the front of `phoneNumber`; '' without a number. */
  readonly countryCode: string;
  /** ISO 3166 alpha-2, or ''. */
  readonly country: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly chatName: string;
  readonly email: string;
  readonly source: string;
  readonly subscribed: boolean;
  readonly customFields: Readonly<Record<string, string>>;
  readonly tagsId: readonly string[];
  readonly dob: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Most custom fields of a contact. */
export const maxCustomFields = 200;
/** Most bytes of a contact's custom fields, counted by `customFieldBytes`. */
export const maxCustomFieldBytes = 65_536;

/** UTF-8 bytes of `{"<fieldId>": "<value>", …}` as JSON without spaces. */
export const customFieldBytes = (fields: Contact['customFields']): number =>
  Buffer.byteLength(JSON.stringify(fields));

/** '' without a number. */
export const nationalNumber = ({
  phoneNumber,
  countryCode,
}: Pick<Contact, 'phoneNumber' | 'countryCode'>): string => phoneNumber?.slice(countryCode.length) ?? '';

/** A contact as the API and the events show it: the number in its national digits, the code without a plus sign. */
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
  readonly subscribed?: boolean;
  /** Replaces all of them. */
  readonly customFields?: readonly { readonly fieldId: string; readonly value: string }[];
  /** Replaces all of them. */
  readonly tagsId?: readonly string[];
  readonly dob?: Date | null;
}

/**
 * The number that `phoneNumber` and `countryCode` name together. Without a code the digits are read as a national number of
 * `fallbackCode`, else as an international number. Code and number must agree.
 */
export function readContactNumber(
  { phoneNumber, countryCode }: Pick<ContactInput, 'phoneNumber' | 'countryCode'>,
  fallbackCode = '',
): PhoneNumber | FieldProblem {
  const code = countryCode === undefined ? undefined : callingCodeFor(countryCode);
  if (countryCode !== undefined && code === undefined) {
    return { field: 'countryCode', message: 'countryCode must be a calling code, such as 49' };
  }
  const number =
    normalisePhoneNumber(phoneNumber ?? '', code ?? fallbackCode) ??
    // Digits of another country that were written without their plus sign.
    (code === undefined ? normalisePhoneNumber(phoneNumber ?? '') : undefined);
  if (number === undefined) {
    return {
      field: 'phoneNumber',
      message: 'phoneNumber must be in international form, such as +4915112345678',
    };
  }
  if (code !== undefined && number.countryCode !== code) {
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
    email: '',
    source,
    subscribed: true,
    customFields: {},
    tagsId: [],
    dob: null,
    createdAt,
    updatedAt: createdAt,
  };
}

/** The contact after the edit. `number` is given when the edit names one. */
export function editContact(contact: Contact, input: ContactInput, number?: PhoneNumber): Contact {
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
    subscribed: input.subscribed ?? contact.subscribed,
    customFields:
      input.customFields === undefined
        ? contact.customFields
        : Object.fromEntries(input.customFields.map(({ fieldId, value }) => [fieldId, value])),
    tagsId: input.tagsId === undefined ? contact.tagsId : [...new Set(input.tagsId)].toSorted(),
    dob: input.dob === undefined ? contact.dob : input.dob,
  };
}

/**
 * Says what is wrong with the custom fields of a changed contact. Fields of 1.0.0 may exceed the bound: they stay, or become
 * smaller.
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

/** True when a caller can see no difference. */
export function isSameContact(one: Contact, other: Contact): boolean {
  return comparable(one) === comparable(other);
}

function comparable({ customFields, tagsId, dob, createdAt: _, updatedAt: __, ...rest }: Contact): string {
  const fields = Object.entries(customFields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([rest, fields, [...tagsId].toSorted(), dob?.getTime() ?? null]);
}
