/** Changes that an audience's input makes to contacts: new contacts, and values for empty fields. */
import type { AudienceContact, Candidate } from './candidate.ts';
import { maxCustomFieldBytes, maxCustomFields } from '../contacts/contact.ts';
import { type Consent, strictest } from '../contacts/consent.ts';
import { formsOf } from '../number-rules.ts';
import type { PhoneNumber } from '../phone-number.ts';

/** A candidate whose phone number could be read. */
export type Reachable = Candidate & { readonly phone: PhoneNumber };

/** Size of a contact's custom fields. The fields themselves may be large, and most are not needed. */
export interface FieldExtent {
  readonly count: number;
  /** As `customFieldBytes` counts them. */
  readonly bytes: number;
  /** Which of the input's fields the contact has. */
  readonly present: ReadonlySet<string>;
}

export interface KnownContact extends AudienceContact {
  readonly deleted: boolean;
  /** The custom fields that the messages name. */
  readonly customFields: Readonly<Record<string, unknown>>;
  /** Undefined if it does not matter, because the input has no custom fields or nothing is written. */
  readonly extent?: FieldExtent;
}

/**
 * The contact of each number, of those found by any form of the numbers. If a person has two contacts, the one that is not deleted
 * counts, then the one with the number as it is given, and the stricter consent of both.
 */
export function contactsOfNumbers<C extends { readonly consent: Consent; readonly deleted: boolean }>(
  numbers: readonly string[],
  found: ReadonlyMap<string, C>,
): ReadonlyMap<string, C> {
  const contacts = new Map<string, C>();
  for (const digits of numbers) {
    const forms = formsOf(digits);
    const exact = found.get(digits);
    if (forms.length === 1) {
      if (exact !== undefined) contacts.set(digits, exact);
      continue;
    }
    const all = [digits, ...forms.filter((form) => form !== digits)].flatMap((form) => found.get(form) ?? []);
    const contact = all.find(({ deleted }) => !deleted) ?? all[0];
    if (contact === undefined) continue;
    const consent = strictest(all.map((one) => one.consent));
    contacts.set(digits, consent === contact.consent ? contact : { ...contact, consent });
  }
  return contacts;
}

export interface NewAudienceContact extends AudienceContact {
  readonly phone: PhoneNumber;
  readonly customFields: Readonly<Record<string, string>>;
}

export interface ChangedContact extends AudienceContact {
  /** Custom fields that the contact does not have yet. */
  readonly newFields: Readonly<Record<string, string>>;
}

export function newContact(
  { phone, person }: Reachable,
  { id, consent }: { readonly id: string; readonly consent: Consent },
): NewAudienceContact {
  return {
    id,
    phone,
    firstName: person?.firstName ?? '',
    lastName: person?.lastName ?? '',
    email: person?.email ?? '',
    consent,
    customFields: fieldsThatFit(person?.customFields ?? {}, noFields),
  };
}

/** `{}` */
const noFields: FieldExtent = { count: 0, bytes: 2, present: new Set() };

/** Maximum bytes of a character in JSON: `\\u0000`. */
const maxBytesOfCharacter = 6;
/** Quotes, colon and comma. */
const bytesAround = 6;

/** Returns the given fields that the contact lacks, as many as fit within its limits. */
function fieldsThatFit(
  given: Readonly<Record<string, string>>,
  { count, bytes, present }: FieldExtent,
): Readonly<Record<string, string>> {
  let most = bytes;
  let number = count;
  for (const name in given) {
    most += bytesAround + maxBytesOfCharacter * (name.length + (given[name]?.length ?? 0));
    number += 1;
  }
  // True for nearly all contacts; the exact count would cost as much as the rest of a row.
  if (present.size === 0 && most <= maxCustomFieldBytes && number <= maxCustomFields) return given;
  const fitting: [string, string][] = [];
  let total = bytes;
  for (const [name, value] of Object.entries(given)) {
    if (present.has(name)) continue;
    const added = Buffer.byteLength(JSON.stringify(name) + JSON.stringify(value)) + 2;
    if (count + fitting.length === maxCustomFields || total + added > maxCustomFieldBytes) continue;
    fitting.push([name, value]);
    total += added;
  }
  return Object.fromEntries(fitting);
}

/**
 * Restores the contact and fills its empty fields; undefined if there is nothing to change. Fills first and last name
 * together, so that the names of two people are not mixed.
 */
export function changedContact({ person }: Reachable, present: KnownContact): ChangedContact | undefined {
  if (!present.deleted && person === undefined) return undefined;
  const isNameless = present.firstName === '' && present.lastName === '';
  const firstName = isNameless ? (person?.firstName ?? '') : present.firstName;
  const lastName = isNameless ? (person?.lastName ?? '') : present.lastName;
  const email = present.email === '' ? (person?.email ?? '') : present.email;
  const newFields = fieldsThatFit(person?.customFields ?? {}, present.extent ?? noFields);
  const isSame =
    !present.deleted &&
    firstName === present.firstName &&
    lastName === present.lastName &&
    email === present.email &&
    Object.keys(newFields).length === 0;
  if (isSame) return undefined;
  const customFields = { ...newFields, ...present.customFields };
  return {
    id: present.id,
    consent: present.consent,
    firstName,
    lastName,
    email,
    newFields,
    customFields,
  };
}
