/** The provider's limits for the texts of a message, and which of a recipient's values count towards each. */
import type { ButtonDefinition, CardDefinition, TemplateDefinition, TextDefinition } from './definition.ts';
import { cardDefinitionAt } from './message.ts';
import { textTemplateParts } from './placeholder.ts';
import { lengthOf, slotOf, type SlotReference } from './slot.ts';
import { type ButtonValue, type CardValues, listOf, own, type TemplateValues } from './values.ts';

type Leaf = string | SlotReference;

/** One text of a message after filling. Plain JSON, so that it can be stored with a campaign's plan. */
export interface TextLimit {
  /** Path in the mapping, such as `body`, `carousel.0.body` or `buttons.1`. */
  readonly part: string;
  /** Code points. */
  readonly max: number;
  /** Code points of everything that is the same for all recipients. */
  readonly fixed: number;
  /** Indexes of the recipient's values in the text, one entry for each time that a value occurs. */
  readonly slots: readonly number[];
}

/** Limits that the provider is not known to enforce: what exceeds them is a warning. */
export interface TextLimits {
  readonly strict: readonly TextLimit[];
  readonly soft: readonly TextLimit[];
}

const headerLength = 60;
const authenticationCodeLength = 15;
const urlLength = 2_000;
const sectionTitleLength = 24;
const payloadLength = 256;
const placeNameLength = 100;
const addressLength = 300;
/** Some of the provider's pages allow no more, although others say 20. */
const sureCouponLength = 15;

const limit = (part: string, max: number, leaves: readonly Leaf[], fixed = 0): TextLimit => ({
  part,
  max,
  fixed: leaves.reduce((sum, leaf) => (typeof leaf === 'string' ? sum + lengthOf(leaf) : sum), fixed),
  slots: leaves.flatMap((leaf) => (typeof leaf === 'string' ? [] : [slotOf(leaf)])),
});

/** A template's text with its values, in pieces: the template's own text, and a value wherever one is inserted. */
const filled = (definition: TextDefinition, values: readonly Leaf[]): readonly Leaf[] => {
  const byName = new Map(definition.variables.map((name, at) => [name, values[at] ?? '']));
  return textTemplateParts(definition.text).map((part) =>
    typeof part === 'string' ? part : (byName.get(part.name) ?? part.written),
  );
};

interface CardLimits {
  readonly strict: TextLimit[];
  readonly soft: TextLimit[];
}

const addButton = (
  button: ButtonDefinition | undefined,
  value: ButtonValue<Leaf>,
  { part, limits }: { readonly part: string; readonly limits: CardLimits },
): void => {
  switch (value.kind) {
    case 'url':
      if (button?.kind === 'url')
        limits.strict.push(
          limit(`${part}.url_suffix`, urlLength, [button.prefix, value.text, button.suffix]),
        );
      return;
    case 'copy_code': {
      const most = button?.kind === 'copy_code' ? button.maxLength : sureCouponLength;
      limits.strict.push(limit(`${part}.coupon_code`, most, [value.code]));
      limits.soft.push(limit(`${part}.coupon_code`, sureCouponLength, [value.code]));
      return;
    }
    case 'quick_reply':
      limits.soft.push(limit(`${part}.payload`, payloadLength, [value.payload]));
      return;
    case 'voice_call':
      return;
    case 'action':
      for (const [at, section] of listOf(own(value.action, 'sections')).entries()) {
        const title = own(section, 'title') as Leaf;
        limits.strict.push(limit(`${part}.sections.${at}.title`, sectionTitleLength, [title]));
      }
  }
};

const addCard = (
  card: CardDefinition,
  values: CardValues<Leaf>,
  {
    prefix,
    limits,
    isSoft,
  }: { readonly prefix: string; readonly limits: CardLimits; readonly isSoft: boolean },
): void => {
  const { header, body } = values;
  if (header?.kind === 'text' && card.header?.kind === 'text')
    limits.strict.push(limit(`${prefix}header`, headerLength, filled(card.header, header.values)));
  if (header?.kind === 'location') {
    limits.soft.push(limit(`${prefix}header.name`, placeNameLength, [header.name]));
    limits.soft.push(limit(`${prefix}header.address`, addressLength, [header.address]));
  }
  if (card.body !== undefined && body.length > 0) {
    const text = limit(`${prefix}body`, card.body.maxLength, filled(card.body, body));
    (isSoft ? limits.soft : limits.strict).push(text);
  }
  for (const value of values.buttons)
    addButton(card.buttons[value.index], value, { part: `${prefix}buttons.${value.index}`, limits });
};

/** Every limit that the values of a message may exceed. */
export const textLimits = (definition: TemplateDefinition, values: TemplateValues<Leaf>): TextLimits => {
  const limits: CardLimits = { strict: [], soft: [] };
  addCard(definition, values, { prefix: '', limits, isSoft: definition.isBodyOnly });
  for (const [at, card] of (values.cards ?? []).entries()) {
    const known = cardDefinitionAt(definition.carousel?.cards ?? [], at);
    if (known !== undefined) addCard(known, card, { prefix: `carousel.${at}.`, limits, isSoft: false });
  }
  if (definition.authentication) {
    const code = codeOf(definition, values);
    if (code !== undefined) limits.strict.push(code);
  }
  return limits;
};

const codeOf = (definition: TemplateDefinition, values: TemplateValues<Leaf>): TextLimit | undefined => {
  const [inBody] = values.body;
  const [name] = definition.body?.variables ?? [];
  if (inBody !== undefined) return limit(`body.${name ?? '1'}`, authenticationCodeLength, [inBody]);
  const button = values.buttons.find((value) => definition.buttons[value.index]?.kind === 'otp');
  if (button?.kind !== 'url') return undefined;
  return limit(`buttons.${button.index}.otp`, authenticationCodeLength, [button.text]);
};

const shown = (count: number): string => count.toLocaleString('en-US');

/** `body: 1,091 of 1,024`: the words for a text that is too long, wherever that is found. */
export const excessOf = ({ part, max }: Pick<TextLimit, 'part' | 'max'>, length: number): string =>
  `${part}: ${shown(length)} of ${shown(max)}`;

/** The message, after the name of the field, for a text that is too long whatever the recipient's values are. */
export const tooLong = (exceeded: Pick<TextLimit, 'part' | 'max' | 'fixed'>): string =>
  `is too long (${excessOf(exceeded, exceeded.fixed)} characters)`;

/** The first text that a recipient's values make too long, in the words of `excessOf`; undefined if all fit. */
export const findExcess = (limits: readonly TextLimit[], values: readonly string[]): string | undefined => {
  for (const checked of limits) {
    // Units of UTF-16 are never fewer than code points, and cost nothing to count.
    const units = checked.slots.reduce((sum, slot) => sum + (values[slot]?.length ?? 0), checked.fixed);
    if (units <= checked.max) continue;
    const length = checked.slots.reduce((sum, slot) => sum + lengthOf(values[slot] ?? ''), checked.fixed);
    if (length > checked.max) return excessOf(checked, length);
  }
  return undefined;
};
