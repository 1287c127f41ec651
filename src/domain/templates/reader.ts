import { buttonKey, mainValue, matchButtonEntries, readButtons } from './button-reader.ts';
import type {
  CardDefinition,
  CarouselDefinition,
  HeaderDefinition,
  MediaKind,
  TemplateDefinition,
} from './definition.ts';
import { type CardValues, type HeaderValue, isRecord, listOf, own, type TemplateValues } from './values.ts';
import { cardDefinitionAt } from './message.ts';
import {
  defaultFileName,
  type Given,
  isAbsent,
  plainSlot,
  sectionOf,
  type SlotReader,
  type SlotRule,
  textSlot,
} from './slot.ts';

interface HeaderSource<Leaf> {
  readonly has: (key: string) => boolean;
  readonly read: (key: string, rule: SlotRule) => Leaf;
  readonly constant: (text: string) => Leaf;
}

/** Reads keys of `header`, or of an object inside it; the same keys of `default_values.header` are the fallbacks. */
const headerSource = <Leaf>(given: Given<Leaf>, inner?: string): HeaderSource<Leaf> => {
  const section = sectionOf(given, 'header');
  const defaults = own(given.defaults, 'header');
  const values = inner === undefined ? section : (own(section, inner) ?? section);
  const fallbacks = inner === undefined ? defaults : (own(defaults, inner) ?? defaults);
  const path = `${given.prefix}header${inner === undefined ? '' : `.${inner}`}`;
  return {
    has: (key) => !isAbsent(own(values, key)) || !isAbsent(own(fallbacks, key)),
    read: (key, rule) =>
      given.reader.slot({
        path: `${path}.${key}`,
        value: own(values, key),
        fallback: own(fallbacks, key),
        rule,
      }),
    constant: (value) => given.reader.nested({ path, value, fallback: undefined }),
  };
};

const readMedia = <Leaf>(kind: MediaKind, { has, read, constant }: HeaderSource<Leaf>): HeaderValue<Leaf> => {
  const isById = has('id') && !has('link');
  const source = isById ? { id: read('id', plainSlot) } : { link: read('link', { kind: 'link' }) };
  if (kind !== 'document') return { kind, source };
  // Without a name the reader of the message sees a generic one.
  const named = (): Leaf => (isById ? constant(defaultFileName) : read('link', { kind: 'file_name' }));
  return { kind, source: { ...source, filename: has('filename') ? read('filename', plainSlot) : named() } };
};

/** The header's value; undefined for a header that takes none. */
const readHeader = <Leaf>(
  header: HeaderDefinition | undefined,
  given: Given<Leaf>,
): HeaderValue<Leaf> | undefined => {
  if (header === undefined) return undefined;
  switch (header.kind) {
    case 'unsupported':
      return undefined;
    case 'text': {
      if (header.variables.length === 0) return undefined;
      const { read } = headerSource(given);
      return { kind: 'text', values: header.variables.map((name) => read(name, textSlot)) };
    }
    case 'location': {
      const { read } = headerSource(given);
      return {
        kind: 'location',
        latitude: read('latitude', { kind: 'coordinate', limit: 90 }),
        longitude: read('longitude', { kind: 'coordinate', limit: 180 }),
        name: read('name', plainSlot),
        address: read('address', plainSlot),
      };
    }
    case 'product': {
      const { read } = headerSource(given, 'product');
      return {
        kind: 'product',
        productRetailerId: read('product_retailer_id', plainSlot),
        catalogId: read('catalog_id', plainSlot),
      };
    }
    default:
      return readMedia(header.kind, headerSource(given));
  }
};

const maxProductCards = 10;
/** Lower numbers are seconds: as milliseconds they would lie before the autumn of 2001. */
const firstMilliseconds = 1e12;

interface MappingInput<Leaf> {
  readonly definition: TemplateDefinition;
  /** The mapping of Spec 4.1.1 or 4.5, not validated. */
  readonly mapping: unknown;
  readonly reader: SlotReader<Leaf>;
  readonly now: Date;
}

const readBody = <Leaf>(card: CardDefinition, given: Given<Leaf>, code: unknown): readonly Leaf[] => {
  const section = sectionOf(given, 'body');
  const defaults = own(given.defaults, 'body');
  return (card.body?.variables ?? []).map((name, at) =>
    given.reader.slot({
      path: `${given.prefix}body.${name}`,
      value: own(section, name) ?? code,
      fallback: own(defaults, name),
      rule: textSlot,
      ...(given.prefix === '' && { inlineIndex: at }),
    }),
  );
};

