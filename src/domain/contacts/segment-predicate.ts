/** Meaning of a segment's condition, whatever its spelling. Imports neither io-ts nor Node. */

export const filterOperators = [
  'eq',
  'neq',
  'contains',
  'not_contains',
  'starts_with',
  'in',
  'not_in',
  'gt',
  'gte',
  'lt',
  'lte',
  'exists',
  'not_exists',
] as const;
export type FilterOperator = (typeof filterOperators)[number];

export const textFields = [
  'firstName',
  'lastName',
  'chatName',
  'email',
  'phoneNumber',
  'countryCode',
  'source',
] as const;
export type TextField = (typeof textFields)[number];

export const timeFields = ['createdAt', 'updatedAt', 'dob'] as const;
export type TimeField = (typeof timeFields)[number];

export const comparisons = ['gt', 'gte', 'lt', 'lte'] as const;
export type Comparison = (typeof comparisons)[number];

export type TextSubject =
  | { readonly kind: 'field'; readonly name: TextField }
  | { readonly kind: 'custom'; readonly fieldId: string };

/** A parsed condition. `negated` inverts the result, so that a contact without the field matches. */
export type Predicate = { readonly negated: boolean } & (
  | { readonly test: 'text_in'; readonly subject: TextSubject; readonly values: readonly string[] }
  | { readonly test: 'text_contains'; readonly subject: TextSubject; readonly value: string }
  | { readonly test: 'text_starts_with'; readonly subject: TextSubject; readonly value: string }
  | { readonly test: 'text_present'; readonly subject: TextSubject }
  | {
      readonly test: 'text_compare';
      readonly subject: TextSubject;
      readonly comparison: Comparison;
      /** A number is compared only with field texts that are numbers; a text is compared by code points. */
      readonly value: string | number;
    }
  | { readonly test: 'time_within'; readonly field: TimeField; readonly from: Date; readonly until: Date }
  | { readonly test: 'time_from'; readonly field: TimeField; readonly from: Date }
  | { readonly test: 'time_before'; readonly field: TimeField; readonly until: Date }
  | { readonly test: 'time_present'; readonly field: TimeField }
  | { readonly test: 'subscribed' }
  | { readonly test: 'always' }
  | { readonly test: 'tag_any'; readonly tagIds: readonly string[] }
  | { readonly test: 'tag_present' }
);

/** A problem of a condition: the affected part and a message. */
export type ConditionProblem = {
  readonly part: 'field' | 'operator' | 'value';
  readonly message: string;
};
