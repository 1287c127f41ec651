import { isPosition } from './template-placeholder.ts';
import { isRecord, listOf, own } from './template-json.ts';
import { cardDefinitionAt } from './template-message.ts';
import { mediaKinds } from './template-definition.ts';
import type { CardDefinition, HeaderDefinition, TemplateDefinition } from './template-definition.ts';

type Report = (path: string, message: string) => void;

/** The header kinds that take a key. A value for any other kind would be left out of the message in silence. */
const headerKinds: readonly (readonly [key: string, kinds: readonly string[]])[] = [
  ['link', mediaKinds],
  ['product', ['product']],
];

interface Part {
  readonly given: unknown;
  readonly prefix: string;
  readonly report: Report;
}

const misfit = 'does not exist in the template';

/** Keys that are no positions mean nothing and are ignored. */
const reportPositions = (
  section: string,
  known: readonly string[],
  { given, prefix, report }: Part,
): void => {
  const positions = own(given, section);
  if (!isRecord(positions)) return;
  for (const key of Object.keys(positions)) {
    if (isPosition(key) && !known.includes(key)) report(`${prefix}${section}.${key}`, misfit);
  }
};

const reportHeaderKeys = (header: HeaderDefinition | undefined, { given, prefix, report }: Part): void => {
  const section = own(given, 'header');
  if (section === undefined) return;
  for (const [key, kinds] of headerKinds) {
    if (own(section, key) === undefined || kinds.includes(header?.kind ?? '')) continue;
    report(`${prefix}header.${key}`, misfit);
  }
};

const reportCard = (card: CardDefinition, part: Part): void => {
  const { given, prefix, report } = part;
  if (given === undefined) return;
  reportPositions('header', card.header?.kind === 'text' ? card.header.variables : [], part);
  reportPositions('body', card.body?.variables ?? [], part);
  const buttons = card.buttons.map((button) => String(button.index));
  reportPositions('buttons', buttons, part);
  reportHeaderKeys(card.header, part);
  const extra = listOf(own(given, 'buttons')).findIndex(
    (entry, at) => at >= card.buttons.length && entry !== null,
  );
  if (extra !== -1) report(`${prefix}buttons.${extra}`, misfit);
};

const reportCarousel = (definition: TemplateDefinition, { given, prefix, report }: Part): void => {
  const cards = listOf(own(given, 'carousel'));
  if (definition.carousel === undefined) {
    if (cards.length > 0) report(`${prefix}carousel`, misfit);
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
