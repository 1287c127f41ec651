import type { ButtonDefinition } from './definition.ts';
import { type ButtonValue, isRecord, listOf, own, textOf } from './values.ts';
import {
  type Given,
  isAbsent,
  plainSlot,
  type Report,
  type SlotReader,
  type SlotRule,
  textSlot,
} from './slot.ts';

/** The provider's limits for a multi-product message. */
const maxSections = 10;
const maxProducts = 30;

interface ProductSection<Leaf> {
  readonly title: Leaf;
  readonly product_items: readonly { readonly product_retailer_id: Leaf }[];
}

/** A place in a mapping: what is given there, and what `default_values` gives. */
interface Place {
  readonly value: unknown;
  readonly fallback: unknown;
  readonly path: string;
}

const inside = ({ value, fallback, path }: Place, key: string): Place => ({
  value: own(value, key),
  fallback: own(fallback, key),
  path: `${path}.${key}`,
});

const itemsOf = ({ value, fallback, path }: Place): readonly Place[] => {
  const fallbacks = listOf(fallback);
  return listOf(value).map((item, at) => ({ value: item, fallback: fallbacks[at], path: `${path}.${at}` }));
};

const readSection = <Leaf>(place: Place, { slot, report }: SlotReader<Leaf>): ProductSection<Leaf> => {
  if (!isRecord(place.value)) report(place.path, 'must be an object');
  const items = inside(place, 'product_items');
  if (listOf(items.value).length === 0) report(items.path, 'must list at least one product');
  return {
    title: slot({ ...inside(place, 'title'), rule: plainSlot }),
    product_items: itemsOf(items).map((item) => ({
      product_retailer_id: slot({ ...inside(item, 'product_retailer_id'), rule: plainSlot }),
    })),
  };
};

/** The sections of a multi-product button, without keys the provider does not know. */
const readSections = <Leaf>(place: Place, reader: SlotReader<Leaf>): readonly ProductSection<Leaf>[] => {
  const { value: given, path } = place;
  if (given === undefined) {
    reader.report(path, 'is required');
    return [];
  }
  if (!Array.isArray(given) || given.length === 0 || given.length > maxSections) {
    reader.report(path, `must be an array of 1 to ${maxSections} sections`);
    return [];
  }
  const sections = itemsOf(place).map((section) => readSection(section, reader));
  const products = sections.reduce((count, section) => count + section.product_items.length, 0);
  if (products > maxProducts) reader.report(path, `must have at most ${maxProducts} products`);
  return sections;
};

/** The entry of a mapping for one button: an object with `type` and values, or just the button's main value. */
interface ButtonEntry {
  /** Path in the mapping, e.g. `buttons.0`. */
  readonly path: string;
  readonly value: unknown;
}

type ButtonEntries = ReadonlyMap<number, ButtonEntry>;

/** The key that carries a button's main value; undefined for a button that takes none. */
export const buttonKey = (button: ButtonDefinition): string | undefined => {
  switch (button.kind) {
    case 'url':
      return button.dynamic ? 'url_suffix' : undefined;
    case 'copy_code':
      return 'coupon_code';
    case 'otp':
      return 'otp';
    case 'quick_reply':
    case 'voice_call':
      return 'payload';
    case 'flow':
      return 'flow_token';
    case 'catalog':
    case 'mpm':
      return 'thumbnail_product_retailer_id';
    default:
      return undefined;
  }
};

/** The provider knows the OTP button under several names. */
const otpTypes: ReadonlySet<string> = new Set(['otp', 'url', 'copy_code', 'one_tap', 'zero_tap']);

const entryType = (value: unknown): string | undefined => textOf(own(value, 'type'))?.toLowerCase();

const hasType = (button: ButtonDefinition, type: string | undefined): boolean => {
  if (type === undefined || type === button.type) return true;
  return button.kind === 'otp' && otpTypes.has(type);
};

const carriesValue = (value: unknown): boolean =>
  typeof value === 'string' || (isRecord(value) && Object.keys(value).some((key) => key !== 'type'));

