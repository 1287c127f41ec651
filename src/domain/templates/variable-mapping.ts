import type { ContactSelectionType } from '../campaigns/campaign.ts';
import { addProblem, type FieldProblem, mostProblems } from '../error.ts';
import { keepButtons } from './button-reader.ts';
import { customFieldsOf, planContactSlots } from './contact-slots.ts';
import {
  type CardDefinition,
  type HeaderDefinition,
  mediaKinds,
  type TemplateDefinition,
} from './definition.ts';
import { isRecord, type JsonRecord, listOf, own, type TemplateValues } from './values.ts';
import { buildTemplateComponents, cardDefinitionAt } from './message.ts';
import { isPosition } from './placeholder.ts';
import { type MessagePlan, planMessage } from './plan.ts';
import { readTemplateValues } from './reader.ts';
import { type RecipientSlot, slotResolver, type VariableResolver } from './recipient-variables.ts';
import {
  normaliseSlot,
  plainSlot,
  type Report,
  slotProblem,
  type SlotReader,
  slotReference,
  type SlotReference,
  type SlotRequest,
  type SlotRule,
} from './slot.ts';
import { type TextLimit, type TextLimits, textLimits, tooLong } from './text-limits.ts';
import {
  fieldSources,
  type FieldSources,
  longestMappingLink,
  longestMappingText,
  longestMappingValue,
  misspelt,
  nearestName,
  noSources,
  parseMappingText,
  type TextPart,
  tidied,
} from './variable-mapping-text.ts';
import { locationKeys, productKeys } from './variables.ts';

/** A campaign's `variable_mapping`, ready to be resolved for every recipient. */
export interface CompiledMapping {
  /** Stored with the campaign; `compileRenderer` makes messages of it and of the recipients' frozen values. */
  readonly plan: MessagePlan;
  /**
   * Input of `resolveVariables`: one for each value that differs by recipient, then one for each CSV cell or inline value that is
   * stored so that the message can be rendered again after its contact has changed.
   */
  readonly resolvers: readonly VariableResolver[];
  /** The contacts' custom fields that it names. */
  readonly customFields: readonly string[];
}

export interface MappingFindings {
  readonly problems: readonly FieldProblem[];
  /** Values that are valid but probably a mistake. */
  readonly warnings: readonly FieldProblem[];
}

export type MappingResult =
  | { readonly ok: true; readonly mapping: CompiledMapping }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export interface MappingOptions {
  readonly selectionType: ContactSelectionType;
  /** Largest number of values that an entry of `quick_contacts` has after its phone number. */
  readonly inlineCount?: number;
  /** `name_column`, `email_column` and the names of `custom_field_mapping`, as far as `csv_mapping` has them. */
  readonly csvKeys?: ReadonlyMap<string, number>;
  /** Earliest time of sending. An offer that has expired at this time is a problem. */
  readonly now: Date;
}

type Leaf = string | SlotReference;

interface ReaderInput {
  readonly options: MappingOptions;
  readonly sources: FieldSources;
  readonly report: Report;
  readonly warn: Report;
}

/** The text of a mapping that names no field; undefined for other mappings. */
const staticText = (parts: readonly TextPart[]): string | undefined => {
  const texts = parts.filter((part) => typeof part === 'string');
  return texts.length === parts.length ? texts.join('') : undefined;
};

const isAlwaysEmpty = (parts: readonly TextPart[]): boolean =>
  parts.some((part) => typeof part !== 'string' && part.from === 'nothing');

interface SlotCollector {
  readonly slots: readonly RecipientSlot[];
  readonly referTo: (slot: RecipientSlot) => SlotReference;
}

/** Collects the values that differ; equal ones share a slot. */
const slotCollector = (): SlotCollector => {
  const slots: RecipientSlot[] = [];
  const known = new Map<string, number>();
  const referTo = (slot: RecipientSlot): SlotReference => {
    const { path: _, ...meaning } = slot;
    const key = JSON.stringify(meaning);
    const index = known.get(key) ?? slots.push(slot) - 1;
    known.set(key, index);
    return slotReference(index);
  };
  return { slots, referTo };
};

/** Most names of fields that one warning lists. */
const mostNames = 20;

const wrongType = Symbol('wrong type');

const stringOf = (
  request: SlotRequest,
  key: 'value' | 'fallback',
  report: Report,
): string | undefined | typeof wrongType => {
  const value = request[key];
  const path = key === 'value' ? request.path : `default_values.${request.path}`;
  const most = longestText(request.rule);
  if (value === undefined) return value;
  if (typeof value !== 'string') report(path, 'must be a string');
  else if (value.length > most) report(path, `must have at most ${most} characters`);
  else return value;
  return wrongType;
};

/** Texts are counted once the message is filled; this keeps only the mapping itself small. */
const longestText = ({ kind }: SlotRule): number => {
  if (kind === 'text') return longestMappingText;
  return kind === 'link' || kind === 'url_suffix' ? longestMappingLink : longestMappingValue;
};

