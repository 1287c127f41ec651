import type { api } from '../../client.ts';
import { phone } from '../../format.ts';

type Named = Pick<
  api.Contact,
  'firstName' | 'lastName' | 'chatName' | 'username' | 'phoneNumber' | 'countryCode'
>;

/** Returns the international number, or a dash for a contact known only by a user id. */
export const numberOf = ({ countryCode, phoneNumber }: Named): string =>
  phone(phoneNumber ? `${countryCode ?? ''}${phoneNumber}` : null);

/** Returns the display name of a contact: the name, else the chat name, else the number. */
export const nameOf = (contact: Named): string =>
  [contact.firstName, contact.lastName].filter(Boolean).join(' ').trim() ||
  contact.chatName ||
  contact.username ||
  numberOf(contact);
