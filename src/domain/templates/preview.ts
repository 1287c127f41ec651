/** Renders a message as its reader will see it, from the template and the values that are sent. Runs in browsers too. */
import { componentOf, parseTemplate, typeOf, type TemplateOptions } from './components.ts';
import type { CardDefinition } from './definition.ts';
import { isRecord, listOf, own, textOf } from './values.ts';
import { cardDefinitionAt } from './message.ts';
import { fillPlaceholders } from './placeholder.ts';

export interface PreviewButton {
  /** The provider's type in upper case: `URL`, `QUICK_REPLY`, … */
  readonly type: string;
  readonly text: string;
  /** Where it leads: the filled URL, or the number. */
  readonly target: string | null;
}

export interface PreviewCard {
  /** `TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT`, …; null without a header. */
  readonly headerFormat: string | null;
  /** The text; else the link or id of the media, the name of the place, or the retailer id of the product. */
  readonly header: string | null;
  readonly body: string | null;
  readonly buttons: readonly PreviewButton[];
}

export interface MessagePreview extends PreviewCard {
  readonly footer: string | null;
  readonly cards: readonly PreviewCard[];
}

export interface PreviewedTemplate extends TemplateOptions {
  /** The components of the template as the provider lists them. */
  readonly components: readonly unknown[];
}

/** `sent` are the components of the send request; variables it has no value for stay as `{{1}}`. */
export function previewMessage(template: PreviewedTemplate, sent: readonly unknown[]): MessagePreview {
  const { components } = template;
  const definition = parseTemplate(components, template);
  const carousel = componentOf(components, 'CAROUSEL');
  const cards = listOf(own(carousel, 'cards'));
  const sentCards = listOf(own(componentOf(sent, 'CAROUSEL'), 'cards'));
  // A product carousel has as many cards as the mapping gives, up to 10.
  const count = sentCards.length || cards.length;
  return {
    ...previewCard(definition, components, sent),
    footer: textOf(own(componentOf(components, 'FOOTER'), 'text')) ?? null,
    cards: Array.from({ length: count }, (_, at) =>
      previewCard(
        cardDefinitionAt(definition.carousel?.cards ?? [], at) ?? noCard,
        listOf(own(cards[Math.min(at, cards.length - 1)], 'components')),
        listOf(own(sentCards[at], 'components')),
      ),
    ),
  };
}

const noCard: CardDefinition = { header: undefined, body: undefined, buttons: [] };

function previewCard(
  { header, body }: CardDefinition,
  components: readonly unknown[],
  sent: readonly unknown[],
): PreviewCard {
  const parametersOf = (type: string) => listOf(own(componentOf(sent, type), 'parameters'));
  return {
    headerFormat: header === undefined ? null : header.kind.toUpperCase(),
    header:
      header?.kind === 'text'
        ? fill(header.text, header.variables, parametersOf('HEADER'))
        : mediaOf(parametersOf('HEADER')[0]),
    body: body === undefined ? null : fill(body.text, body.variables, parametersOf('BODY')),
    buttons: listOf(own(componentOf(components, 'BUTTONS'), 'buttons')).map((button, at) =>
      previewButton(button, sentButton(sent, at)),
    ),
  };
}

function fill(text: string, variables: readonly string[], parameters: readonly unknown[]): string {
  const values = parameters.flatMap((parameter, at) => {
    const name = textOf(own(parameter, 'parameter_name')) ?? variables[at];
    const value = textOf(own(parameter, 'text'));
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return fillPlaceholders(text, new Map(values));
}

function mediaOf(parameter: unknown): string | null {
  const kind = textOf(own(parameter, 'type'));
  const source = kind === undefined ? undefined : own(parameter, kind);
  const keys = ['link', 'id', 'name', 'product_retailer_id'];
  return keys.map((key) => textOf(own(source, key))).find((text) => text !== undefined) ?? null;
}

const sentButton = (sent: readonly unknown[], at: number): unknown =>
  sent.find(
    (component) => typeOf(component) === 'BUTTON' && isRecord(component) && component['index'] === String(at),
  );

function previewButton(button: unknown, sent: unknown): PreviewButton {
  const [parameter] = listOf(own(sent, 'parameters'));
  const value = textOf(own(parameter, 'text'));
  const url = textOf(own(button, 'url'));
  return {
    type: typeOf(button),
    text: textOf(own(button, 'text')) ?? '',
    target: url === undefined ? (textOf(own(button, 'phone_number')) ?? null) : fillUrl(url, value),
  };
}

const fillUrl = (url: string, value: string | undefined): string =>
  value === undefined ? url : url.replace(/\{\{\s*\w+\s*\}\}/, () => value);
