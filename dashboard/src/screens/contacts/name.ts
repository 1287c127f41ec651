import type { api } from '../../client.ts';
import { phone } from '../../format.ts';

type Named = Pick<api.Contact, 'firstName' | 'lastName' | 'chatName' | 'phoneNumber' | 'countryCode'>;

/** The international number, or a dash for a person who is known by a user id alone. */
export const numberOf = ({ countryCode, phoneNumber }: Named): string =>
  phone(phoneNumber ? `${countryCode ?? ''}${phoneNumber}` : null);

/** What to call a contact: the name, else the chat name, else the number. */
export const nameOf = (contact: Named): string =>
  [contact.firstName, contact.lastName].filter(Boolean).join(' ').trim() ||
  contact.chatName ||
  numberOf(contact);