const isEntry = (value: unknown): boolean => typeof value === 'string' || isRecord(value);

const fromObject = (buttons: readonly ButtonDefinition[], given: unknown, path: string): ButtonEntries =>
  new Map(
    buttons.flatMap((button) => {
      const value = own(given, String(button.index));
      return value === undefined ? [] : [[button.index, { path: `${path}.${button.index}`, value }]];
    }),
  );

const fitsInPlace = (buttons: readonly ButtonDefinition[], given: readonly unknown[]): boolean =>
  given.every((value, at) => {
    const button = buttons[at];
    if (button === undefined || value === null) return true;
    if (!hasType(button, entryType(value))) return false;
    return given.length === buttons.length || !carriesValue(value) || buttonKey(button) !== undefined;
  });

/** Assigns the entries in order, each to the next button of its type; undefined if an entry is left over. */
const byType = (
  buttons: readonly ButtonDefinition[],
  given: readonly unknown[],
  path: string,
): ButtonEntries | undefined => {
  const matched = new Map<number, ButtonEntry>();
  for (const [at, value] of given.entries()) {
    if (value === null) continue;
    const type = entryType(value);
    const button = buttons.find(
      (candidate) =>
        type !== undefined &&
        !matched.has(candidate.index) &&
        hasType(candidate, type) &&
        (!carriesValue(value) || buttonKey(candidate) !== undefined),
    );
    if (button === undefined) return undefined;
    matched.set(button.index, { path: `${path}.${at}`, value });
  }
  return matched;
};

const inPlace = (
  buttons: readonly ButtonDefinition[],
  given: readonly unknown[],
  path: string,
): ButtonEntries =>
  new Map(
    given
      .slice(0, buttons.length)
      .flatMap((value, at) => (value === null ? [] : [[at, { path: `${path}.${at}`, value }] as const])),
  );

const reportMisfits = (
  entries: ButtonEntries,
  { buttons, report }: { readonly buttons: readonly ButtonDefinition[]; readonly report: Report },
): void => {
  for (const [index, { path, value }] of entries) {
    const button = buttons[index];
    if (button === undefined) continue;
    if (!isEntry(value)) report(path, 'must be an object');
    else if (!hasType(button, entryType(value))) report(`${path}.type`, `must be ${button.type}`);
  }
};

/**
 * Finds the entry of each button. An object is keyed by the real index. In an array the i-th entry is the i-th button
 * (null skips one); an array that does not fit that way is matched by `type`, in order.
 */
export const matchButtonEntries = (
  buttons: readonly ButtonDefinition[],
  { given, path, report }: { readonly given: unknown; readonly path: string; readonly report: Report },
): ButtonEntries => {
  if (given === undefined) return new Map();
  if (!isRecord(given) && !Array.isArray(given)) {
    report(path, 'must be an array or an object');
    return new Map();
  }
  const entries = Array.isArray(given) ? matchArray(buttons, given, path) : fromObject(buttons, given, path);
  reportMisfits(entries, { buttons, report });
  return entries;
};

const matchArray = (
  buttons: readonly ButtonDefinition[],
  given: readonly unknown[],
  path: string,
): ButtonEntries =>
  fitsInPlace(buttons, given)
    ? inPlace(buttons, given, path)
    : (byType(buttons, given, path) ?? inPlace(buttons, given, path));

/** The main value an entry gives its button. */
export const mainValue = (button: ButtonDefinition, entry: ButtonEntry | undefined): unknown => {
  const key = buttonKey(button);
  if (entry === undefined || key === undefined) return undefined;
  if (typeof entry.value === 'string') return entry.value;
  const value = own(entry.value, key);
  return button.kind === 'otp' ? (value ?? own(entry.value, 'url_suffix')) : value;
};

