import { isRecord, own } from './json.ts';
import type { SlotRule } from './slot.ts';

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