const fallbackText = (request: SlotRequest, report: Report): string | typeof wrongType => {
  const given = stringOf(request, 'fallback', report);
  if (typeof given !== 'string') return given ?? '';
  const text = normaliseSlot(request.rule, tidied(request.rule, given));
  const problem = text === '' ? undefined : slotProblem(request.rule, text);
  if (problem !== undefined) report(`default_values.${request.path}`, problem);
  return text;
};

const missing = ({ inlineIndex }: SlotRequest, { csvKeys, selectionType }: MappingOptions): string => {
  if (selectionType === 'csv_contacts')
    return `is required: a column such as ${csvKeys?.keys().next().value ?? 'name_column'}, or a text`;
  return selectionType === 'quick_contacts' && inlineIndex !== undefined
    ? 'is required: a contact field such as firstName, a text, or a value behind each number of quick_contacts'
    : 'is required: a contact field such as firstName, or a text';
};

const fixedText = (
  request: SlotRequest,
  texts: readonly string[],
  { report, options }: ReaderInput,
): string => {
  const text = texts
    .map((candidate) => normaliseSlot(request.rule, tidied(request.rule, candidate)))
    .find(Boolean);
  if (text === undefined) {
    report(request.path, request.value === undefined ? missing(request, options) : 'must not be empty');
    return '';
  }
  const problem = slotProblem(request.rule, text);
  if (problem !== undefined) report(request.path, problem);
  return text;
};

/** Warns of a name that recipients will read; names the field that was probably meant. */
const sentAsItStands = (unknown: string, sources: FieldSources): string => {
  const nearest = nearestName(unknown, sources);
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return `is sent as it stands: ${unknown} names no field; fields are ${someOf(sources.names)}${meant}`;
};

const someOf = (names: readonly string[]): string =>
  names.length > mostNames ? `${names.slice(0, mostNames).join(', ')} …` : names.join(', ');

/** Texts with fields inside one flow button's data, which are stored for every recipient. */
const maxNested = 100;

const mappingReader = (
  input: ReaderInput,
  referTo: (slot: RecipientSlot) => SlotReference,
): SlotReader<Leaf> => {
  const { options, sources, report, warn } = input;
  let nested = 0;
  const slot = (request: SlotRequest): Leaf => {
    const { path, rule, inlineIndex } = request;
    const text = stringOf(request, 'value', report);
    const fallback = fallbackText(request, report);
    if (text === wrongType || fallback === wrongType) return '';
    const parts = parseMappingText(text ?? '', sources);
    const unknown = misspelt(text ?? '', sources);
    if (unknown !== undefined) warn(path, sentAsItStands(unknown, sources));
    if (misspelt(fallback, noSources) !== undefined)
      warn(`default_values.${path}`, 'is sent as it stands: a default holds no fields');
    const mayBeInline = inlineIndex !== undefined && inlineIndex < (options.inlineCount ?? 0);
    if (mayBeInline) return referTo({ path, parts, fallback, inlineIndex, rule });
    const fixed = staticText(parts);
    if (fixed !== undefined) return fixedText(request, [fixed, fallback], input);
    if (!isAlwaysEmpty(parts)) return referTo({ path, parts, fallback, rule });
    if (fallback === '') report(path, 'names a CSV column that csv_mapping leaves out: name it there');
    return fallback;
  };
  return {
    report,
    slot,
    nested: (request) => {
      const { value, path } = request;
      if (staticText(parseMappingText(value, sources)) === undefined) {
        nested += 1;
        if (nested === maxNested + 1) report(path, `is one of more than ${maxNested} texts with fields`);
        return slot({ ...request, rule: plainSlot });
      }
      const unknown = misspelt(value, sources);
      if (unknown !== undefined) warn(path, sentAsItStands(unknown, sources));
      return value;
    },
  };
};

const readMapping = (
  definition: TemplateDefinition,
  variableMapping: unknown,
  { slots, referTo }: SlotCollector,
  options: MappingOptions,
): MappingFindings & { readonly values: TemplateValues<Leaf>; readonly limits: TextLimits } => {
  const problems: FieldProblem[] = [];
  const warnings: FieldProblem[] = [];
  const into =
    (found: FieldProblem[]): Report =>
    (path, message) => {
      const field = `variable_mapping.${path}`;
      if (found.length < mostProblems) addProblem(found, { field, message: `${field} ${message}` });
    };
  const report = into(problems);
  const sources = fieldSources({
    selectionType: options.selectionType,
    csvKeys: options.csvKeys ?? new Map<string, number>(),
  });
  const reader = mappingReader({ options, sources, report, warn: into(warnings) }, referTo);
  reportMisfits(definition, variableMapping, report);
  const values = readTemplateValues({ definition, mapping: variableMapping, reader, now: options.now });
  const limits = textLimits(definition, values);
  if (problems.length === 0) {
    for (const { part, fixed, max } of limits.soft)
      if (fixed > max) into(warnings)(part, `${tooLong({ part, fixed, max })}: the provider may refuse it`);
    for (const limit of limits.strict) {
      if (isAlwaysTooLong(limit)) report(limit.part, tooLong(limit));
      else warnings.push(...roomLeft(limit, slots));
    }
  }
  return { problems, warnings, values, limits };
};