/** One button, what is given for it, and how to read its main value. */
interface ButtonSource<Leaf> {
  readonly button: ButtonDefinition;
  readonly given: Given<Leaf>;
  readonly entry: unknown;
  readonly fallback: unknown;
  /** Returns the path of a key of the entry, also of a missing one. */
  readonly pathOf: (key: string) => string;
  readonly isGiven: boolean;
  readonly main: (rule: SlotRule) => Leaf;
}

const buttonSource = <Leaf>(
  button: ButtonDefinition,
  given: Given<Leaf>,
  {
    entry,
    fallback,
  }: { readonly entry: ButtonEntry | undefined; readonly fallback: ButtonEntry | undefined },
): ButtonSource<Leaf> => {
  const place = entry?.path ?? `${given.prefix}buttons.${button.index}`;
  const value = mainValue(button, entry);
  const fallbackValue = mainValue(button, fallback);
  const pathOf = (key: string): string => (typeof entry?.value === 'string' ? place : `${place}.${key}`);
  return {
    button,
    given,
    entry: entry?.value,
    fallback: fallback?.value,
    pathOf,
    isGiven: !isAbsent(value) || !isAbsent(fallbackValue),
    main: (rule) =>
      given.reader.slot({ path: pathOf(buttonKey(button) ?? ''), value, fallback: fallbackValue, rule }),
  };
};

/** A key of a button's entry, with the same key of its default. */
const placeOf = <Leaf>({ entry, fallback, pathOf }: ButtonSource<Leaf>, key: string): Place => ({
  value: own(entry, key),
  fallback: own(fallback, key),
  path: pathOf(key),
});

/** A value of any shape, with every text in it read. */
const readNested = <Leaf>(place: Place, reader: SlotReader<Leaf>): unknown => {
  const { value } = place;
  if (typeof value === 'string') return reader.nested({ ...place, value });
  if (Array.isArray(value)) return itemsOf(place).map((item) => readNested(item, reader));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      readNested({ ...inside(place, key), value: item }, reader),
    ]),
  );
};

const readFlow = <Leaf>(source: ButtonSource<Leaf>): Readonly<Record<string, unknown>> => {
  const { reader } = source.given;
  const data = placeOf(source, 'flow_action_data');
  if (data.value !== undefined && !isRecord(data.value)) reader.report(data.path, 'must be an object');
  return {
    ...(source.isGiven && { flow_token: source.main(plainSlot) }),
    ...(data.value !== undefined && { flow_action_data: readNested(data, reader) }),
  };
};

const readProducts = <Leaf>(source: ButtonSource<Leaf>): Readonly<Record<string, unknown>> => {
  const sections = readSections(placeOf(source, 'sections'), source.given.reader);
  // The provider requires a thumbnail: by default that of the first product.
  const first = sections[0]?.product_items[0]?.product_retailer_id ?? '';
  return { thumbnail_product_retailer_id: source.isGiven ? source.main(plainSlot) : first, sections };
};

const readMinutes = <Leaf>(source: ButtonSource<Leaf>): number | undefined => {
  const minutes = own(source.entry, 'ttl_minutes');
  if (isAbsent(minutes)) return undefined;
  if (!Number.isInteger(Number(minutes)) || Number(minutes) < 1) {
    source.given.reader.report(source.pathOf('ttl_minutes'), 'must be a whole number of minutes');
  }
  return Number(minutes);
};

const readVoiceCall = <Leaf>(source: ButtonSource<Leaf>): readonly ButtonValue<Leaf>[] => {
  const ttlMinutes = readMinutes(source);
  if (!source.isGiven && ttlMinutes === undefined) return [];
  const value = {
    ...(ttlMinutes !== undefined && { ttlMinutes }),
    ...(source.isGiven && { payload: source.main(plainSlot) }),
  };
  return [{ index: source.button.index, subType: 'voice_call', kind: 'voice_call', ...value }];
};

