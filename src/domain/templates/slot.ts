import { isRecord, own } from './values.ts';

/** Values that a slot of a template accepts. */
export type SlotRule =
  | { readonly kind: 'text' }
  | { readonly kind: 'plain' }
  | { readonly kind: 'link' }
  | { readonly kind: 'coordinate'; readonly limit: number }
  | { readonly kind: 'coupon_code' }
  | { readonly kind: 'url_suffix'; readonly prefix: string; readonly suffix: string };

const slotNumber = Symbol('slot');

/** Stands in a message for the n-th value of the recipient. */
export interface SlotReference {
  readonly [slotNumber]: number;
}

export const slotReference = (slot: number): SlotReference => ({ [slotNumber]: slot });

export const slotOf = (reference: SlotReference): number => reference[slotNumber];

export const isSlotReference = (value: unknown): value is SlotReference =>
  typeof value === 'object' && value !== null && slotNumber in value;

export const textSlot: SlotRule = { kind: 'text' };
export const plainSlot: SlotRule = { kind: 'plain' };

/** Code points. */
export const lengthOf = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

const isWebLink = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

const isCoordinate = (text: string, limit: number): boolean =>
  /^[+-]?\d+(\.\d+)?$/.test(text) && Math.abs(Number(text)) <= limit;

/** Describes the problem of a non-empty value as the end of a sentence; undefined when it has none. */
export const slotProblem = (rule: SlotRule, text: string): string | undefined => {
  switch (rule.kind) {
    case 'link':
      return isWebLink(text) ? undefined : 'must be an http or https URL';
    case 'coordinate':
      return isCoordinate(text, rule.limit)
        ? undefined
        : `must be decimal degrees between -${rule.limit} and ${rule.limit}`;
    case 'coupon_code':
      return /^[A-Za-z0-9]+$/.test(text) ? undefined : 'must consist of letters a to z and digits only';
    default:
      return undefined;
  }
};

/** A URL button takes only the part that replaces its variable: the static parts of a full URL are taken away. */
export const normaliseSlot = (rule: SlotRule, text: string): string => {
  if (rule.kind !== 'url_suffix' || rule.prefix === '' || !text.startsWith(rule.prefix)) return text;
  const rest = text.slice(rule.prefix.length);
  return rule.suffix !== '' && rest.endsWith(rule.suffix) ? rest.slice(0, -rule.suffix.length) : rest;
};

export type Report = (path: string, message: string) => void;

/** One value that the template needs, with what the mapping and its `default_values` give for it. */
export interface SlotRequest {
  /** Path inside the mapping: `body.2`, `carousel.0.header.link`. */
  readonly path: string;
  readonly value: unknown;
  readonly fallback: unknown;
  readonly rule: SlotRule;
  /** Index of the value among those that may follow the number of a quick contact. */
  readonly inlineIndex?: number;
}

/**
 * Reads the value of a slot. After it has reported a problem it may return any leaf, because values are used only if no problem
 * was reported.
 */
export interface SlotReader<Leaf> {
  readonly slot: (request: SlotRequest) => Leaf;
  /** Reads a text inside a value of a shape that the template does not know: constants stay as they are given. */
  readonly nested: (request: Pick<SlotRequest, 'path' | 'fallback'> & { readonly value: string }) => Leaf;
  readonly report: Report;
}

/** The part of a mapping for one card, or for the template itself. */
export interface Given<Leaf> {
  readonly mapping: unknown;
  readonly defaults: unknown;
  /** Empty, or `carousel.0.` */
  readonly prefix: string;
  readonly reader: SlotReader<Leaf>;
}

/** A part of the mapping that has to be an object; anything else is reported and counts as absent. */
export const sectionOf = <Leaf>(given: Given<Leaf>, key: string): unknown => {
  const section = own(given.mapping, key);
  if (section === undefined || isRecord(section)) return section;
  given.reader.report(`${given.prefix}${key}`, 'must be an object');
  return undefined;
};

/** Absent, or a text of nothing but white space: an optional value that is not given. */
export const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
