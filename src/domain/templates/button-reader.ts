import { readSections } from './product-sections.ts';
import { buttonKey, mainValue, matchButtonEntries, type ButtonEntry } from './button-entries.ts';
import { isRecord, own } from './json.ts';
import { isAbsent, type Given } from './slot-reader.ts';
import { plainSlot, textSlot, type SlotRule } from './slot.ts';
import type { ButtonDefinition } from './definition.ts';
import type { ButtonValue } from './values.ts';

/** One button, what is given for it, and how to read its main value. */
interface ButtonSource<Leaf> {
  readonly button: ButtonDefinition;
  readonly given: Given<Leaf>;
  readonly entry: unknown;
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
    pathOf,
    isGiven: !isAbsent(value) || !isAbsent(fallbackValue),
    main: (rule) =>
      given.reader.slot({ path: pathOf(buttonKey(button) ?? ''), value, fallback: fallbackValue, rule }),
  };
};

const readFlow = <Leaf>(source: ButtonSource<Leaf>): Readonly<Record<string, unknown>> => {
  const data = own(source.entry, 'flow_action_data');
  if (data !== undefined && !isRecord(data)) {
    source.given.reader.report(source.pathOf('flow_action_data'), 'must be an object');
  }
  return {
    ...(source.isGiven && { flow_token: source.main(plainSlot) }),
    ...(data !== undefined && { flow_action_data: data }),
  };
};

const readProducts = <Leaf>(source: ButtonSource<Leaf>): Readonly<Record<string, unknown>> => {
  const { report } = source.given.reader;
  const sections = readSections(own(source.entry, 'sections'), source.pathOf('sections'), report);
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
    case 'copy_code': {
      const rule = { kind: 'coupon_code', maxLength: button.maxLength } as const;
      return [{ index, subType: 'copy_code', kind: 'copy_code', code: source.main(rule) }];
    }
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
