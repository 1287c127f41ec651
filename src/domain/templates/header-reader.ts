import { own } from './json.ts';
import { isAbsent, sectionOf, type Given } from './slot-reader.ts';
import { plainSlot, textSlot, type SlotRule } from './slot.ts';
import type { HeaderDefinition, MediaKind } from './definition.ts';
import type { HeaderValue } from './values.ts';

interface HeaderSource<Leaf> {
  readonly has: (key: string) => boolean;
  readonly read: (key: string, rule: SlotRule) => Leaf;
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
  };
};

const readMedia = <Leaf>(kind: MediaKind, { has, read }: HeaderSource<Leaf>): HeaderValue<Leaf> => {
  if (has('id') && !has('link')) return { kind, source: { id: read('id', plainSlot) } };
  const link = read('link', { kind: 'link' });
  const isNamed = kind === 'document' && has('filename');
  return { kind, source: isNamed ? { link, filename: read('filename', plainSlot) } : { link } };
};

/** The header's value; undefined for a header that takes none. */
export const readHeader = <Leaf>(
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
