/** Converts the variables of a template to fields of a form, and the filled fields to a `variable_mapping`. */
import type { api } from '../../client.ts';
import { momentOf } from '../../parts/forms/moment.ts';
import { buttonKey } from '../../../../src/domain/templates/button-reader.ts';
import type { CardDefinition, TemplateDefinition } from '../../../../src/domain/templates/definition.ts';
import { cardDefinitionAt } from '../../../../src/domain/templates/message.ts';

/** Values entered for each variable, by its path in the mapping, such as `body.1`. */
export type Variables = Readonly<Record<string, { readonly value: string; readonly fallback: string }>>;

export interface Field {
  readonly path: string;
  readonly label: string;
  /** A `value` may differ between recipients; the other kinds are the same for all. */
  readonly kind: 'value' | 'time' | 'products' | 'fixed';
  readonly isOptional: boolean;
}

/** Key in `Variables` of the number of cards in a carousel; it is not a path in the mapping. */
export const cardCount = 'cards';
export const mostCards = 10;

const needed = (path: string, label: string, kind: Field['kind'] = 'value'): Field => ({
  path,
  label,
  kind,
  isOptional: false,
});
const optional = (path: string, label: string, kind: Field['kind'] = 'value'): Field => ({
  path,
  label,
  kind,
  isOptional: true,
});

function headerFields(header: CardDefinition['header']): readonly Field[] {
  switch (header?.kind) {
    case undefined:
    case 'unsupported':
      return [];
    case 'text':
      return header.variables.map((name) => needed(`header.${name}`, `Header {{${name}}}`));
    case 'location':
      return [
        needed('header.latitude', 'Latitude of the place, in degrees'),
        needed('header.longitude', 'Longitude of the place, in degrees'),
        needed('header.name', 'Name of the place'),
        needed('header.address', 'Address of the place'),
      ];
    case 'product':
      return [
        needed('header.product.product_retailer_id', 'Product in the header, by its id'),
        needed('header.product.catalog_id', 'Catalog of the product, by its id'),
      ];
    default: {
      const link = needed('header.link', 'Header file (upload or URL)');
      return header?.kind === 'document'
        ? [link, optional('header.filename', 'Name of the header’s file')]
        : [link];
    }
  }
}

function buttonFields({ body, buttons }: CardDefinition): readonly Field[] {
  return buttons.flatMap((button) => {
    const of = (what: string) => `${what} of button ${button.index + 1}`;
    const at = (key = buttonKey(button)) => `buttons.${button.index}.${key}`;
    switch (button.kind) {
      case 'url':
        return button.dynamic ? needed(at(), of('Link')) : [];
      case 'copy_code':
        return needed(at(), of('Code'));
      case 'otp':
        // The button repeats the code that the body contains.
        return body === undefined ? needed(at(), of('Code')) : [];
      case 'quick_reply':
        return optional(at(), of('Payload'));
      case 'flow':
        return [
          optional(at(), of('Flow token')),
          optional(at('flow_action_data'), of('Flow data (JSON)'), 'fixed'),
        ];
      case 'catalog':
        return optional(at(), of('Pictured product'));
      case 'mpm':
        return [needed(at('sections'), of('Products'), 'products'), optional(at(), of('Pictured product'))];
      case 'voice_call':
        return [
          optional(at(), of('Payload')),
          optional(at('ttl_minutes'), of('Minutes of validity'), 'fixed'),
        ];
      default:
        return [];
    }
  });
}

const cardFields = (card: CardDefinition): readonly Field[] => [
  ...headerFields(card.header),
  ...(card.body?.variables ?? []).map((name) => needed(`body.${name}`, `Body {{${name}}}`)),
  ...buttonFields(card),
];

