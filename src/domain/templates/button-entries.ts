import { isRecord, own, textOf } from './json.ts';
import type { ButtonDefinition } from './definition.ts';
import type { Report } from './slot-reader.ts';

/** The entry of a mapping for one button: an object with `type` and values, or just the button's main value. */
export interface ButtonEntry {
  /** Path in the mapping, e.g. `buttons.0`. */
  readonly path: string;
  readonly value: unknown;
}

export type ButtonEntries = ReadonlyMap<number, ButtonEntry>;

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
