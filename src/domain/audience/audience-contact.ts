/** Changes that an audience's input makes to contacts: new ones, and fields that were empty. */
import type { AudienceContact, Candidate } from './candidate.ts';
import type { PhoneNumber } from '../phone-number.ts';

/** A candidate whose phone number could be read. */
export type Reachable = Candidate & { readonly phone: PhoneNumber };

export interface KnownContact extends AudienceContact {
  readonly deleted: boolean;
  readonly customFields: Readonly<Record<string, unknown>>;
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
  { id, subscribed }: { readonly id: string; readonly subscribed: boolean },
): NewAudienceContact {
  return {
    id,
    phone,
    firstName: person?.firstName ?? '',
    lastName: person?.lastName ?? '',
    email: person?.email ?? '',
    subscribed,
    customFields: person?.customFields ?? {},
  };
}

/**
 * Restores the contact and fills its empty fields; undefined when there is nothing to change. First and last name are filled
 * together, so that names of two people are not mixed.
 */
export function changedContact({ person }: Reachable, present: KnownContact): ChangedContact | undefined {
  if (!present.deleted && person === undefined) return undefined;
  const isNameless = present.firstName === '' && present.lastName === '';
  const firstName = isNameless ? (person?.firstName ?? '') : present.firstName;
  const lastName = isNameless ? (person?.lastName ?? '') : present.lastName;
  const email = present.email === '' ? (person?.email ?? '') : present.email;
  const newFields = Object.fromEntries(
    Object.entries(person?.customFields ?? {}).filter(([name]) => !Object.hasOwn(present.customFields, name)),
  );
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
    subscribed: present.subscribed,
    firstName,
    lastName,
    email,
    newFields,
    customFields,
  };
}