/** Reads the parameters that are sent for one button: none, or its one value. */
const readButton = <Leaf>(
  source: ButtonSource<Leaf>,
  code: Leaf | undefined,
): readonly ButtonValue<Leaf>[] => {
  const { button } = source;
  const { index } = button;
  switch (button.kind) {
    case 'url': {
      if (!button.dynamic) return [];
      const rule = { kind: 'url_suffix', prefix: button.prefix, suffix: button.suffix } as const;
      return [{ index, subType: 'url', kind: 'url', text: source.main(rule) }];
    }
    case 'otp':
      return [{ index, subType: 'url', kind: 'url', text: code ?? source.main(textSlot) }];
    case 'copy_code':
      return [{ index, subType: 'copy_code', kind: 'copy_code', code: source.main({ kind: 'coupon_code' }) }];
    case 'quick_reply':
      if (!source.isGiven) return [];
      return [{ index, subType: 'quick_reply', kind: 'quick_reply', payload: source.main(plainSlot) }];
    case 'flow':
      return [{ index, subType: 'flow', kind: 'action', action: readFlow(source) }];
    case 'catalog': {
      const action = source.isGiven ? { thumbnail_product_retailer_id: source.main(plainSlot) } : {};
      return [{ index, subType: 'catalog', kind: 'action', action }];
    }
    case 'mpm':
      return [{ index, subType: 'mpm', kind: 'action', action: readProducts(source) }];
    case 'voice_call':
      return readVoiceCall(source);
    case 'static':
    case 'unsupported':
      return [];
  }
};

interface ButtonsInput<Leaf> extends Given<Leaf> {
  readonly buttons: readonly ButtonDefinition[];
  /** The authentication code the body already has; the OTP button repeats it. */
  readonly code: Leaf | undefined;
}

/** The buttons to send, by rising index. */
export const readButtons = <Leaf>(input: ButtonsInput<Leaf>): readonly ButtonValue<Leaf>[] => {
  const { buttons, prefix, reader } = input;
  const match = (given: unknown, path: string) =>
    matchButtonEntries(buttons, { given, path, report: reader.report });
  const entries = match(own(input.mapping, 'buttons'), `${prefix}buttons`);
  const fallbacks = match(own(input.defaults, 'buttons'), `default_values.${prefix}buttons`);
  return buttons.flatMap((button) => {
    const given = { entry: entries.get(button.index), fallback: fallbacks.get(button.index) };
    return readButton(buttonSource(button, input, given), input.code);
  });
};

/** The keys that are read of a button's entry. */
const entryKeys = (button: ButtonDefinition): readonly string[] => {
  const main = buttonKey(button);
  const more = { otp: 'url_suffix', flow: 'flow_action_data', mpm: 'sections', voice_call: 'ttl_minutes' };
  const other = Object.hasOwn(more, button.kind) ? more[button.kind as keyof typeof more] : undefined;
  return ['type', main, other].filter((key) => key !== undefined);
};

const keepSections = (sections: unknown): readonly unknown[] =>
  listOf(sections).map((section) => ({
    title: own(section, 'title'),
    product_items: listOf(own(section, 'product_items')).map((item) => ({
      product_retailer_id: own(item, 'product_retailer_id'),
    })),
  }));

const keepEntry = (button: ButtonDefinition, value: unknown): unknown => {
  if (!isRecord(value)) return value;
  const kept = entryKeys(button).flatMap((key) => {
    const found = own(value, key);
    return found === undefined ? [] : [[key, key === 'sections' ? keepSections(found) : found] as const];
  });
  return Object.fromEntries(kept);
};

/** The `buttons` of a mapping without the keys that are not read. An array gets the button's entry at its index. */
export const keepButtons = (buttons: readonly ButtonDefinition[], given: unknown): unknown => {
  const entries = matchButtonEntries(buttons, { given, path: '', report: () => undefined });
  const kept = buttons.map((button) => {
    const entry = entries.get(button.index);
    return [button.index, entry === undefined ? null : keepEntry(button, entry.value)] as const;
  });
  if (Array.isArray(given)) return given.length === 0 ? [] : kept.map(([, value]) => value);
  return Object.fromEntries(kept.filter(([, value]) => value !== null));
};
