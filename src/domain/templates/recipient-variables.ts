import { normaliseSlot, slotProblem, type SlotRule } from './slot.ts';
import type { SkipReason } from '../campaigns/recipient.ts';
import { findExcess, type TextLimit } from './text-limits.ts';
import { tidied, type ContactField, type TextPart } from './variable-mapping-text.ts';

/** The custom fields of a contact by `fieldId`. */
export type CustomFields = Readonly<Record<string, unknown>>;

/** The data of one recipient from which its variables are resolved. */
export interface RecipientSource {
  readonly contact?: { readonly [field in ContactField]?: string | null } & {
    readonly customFields?: CustomFields | null | undefined;
  };
  /** The cells of the CSV row, by column. */
  readonly row?: readonly string[];
  /** The values that follow the number of a quick contact, in order. */
  readonly inline?: readonly string[];
}

/** A value of the message that differs from recipient to recipient. */
export interface RecipientSlot {
  /** Where the mapping gives it, e.g. `body.2`. */
  readonly path: string;
  /** Empty when nothing is mapped. */
  readonly parts: readonly TextPart[];
  /** The value of `default_values`; empty if there is none. */
  readonly fallback: string;
  readonly inlineIndex?: number;
  readonly rule: SlotRule;
}

/** The recipient's value of one slot; empty when nothing gives one. */
export type SlotResolver = (source: RecipientSource) => string;

const customValue = (fields: CustomFields | null | undefined, fieldId: string): string => {
  const value = fields != null && Object.hasOwn(fields, fieldId) ? fields[fieldId] : undefined;
  return typeof value === 'string' ? value : '';
};

const partResolver = (part: TextPart): SlotResolver => {
  if (typeof part === 'string') return () => part;
  switch (part.from) {
    case 'contact': {
      const { field } = part;
      return (source) => source.contact?.[field] ?? '';
    }
    case 'custom': {
      const { fieldId } = part;
      return (source) => customValue(source.contact?.customFields, fieldId);
    }
    case 'csv': {
      const { column } = part;
      return (source) => source.row?.[column] ?? '';
    }
    case 'nothing':
      return () => '';
  }
};

/** Characters of a value: the provider takes no longer text. Without a limit, a long cell could be repeated in each value. */
const maxValueLength = 32_768;

/** A text in which one of the fields is empty counts as empty as a whole. */
const mappedResolver = (parts: readonly TextPart[]): SlotResolver => {
  const [first, ...rest] = parts;
  if (first === undefined) return () => '';
  if (rest.length === 0) return partResolver(first);
  const resolvers = parts.map((part) => ({ isField: typeof part !== 'string', resolve: partResolver(part) }));
  return (source) => {
    let text = '';
    for (const { isField, resolve } of resolvers) {
      const value = resolve(source);
      if (isField && value.trim() === '') return '';
      if (text.length < maxValueLength) text += value.slice(0, maxValueLength);
    }
    return text;
  };
};

const shorten = (text: string): string =>
  text.length <= maxValueLength ? text : text.trimStart().slice(0, maxValueLength).toWellFormed();

/** Resolves a slot by its inline value, then its mapped field, then `default_values`. Placeholders in a value are not expanded. */
export const slotResolver = (slot: RecipientSlot): SlotResolver => {
  const mapped = mappedResolver(slot.parts);
  const { inlineIndex, fallback, rule } = slot;
  /** A value that the template cannot take counts as none. */
  const finish = (text: string): string => {
    const value = normaliseSlot(rule, tidied(rule, shorten(text)));
    return slotProblem(rule, value) === undefined ? value : '';
  };
  if (inlineIndex === undefined) return (source) => finish(mapped(source)) || fallback;
  return (source) => finish(source.inline?.[inlineIndex] ?? '') || finish(mapped(source)) || fallback;
};

export type RecipientVariables =
  | { readonly ok: true; readonly values: readonly string[] }
  /** The recipient is skipped. */
  | { readonly ok: false; readonly skip: VariablesSkip };

export interface VariablesSkip {
  readonly reason: Extract<SkipReason, 'MISSING_VARIABLE' | 'TEXT_TOO_LONG'>;
  /** Where the mapping should have given a value, e.g. `body.2`; or which text is too long: `body: 1,091 of 1,024`. */
  readonly detail: string;
}

/** The values, unless they make a text of the message too long. */
export const withinLimits = (values: readonly string[], limits: readonly TextLimit[]): RecipientVariables => {
  const excess = findExcess(limits, values);
  if (excess === undefined) return { ok: true, values };
  return { ok: false, skip: { reason: 'TEXT_TOO_LONG', detail: excess } };
};

export interface VariableResolver {
  readonly path: string;
  readonly resolve: SlotResolver;
  /** Set for a value that is not part of the message. It is stored to render the message again after the contact has changed. */
  readonly mayBeEmpty?: true;
}

/** Characters of a recipient's values together: no message that the provider takes has more, so what is cut is never sent. */
const mostCharacters = 65_536;

/** The values to store for one recipient: one for each slot of the campaign's plan, then those with `mayBeEmpty`. */
export const resolveVariables = (
  resolvers: readonly VariableResolver[],
  source: RecipientSource,
  limits: readonly TextLimit[] = [],
): RecipientVariables => {
  const values: string[] = [];
  let room = mostCharacters;
  for (const { path, resolve, mayBeEmpty } of resolvers) {
    const value = resolve(source);
    if (value === '' && mayBeEmpty !== true)
      return { ok: false, skip: { reason: 'MISSING_VARIABLE', detail: path } };
    const kept = value.length <= room ? value : value.slice(0, room).toWellFormed();
    room -= kept.length;
    values.push(kept);
  }
  return withinLimits(values, limits);
};
