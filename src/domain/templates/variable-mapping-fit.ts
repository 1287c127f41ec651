import { isPosition } from './placeholder.ts';
import { isRecord, listOf, own } from './json.ts';
import { cardDefinitionAt } from './message.ts';
import { mediaKinds } from './definition.ts';
import type { CardDefinition, HeaderDefinition, TemplateDefinition } from './definition.ts';
import type { Report } from './slot-reader.ts';

/** Positions the template does not have. Keys that are no positions mean nothing and are ignored. */
const strayPositions = (section: unknown, known: readonly string[]): readonly string[] =>
  isRecord(section) ? Object.keys(section).filter((key) => isPosition(key) && !known.includes(key)) : [];

/** By key, the header kinds that take it. A value for any other kind would be left out of the message in silence. */
const headerKinds = new Map<string, readonly string[]>([
  ['link', mediaKinds],
  ['product', ['product']],
]);

const strayHeaderKeys = (section: unknown, header: HeaderDefinition | undefined): readonly string[] =>
  [...headerKinds]
    .filter(([key, kinds]) => own(section, key) !== undefined && !kinds.includes(header?.kind ?? ''))
    .map(([key]) => key);

interface Part {
  readonly given: unknown;
  readonly prefix: string;
  readonly report: Report;
}

const reportCard = (card: CardDefinition, { given, prefix, report }: Part): void => {
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['header', card.header?.kind === 'text' ? card.header.variables : []],
    ['body', card.body?.variables ?? []],
    ['buttons', card.buttons.map((button) => String(button.index))],
  ];
  for (const [name, known] of sections) {
    const section = own(given, name);
    for (const key of strayPositions(section, known)) {
      report(`${prefix}${name}.${key}`, 'does not exist in the template: leave it out');
    }
  }
  for (const key of strayHeaderKeys(own(given, 'header'), card.header)) {
    report(`${prefix}header.${key}`, 'does not exist in the template: leave it out');
  }
  const extra = listOf(own(given, 'buttons')).findIndex(
    (entry, at) => at >= card.buttons.length && entry !== null,
  );
  if (extra !== -1) report(`${prefix}buttons.${extra}`, 'does not exist in the template: leave it out');
};

const reportCarousel = (definition: TemplateDefinition, { given, prefix, report }: Part): void => {
  const cards = listOf(own(given, 'carousel'));
  if (definition.carousel === undefined) {
    if (cards.length > 0) report(`${prefix}carousel`, 'does not exist in the template: leave it out');
    return;
  }
  for (const [at, card] of cards.entries()) {
    const known = cardDefinitionAt(definition.carousel.cards, at);
    if (known !== undefined) reportCard(known, { given: card, prefix: `${prefix}carousel.${at}.`, report });
  }
};

/** Reports what a mapping gives for positions, buttons or cards that the template does not have. */
export const reportMisfits = (definition: TemplateDefinition, mapping: unknown, report: Report): void => {
  const parts = [
    { given: mapping, prefix: '', report },
    { given: own(mapping, 'default_values'), prefix: 'default_values.', report },
  ];
  for (const part of parts) {
    reportCard(definition, part);
    reportCarousel(definition, part);
  }
};
