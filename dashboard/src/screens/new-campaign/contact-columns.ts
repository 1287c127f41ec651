/** The fields of contacts that a variable may take its value from, those of the workspace too, each with an example. */
import type { api } from '../../client.ts';

export interface Columns {
  /** The name in a mapping → what people call it. */
  readonly labels: Readonly<Record<string, string>>;
  /** A value by label. */
  readonly examples: Readonly<Record<string, string>>;
}

const own = {
  firstName: 'First name',
  lastName: 'Last name',
  email: 'Email',
  phoneNumber: 'Phone number',
  countryCode: 'Country code',
} as const;
type OwnField = keyof typeof own;

/** A name with a space in it stands in braces in a mapping; without them it would be a text. */
export const customKey = (name: string): string =>
  /\s/.test(name) ? `{{custom.${name}}}` : `custom.${name}`;

/** The value of a contact for a name in a mapping; undefined for a text. */
export function contactValue(contact: api.Contact | undefined, name: string): string | undefined {
  if (Object.hasOwn(own, name)) return String(contact?.[name as OwnField] ?? '');
  const custom = contact?.customFields.find(({ fieldId }) => customKey(fieldId) === name);
  return custom?.value ?? (/^(?:\{\{)?custom\./.test(name) ? '' : undefined);
}

const isName = (name: string): boolean => name.trim() !== '' && !/[{}]/.test(name);

/** The columns of contacts like these. */
export function columnsOf(contacts: readonly Pick<api.Contact, 'customFields' | OwnField>[]): Columns {
  const labels: Record<string, string> = { ...own };
  const examples: Record<string, string> = {};
  const taken = new Set<string>(Object.values(own));
  for (const contact of contacts) {
    for (const [name, label] of Object.entries(own))
      examples[label] ||= String(contact[name as OwnField] ?? '');
    for (const { fieldId, value } of contact.customFields.filter((field) => isName(field.fieldId))) {
      const label = taken.has(fieldId) ? `${fieldId} (custom field)` : fieldId;
      labels[customKey(fieldId)] = label;
      examples[label] ||= value;
    }
  }
  return { labels, examples };
}

/** The columns of a CSV, without examples: its first rows stand below them. */
export const columnsOfCsv = (labels: Readonly<Record<string, string>>): Columns => ({ labels, examples: {} });
