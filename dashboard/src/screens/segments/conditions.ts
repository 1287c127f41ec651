/** The conditions of a segment as a form has them: every value is text. */
import { campaignStates } from '../../../../src/domain/contacts/predicate.ts';
import type { api } from '../../client.ts';

export { campaignStates };

export interface Draft {
  readonly field: string;
  readonly operator: api.FilterOperator;
  /** The value as typed; several values of `in` are separated by commas. */
  readonly value: string;
}

export const customPrefix = 'custom.';
export const campaignPrefix = 'campaign.';

export const fieldChoices = [
  { value: 'firstName', label: 'First name' },
  { value: 'lastName', label: 'Last name' },
  { value: 'chatName', label: 'Chat name' },
  { value: 'email', label: 'E-mail' },
  { value: 'phoneNumber', label: 'Phone number' },
  { value: 'countryCode', label: 'Country code' },
  { value: 'country', label: 'Country' },
  { value: 'tag', label: 'Tag' },
  { value: 'segment', label: 'Other segment' },
  { value: 'subscribed', label: 'Subscribed' },
  { value: 'consent', label: 'Consent' },
  { value: 'source', label: 'Source' },
  { value: 'createdAt', label: 'Created' },
  { value: 'updatedAt', label: 'Changed' },
  { value: 'dob', label: 'Date of birth' },
  { value: 'last_messaged_at', label: 'Last message sent' },
  { value: 'last_delivered_at', label: 'Last message delivered' },
  { value: 'last_read_at', label: 'Last message read' },
  { value: 'last_replied_at', label: 'Last reply' },
  { value: campaignPrefix, label: 'Campaign' },
  { value: customPrefix, label: 'Custom field' },
] as const;

/** The choice of the form for a field of a condition. */
export const choiceOf = (field: string): string =>
  [customPrefix, campaignPrefix].find((prefix) => field.startsWith(prefix)) ?? field;

const labels: Readonly<Record<api.FilterOperator, string>> = {
  eq: 'is',
  neq: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'starts with',
  in: 'is one of',
  not_in: 'is none of',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  before: 'is before',
  after: 'is after',
  within_days: 'in the last days',
  not_within_days: 'not in the last days',
  exists: 'is known',
  not_exists: 'is unknown',
};
const ofDates: Partial<typeof labels> = { gte: 'is on or after', lte: 'is on or before' };
const ofEvents: Partial<typeof labels> = { exists: 'ever', not_exists: 'never' };

const days = ['within_days', 'not_within_days', 'before', 'after'] as const;
const dates = [...days, 'gte', 'lte', 'eq', 'exists', 'not_exists'] as const;
const texts = (Object.keys(labels) as api.FilterOperator[]).filter(
  (operator) => !days.some((one) => one === operator),
);
const events = [...days, 'exists', 'not_exists'] as const;
const contactDates = ['createdAt', 'updatedAt', 'dob'];

const isEvent = (field: string): boolean => field.startsWith('last_');

/** `type`: that of a custom field, if it is known. */
export const isDate = (field: string, type?: api.ContactFieldType): boolean =>
  type === 'date' || contactDates.includes(field) || isEvent(field);

function allowed(field: string, type?: api.ContactFieldType): readonly api.FilterOperator[] {
  if (field === 'tag') return ['eq', 'neq', 'exists', 'not_exists'];
  if (field === 'segment' || choiceOf(field) === campaignPrefix) return ['in', 'not_in'];
  if (field === 'subscribed') return ['eq', 'neq'];
  if (field === 'consent') return ['eq', 'neq', 'in', 'not_in'];
  if (field === 'country') return ['in', 'not_in', 'exists', 'not_exists'];
  if (isEvent(field)) return events;
  if (isDate(field, type)) return dates;
  return type === 'boolean' ? ['eq', 'neq', 'exists', 'not_exists'] : texts;
}

export function operatorsOf(field: string, type?: api.ContactFieldType) {
  const own = { ...(isDate(field, type) && ofDates), ...(isEvent(field) && ofEvents) };
  return allowed(field, type).map((value) => ({ value, label: own[value] ?? labels[value] }));
}
export const firstOperator = (field: string, type?: api.ContactFieldType): api.FilterOperator =>
  allowed(field, type)[0] ?? 'eq';

export const takesValue = (operator: api.FilterOperator): boolean => !operator.endsWith('exists');
export const takesDays = (operator: api.FilterOperator): boolean => operator.endsWith('within_days');

/** True where the condition says everything that it needs: a value, and the name of a custom field or the campaign. */
export const isFilledIn = ({ field, operator, value }: Draft): boolean =>
  field !== customPrefix && field !== campaignPrefix && (!takesValue(operator) || value.trim() !== '');

/** Several values of a draft. */
export const valuesOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** Converts the text of the form to the value that the API expects. */
export function readValue(field: string, operator: api.FilterOperator, text: string): unknown {
  if (operator === 'in' || operator === 'not_in') return valuesOf(text);
  if (takesDays(operator) && /^\d+$/.test(text.trim())) return Number(text);
  if (field === 'subscribed' && /^(true|false)$/i.test(text.trim())) return /true/i.test(text);
  return text.trim();
}

/** Converts a stored value to the text of the form. */
export function writeValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '');
}