export function fieldsOf(template: TemplateDefinition, variables: Variables): readonly Field[] {
  const { carousel } = template;
  const count = Number(variables[cardCount]?.value ?? carousel?.cards.length ?? 0);
  const cards = Array.from({ length: carousel === undefined ? 0 : count }, (_, at) => {
    const card = cardDefinitionAt(carousel?.cards ?? [], at);
    return (card === undefined ? [] : cardFields(card)).map((field) => ({
      ...field,
      path: `carousel.${at}.${field.path}`,
      label: `Card ${at + 1}: ${field.label}`,
    }));
  });
  return [
    ...cardFields(template),
    ...(template.offerExpires
      ? [needed('limited_time_offer.expiration_time_ms', 'The offer ends', 'time')]
      : []),
    ...cards.flat(),
  ];
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Guesses for each required variable the column of the same name; else the recipient's name for the body's first one. */
export function guessed(template: TemplateDefinition, columns: Readonly<Record<string, string>>): Variables {
  const names = Object.entries(columns);
  const nameKey = ['name_column', 'firstName'].find((key) => key in columns);
  const fields = fieldsOf(template, {});
  const firstOfBody = fields.find(({ path }) => path.startsWith('body.'));
  const values = fields.map((field) => {
    const wanted = plain(field.path.split('.').at(-1) ?? '');
    const same = names.find(([key, label]) => plain(key) === wanted || plain(label) === wanted)?.[0];
    const guess = field.kind === 'value' && !field.isOptional ? same : undefined;
    const value = guess ?? (field === firstOfBody ? nameKey : undefined) ?? '';
    return [field.path, { value, fallback: '' }] as const;
  });
  const { carousel } = template;
  return {
    ...Object.fromEntries(values),
    ...(carousel && { [cardCount]: { value: String(carousel.cards.length), fallback: '' } }),
  };
}

/** Reads one section per line, as in `Bread: 17, 18`. A line without a title is sent too: the API rejects it. */
const sectionsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, title = '', ids = ''] = /^(?:(.*?):)?(.*)$/.exec(line) ?? [];
      const items = ids.split(',').map((id) => id.trim());
      return {
        title: title.trim(),
        product_items: items.filter(Boolean).map((id) => ({ product_retailer_id: id })),
      };
    });

/** Converts text to the type that the API expects. Text that is not JSON goes unchanged: the API reports it. */
function wired(path: string, value: string): unknown {
  // Text that is no usable time goes unchanged: the API reports what is wrong with it.
  if (path.endsWith('.expiration_time_ms')) return momentOf(value)?.getTime() ?? value;
  if (path.endsWith('.sections')) return sectionsOf(value);
  if (!path.endsWith('.flow_action_data')) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

interface Tree {
  [key: string]: unknown;
}

function put(tree: Tree, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let place = tree;
  for (const key of keys) place = (place[key] ??= {}) as Tree;
  place[last] = value;
}

/** Turns the cards, keyed by index, into the list that the API expects. */
function listCards(tree: Tree, count: number): void {
  const cards = tree['carousel'] as Tree | undefined;
  tree['carousel'] = Array.from({ length: count }, (_, at) => cards?.[at] ?? {});
}

/** True for a variable of a text, and for the value of a button. */
const isRead = ({ label, kind }: Field): boolean =>
  kind === 'value' && /\{\{|(?:Link|Code) of button/.test(label);

/** The variables with one text for everybody, such as `Vorname`, which names no field here. */
export const constantsOf = (
  fields: readonly Field[],
  variables: Variables,
  columns: Readonly<Record<string, string>>,
): readonly { readonly label: string; readonly text: string }[] =>
  fields.filter(isRead).flatMap(({ label, path }) => {
    const text = variables[path]?.value.trim() ?? '';
    const isConstant = text !== '' && !Object.hasOwn(columns, text) && !namesColumn(text, columns);
    return isConstant ? [{ label, text }] : [];
  });

/** True for `Dear {{firstName}}`, which differs between people. */
const namesColumn = (text: string, columns: Readonly<Record<string, string>>): boolean =>
  [...text.matchAll(/\{\{([^{}]+)\}\}/g)].some(
    ([whole, name = '']) => Object.hasOwn(columns, whole) || Object.hasOwn(columns, name.trim()),
  );

const uploadMark = 'upload:';
/** Encodes an uploaded file as a field's value: its id at the provider, and its name. */
export const uploadValue = (id: string, name: string): string => `${uploadMark}${id}:${name}`;
export const uploadIdOf = (value: string): string | undefined =>
  value.startsWith(uploadMark) ? value.split(':')[1] : undefined;
export const uploadNameOf = (value: string): string => value.split(':').slice(2).join(':');

/** Builds the mapping from the filled fields; undefined where all are empty and the template has no carousel. */
export function mappingOf(
  variables: Variables,
  valueOf: (given: Variables[string], path: string) => string = ({ value }) => value,
): api.VariableMapping | undefined {
  const { [cardCount]: cards, ...places } = variables;
  const mapping: Tree = {};
  const defaults: Tree = {};
  for (const [path, given] of Object.entries(places)) {
    const value = valueOf(given, path);
    // An uploaded file is sent as an id in place of an address.
    const upload = path.endsWith('.link') ? uploadIdOf(value) : undefined;
    if (upload !== undefined) put(mapping, path.replace(/link$/, 'id'), upload);
    else if (value !== '') put(mapping, path, wired(path, value));
    // The default of a button has the path of the button, without the name of its value.
    if (given.fallback !== '') put(defaults, path.replace(/(buttons\.\d+)\..*/, '$1'), given.fallback);
  }
  const count = Number(cards?.value ?? 0);
  if (count > 0) listCards(mapping, count);
  if ('carousel' in defaults) listCards(defaults, count);
  if (Object.keys(defaults).length > 0) mapping['default_values'] = defaults;
  return Object.keys(mapping).length > 0 ? mapping : undefined;
}
