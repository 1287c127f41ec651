import type { api } from '../../client.ts';
import { phone } from '../../format.ts';

/** The name of a conversation's contact, and its number where the name does not say it. */
export function personOf({
  contactName: name,
  contactPhoneNumber: digits,
}: Pick<api.Conversation, 'contactName' | 'contactPhoneNumber'>): {
  readonly name: string;
  readonly number: string;
} {
  if (name !== '') return { name, number: digits === null ? '' : phone(digits) };
  return { name: digits === null ? 'Erased contact' : phone(digits), number: '' };
}
