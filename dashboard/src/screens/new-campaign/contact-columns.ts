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

/** The fields that every contact has, and the custom fields of the workspace. */
export function columnsOf(fields: readonly Pick<api.ContactField, 'id' | 'examples'>[]): Columns {
  const labels: Record<string, string> = { ...own };
  const examples: Record<string, string> = {};
  const taken = new Set<string>(Object.values(own));
  for (const { id, examples: values } of fields.filter((field) => isName(field.id))) {
    const label = taken.has(id) ? `${id} (custom field)` : id;
    labels[customKey(id)] = label;
    examples[label] = values[0] ?? '';
  }
  return { labels, examples };
}

/** The columns of a CSV, without examples: its first rows stand below them. */
export const columnsOfCsv = (labels: Readonly<Record<string, string>>): Columns => ({ labels, examples: {} });
