/**
 * Template slots filled from contact fields. They are stored with a campaign's plan so that they are resolved again when a
 * message is sent. Their other parts (CSV cells, inline values) are stored with the recipient's values and do not change.
 */
import type { TextLimit } from './text-limits.ts';
import {
  slotResolver,
  withinLimits,
  type RecipientSlot,
  type RecipientSource,
  type RecipientVariables,
  type VariableResolver,
} from './recipient-variables.ts';

/** `column` and `inlineIndex` of a contact slot are indexes of the recipient's variables. Plain JSON. */
export interface ContactSlot extends RecipientSlot {
  /** Index of the slot's value in the recipient's variables. */
  readonly slot: number;
}

export interface ContactSlots {
  readonly contactSlots: readonly ContactSlot[];
  /** The given values that preparation appends to the recipient's variables; each may be empty. */
  readonly given: readonly VariableResolver[];
}

export const planContactSlots = (slots: readonly RecipientSlot[]): ContactSlots => {
  const given: VariableResolver[] = [];
  const keep = (path: string, resolve: VariableResolver['resolve']): number =>
    slots.length + given.push({ path, resolve, mayBeEmpty: true }) - 1;
  const contactSlots = slots.flatMap((slot, index): ContactSlot[] => {
    const { path, parts, inlineIndex } = slot;
    const sources = new Set(parts.map((part) => (typeof part === 'string' ? 'text' : part.from)));
    const namesContact = sources.has('contact') || sources.has('custom');
    const isAlwaysEmpty = sources.has('nothing');
    if (!namesContact || isAlwaysEmpty) return [];
    const kept = parts.map((part) => {
      if (typeof part === 'string' || part.from !== 'csv') return part;
      const { column } = part;
      return { ...part, column: keep(path, (source) => source.row?.[column] ?? '') };
    });
    const inline =
      inlineIndex === undefined
        ? {}
        : { inlineIndex: keep(path, (source) => source.inline?.[inlineIndex] ?? '') };
    return [{ ...slot, ...inline, parts: kept, slot: index }];
  });
  return { contactSlots, given };
};

/** The custom fields that the slots name, each once: no others are read from the contacts. */
export const customFieldsOf = (contactSlots: readonly Pick<RecipientSlot, 'parts'>[]): readonly string[] => [
  ...new Set(
    contactSlots.flatMap(({ parts }) =>
      parts.flatMap((part) => (typeof part !== 'string' && part.from === 'custom' ? [part.fieldId] : [])),
    ),
  ),
];

/** Compiled once a step; resolves a recipient's contact slots again with the contact's present fields. */
export const contactSlotsResolver = ({
  contactSlots = [],
  limits = [],
}: {
  readonly contactSlots?: readonly ContactSlot[];
  readonly limits?: readonly TextLimit[];
}) => {
  const resolvers = contactSlots.map((contactSlot) => ({
    ...contactSlot,
    resolve: slotResolver(contactSlot),
  }));
  return (
    variables: readonly string[],
    contact: NonNullable<RecipientSource['contact']>,
  ): RecipientVariables => {
    const source = { contact, row: variables, inline: variables };
    const values = [...variables];
    for (const { slot, path, resolve } of resolvers) {
      const value = resolve(source);
      if (value === '') return { ok: false, skip: { reason: 'MISSING_VARIABLE', detail: path } };
      values[slot] = value;
    }
    return withinLimits(values, limits);
  };
};
