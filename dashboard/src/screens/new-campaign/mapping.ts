/** Converts a stored `variable_mapping` back to the fields of the form; the reverse of `mappingOf`. */
import { fieldTime } from '../../parts/forms/moment.ts';
import { cardCount, uploadValue, type Variables } from './fields.ts';

interface Tree {
  readonly [key: string]: unknown;
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

function textOf(path: string, value: unknown): string {
  if (path.endsWith('.expiration_time_ms')) return fieldTime(new Date(Number(value)));
  return String(value);
}

/** Writes one section per line, as in `Bread: 17, 18`. */
const linesOfSections = (sections: readonly unknown[]): string =>
  sections
    .map((section) => {
      const { title = '', product_items: items = [] } = section as { title?: string; product_items?: Tree[] };
      return `${title}: ${items.map((item) => String(item['product_retailer_id'])).join(', ')}`;
    })
    .join('\n');

function leaves(value: unknown, path: string): readonly (readonly [string, string])[] {
  if (path.endsWith('.sections') && Array.isArray(value)) return [[path, linesOfSections(value)]];
  if (path.endsWith('.flow_action_data') && isTree(value)) return [[path, JSON.stringify(value)]];
  if (!isTree(value)) return [[path, textOf(path, value)]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === '' ? key : `${path}.${key}`));
}

/** The id of an uploaded file in a header, which the form shows by its name in place of an address. */
const mediaId = /(^|\.)header\.id$/;

/** `uploadName` stands for the name of an uploaded file, which the service does not keep. */
export function variablesOf(mapping: Tree | null, uploadName: string): Variables {
  if (mapping === null) return {};
  const { default_values: defaults, ...values } = mapping;
  const fallbacks = new Map(isTree(defaults) ? leaves(defaults, '') : []);
  const { carousel } = values;
  const given = leaves(values, '').map(([path, value]) => {
    // The default of a button has the path of the button, without the name of its value.
    const fallback = fallbacks.get(path) ?? fallbacks.get(path.replace(/(buttons\.\d+)\..*/, '$1')) ?? '';
    return mediaId.test(path)
      ? ([path.replace(/id$/, 'link'), { value: uploadValue(value, uploadName), fallback }] as const)
      : ([path, { value, fallback }] as const);
  });
  const cards = Array.isArray(carousel)
    ? [[cardCount, { value: String(carousel.length), fallback: '' }] as const]
    : [];
  return Object.fromEntries([...given, ...cards]);
}
