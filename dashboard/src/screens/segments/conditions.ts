/** The conditions of a segment as a form has them: every value is text. */
import type { api } from '../../client.ts';

export interface Draft {
  readonly field: string;
  readonly operator: api.FilterOperator;
  /** The value as typed; several values of `in` are separated by commas. */
  readonly value: string;
}

export const fieldChoices = [
  { value: 'firstName', label: 'First name' },
  { value: 'lastName', label: 'Last name' },
  { value: 'chatName', label: 'Chat name' },
  { value: 'email', label: 'E-mail' },
  { value: 'phoneNumber', label: 'Phone number' },
  { value: 'countryCode', label: 'Country code' },
  { value: 'tag', label: 'Tag' },
  { value: 'subscribed', label: 'Subscribed' },
  { value: 'consent', label: 'Consent' },
  { value: 'source', label: 'Source' },
  { value: 'createdAt', label: 'Created' },
  { value: 'updatedAt', label: 'Changed' },
  { value: 'dob', label: 'Date of birth' },
  { value: 'custom.', label: 'Custom field' },
] as const;

const labels: Readonly<Record<api.FilterOperator, string>> = {
  eq: 'is',
  neq: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'starts with',
  in: 'is one of',
  not_in: 'is none of',
  gt: 'is after, or more than',
  gte: 'is from, or at least',
  lt: 'is before, or less than',
  lte: 'is until, or at most',
  before: 'is before',
  after: 'is after',
  within_days: 'is in the last … days',
  not_within_days: 'is not in the last … days',
  exists: 'is known',
  not_exists: 'is unknown',
};

const operators = Object.keys(labels) as api.FilterOperator[];
const ofTag: readonly api.FilterOperator[] = ['eq', 'neq', 'exists', 'not_exists'];
const ofTime: readonly api.FilterOperator[] = [
  'within_days',
  'not_within_days',
  'gte',
  'before',
  'after',
  'lte',
  'eq',
  'exists',
  'not_exists',
];

function allowed(field: string): readonly api.FilterOperator[] {
  if (field === 'tag') return ofTag;
  if (field === 'subscribed') return ['eq', 'neq'];
  if (field === 'consent') return ['eq', 'neq', 'in', 'not_in'];
  if (['createdAt', 'updatedAt', 'dob'].includes(field)) return ofTime;
  return operators;
}

export const operatorsOf = (field: string) =>
  allowed(field).map((value) => ({ value, label: labels[value] }));
export const firstOperator = (field: string): api.FilterOperator => allowed(field)[0] ?? 'eq';

export const takesValue = (operator: api.FilterOperator): boolean => !operator.endsWith('exists');

/** True where the condition says everything that it needs: a value, and the name of a custom field. */
export const isFilledIn = ({ field, operator, value }: Draft): boolean =>
  field !== 'custom.' && (!takesValue(operator) || value.trim() !== '');

/** Converts the text of the form to the value that the API expects. */
export function readValue(field: string, operator: api.FilterOperator, text: string): unknown {
  if (operator === 'in' || operator === 'not_in') return text.split(',').map((one) => one.trim());
  if (field === 'subscribed' && /^(true|false)$/i.test(text.trim())) return /true/i.test(text);
  return text.trim();
}

/** Converts a stored value to the text of the form. */
export function writeValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
}