/** Values take at least one character each. */
const isAlwaysTooLong = ({ fixed, max, slots }: TextLimit): boolean => fixed + slots.length > max;

/** How many characters are left for the unknown values of fields, if a text is more than half full without them. */
const roomLeft = ({ part, max, fixed, slots: used }: TextLimit, slots: readonly RecipientSlot[]) => {
  const room = max - fixed;
  if (used.length === 0 || room >= max / 2) return [];
  const paths = [...new Set(used.map((slot) => `variable_mapping.${slots[slot]?.path ?? part}`))];
  const together = used.length > 1 ? ' together' : '';
  const message = `${paths.join(' and ')} may have ${room} characters${together}: recipients with longer values are skipped`;
  return [{ field: paths[0] ?? '', message }];
};

/**
 * Checks a campaign's `variable_mapping` (Spec 4.1.1) against its template. Every problem is found here, before a campaign
 * exists: keys that do not fit, values of a wrong type, and variables that nothing can give.
 */
export const checkMapping = (
  definition: TemplateDefinition,
  variableMapping: unknown,
  options: MappingOptions,
): MappingFindings => {
  const { problems, warnings } = readMapping(definition, variableMapping, slotCollector(), options);
  return { problems, warnings };
};

/** Checks as `checkMapping` does, and prepares the mapping. */
export const compileMapping = (
  definition: TemplateDefinition,
  variableMapping: unknown,
  options: MappingOptions,
): MappingResult => {
  const collector = slotCollector();
  const { slots } = collector;
  const { problems, values, limits } = readMapping(definition, variableMapping, collector, options);
  if (problems.length > 0) return { ok: false, problems };
  const { contactSlots, given } = planContactSlots(slots);
  const varying: readonly TextLimit[] = limits.strict.filter((limit) => limit.slots.length > 0);
  const resolvers = slots.map((slot) => ({ path: slot.path, resolve: slotResolver(slot) }));
  return {
    ok: true,
    mapping: {
      plan: {
        ...planMessage(buildTemplateComponents(definition, values)),
        ...(contactSlots.length > 0 && { contactSlots }),
        ...(varying.length > 0 && { limits: varying }),
      },
      resolvers: [...resolvers, ...given],
      customFields: customFieldsOf(slots),
    },
  };
};

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
const reportMisfits = (definition: TemplateDefinition, mapping: unknown, report: Report): void => {
  const parts = [
    { given: mapping, prefix: '', report },
    { given: own(mapping, 'default_values'), prefix: 'default_values.', report },
  ];
  for (const part of parts) {
    reportCard(definition, part);
    reportCarousel(definition, part);
  }
};

// The part of a mapping that is stored with a campaign: what its template reads.

const headerKeys = (header: HeaderDefinition | undefined): readonly string[] => {
  switch (header?.kind) {
    case undefined:
    case 'unsupported':
      return [];
    case 'text':
      return header.variables;
    case 'location':
      return locationKeys;
    case 'product':
      return ['product', ...productKeys];
    default:
      return ['link', 'id', 'filename'];
  }
};

const pick = (value: unknown, keys: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const found = own(value, key);
      return found === undefined ? [] : [[key, found]];
    }),
  );

/** The section without unread keys; absent if the mapping has none. */
const keepSection = (given: unknown, name: string, keep: (section: unknown) => unknown) => {
  const section = own(given, name);
  return section === undefined ? {} : { [name]: keep(section) };
};

const keepHeader = (header: HeaderDefinition | undefined, section: unknown) => ({
  ...pick(section, headerKeys(header)),
  ...(header?.kind === 'product' && keepSection(section, 'product', (product) => pick(product, productKeys))),
});

const keepCard = (card: CardDefinition, given: unknown) => ({
  ...keepSection(given, 'header', (section) => keepHeader(card.header, section)),
  ...keepSection(given, 'body', (section) => pick(section, card.body?.variables ?? [])),
  ...keepSection(given, 'buttons', (section) => keepButtons(card.buttons, section)),
});

const keepPart = (definition: TemplateDefinition, given: unknown) => ({
  ...keepCard(definition, given),
  ...keepSection(given, 'carousel', (cards) =>
    listOf(cards).map((card, at) => {
      const known = cardDefinitionAt(definition.carousel?.cards ?? [], at);
      return known === undefined ? {} : keepCard(known, card);
    }),
  ),
});

/** The mapping without the keys that its template does not read, at any depth. It compiles as the whole one does. */
export const keptMapping = (definition: TemplateDefinition, mapping: unknown): JsonRecord => ({
  ...keepPart(definition, mapping),
  ...keepSection(mapping, 'limited_time_offer', (offer) => pick(offer, ['expiration_time_ms'])),
  ...keepSection(mapping, 'default_values', (defaults) => keepPart(definition, defaults)),
});