/** The code given at the OTP button, for a body without a code; two different codes are reported. */
const codeAtButton = <Leaf>(definition: TemplateDefinition, given: Given<Leaf>): unknown => {
  const button = definition.buttons.find((candidate) => candidate.kind === 'otp');
  const name = definition.body?.variables[0];
  if (button === undefined || name === undefined) return undefined;
  const path = 'buttons';
  const entries = matchButtonEntries(definition.buttons, {
    given: own(given.mapping, path),
    path,
    report: () => undefined,
  });
  const entry = entries.get(button.index);
  const atButton = mainValue(button, entry);
  const inBody = own(own(given.mapping, 'body'), name);
  if (atButton !== undefined && inBody !== undefined && atButton !== inBody) {
    const key = typeof entry?.value === 'string' ? '' : `.${buttonKey(button) ?? ''}`;
    given.reader.report(`${entry?.path ?? path}${key}`, `must be the same code as body.${name}`);
  }
  return atButton;
};

const cardValues = <Leaf>(
  card: CardDefinition,
  given: Given<Leaf>,
  authentication?: TemplateDefinition,
): CardValues<Leaf> => {
  const header = readHeader(card.header, given);
  const code = authentication === undefined ? undefined : codeAtButton(authentication, given);
  const body = readBody(card, given, code);
  const buttons = readButtons({
    ...given,
    buttons: card.buttons,
    code: authentication === undefined ? undefined : body[0],
  });
  return { body, buttons, ...(header !== undefined && { header }) };
};

const cardCountProblem = (carousel: CarouselDefinition, count: number): string | undefined => {
  if (carousel.kind === 'media') {
    return count === carousel.cards.length ? undefined : `must have exactly ${carousel.cards.length} cards`;
  }
  return count >= 1 && count <= maxProductCards ? undefined : `must have 1 to ${maxProductCards} cards`;
};

const readCarousel = <Leaf>(
  carousel: CarouselDefinition,
  { mapping, reader }: MappingInput<Leaf>,
): readonly CardValues<Leaf>[] => {
  const given = own(mapping, 'carousel');
  const fallbacks = listOf(own(own(mapping, 'default_values'), 'carousel'));
  if (given !== undefined && !Array.isArray(given)) {
    reader.report('carousel', 'must be an array');
    return [];
  }
  // Cards that are left out altogether may still be given by the defaults.
  const cards: readonly unknown[] = given ?? fallbacks.map(() => ({}));
  const problem = cardCountProblem(carousel, cards.length);
  if (problem !== undefined) {
    reader.report('carousel', given === undefined && cards.length === 0 ? 'is required' : problem);
    return [];
  }
  return cards.flatMap((card, at) => {
    const definition = cardDefinitionAt(carousel.cards, at);
    if (!isRecord(card)) reader.report(`carousel.${at}`, 'must be an object');
    if (definition === undefined || !isRecord(card)) return [];
    return [
      cardValues(definition, { mapping: card, defaults: fallbacks[at], prefix: `carousel.${at}.`, reader }),
    ];
  });
};

const readOfferExpiry = <Leaf>({ mapping, reader, now }: MappingInput<Leaf>): number => {
  const path = 'limited_time_offer.expiration_time_ms';
  const expiry = own(own(mapping, 'limited_time_offer'), 'expiration_time_ms');
  if (expiry === undefined) reader.report(path, 'is required');
  else if (typeof expiry !== 'number' || !Number.isSafeInteger(expiry)) {
    reader.report(path, 'must be a whole number of milliseconds since 1970');
  } else if (expiry < firstMilliseconds) {
    reader.report(path, 'must be in milliseconds since 1970, not in seconds');
  } else if (expiry <= now.getTime()) reader.report(path, 'must be in the future');
  return typeof expiry === 'number' ? expiry : 0;
};

/**
 * Every value the template needs, taken from a mapping. Keys that the template does not use are ignored at every depth, also
 * `footer`, because the provider's footers take no values; only an unused `limited_time_offer` is an error.
 */
export const readTemplateValues = <Leaf>(input: MappingInput<Leaf>): TemplateValues<Leaf> => {
  const { definition, mapping, reader } = input;
  const given = { mapping, defaults: own(mapping, 'default_values'), prefix: '', reader };
  // Without this error the message would be sent without the offer that the caller expects.
  if (!definition.hasOffer && (own(mapping, 'limited_time_offer') ?? null) !== null)
    reader.report('limited_time_offer', 'is not part of this template');
  return {
    ...cardValues(definition, given, definition.authentication ? definition : undefined),
    ...(definition.offerExpires && { offerExpiresAtMs: readOfferExpiry(input) }),
    ...(definition.carousel && { cards: readCarousel(definition.carousel, input) }),
  };
};
