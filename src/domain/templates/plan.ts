import { isRecord, listOf, own } from './values.ts';
import type { ContactSlot } from './contact-slots.ts';
import { type MediaKind, mediaKinds } from './definition.ts';
import type { TemplateComponent } from './message.ts';
import { isSlotReference, slotOf, type SlotReference } from './slot.ts';
import type { TextLimit } from './text-limits.ts';

type PlanPath = readonly (string | number)[];

/**
 * A campaign's message: what all recipients have in common, and the places of the values that differ. Plain JSON, so
 * that it can be stored with the campaign; a recipient then needs only its list of values.
 */
export interface MessagePlan {
  /** The provider's components, with an empty text in every hole. */
  readonly components: readonly unknown[];
  readonly holes: readonly Hole[];
  /** Absent if no value comes from a contact field. */
  readonly contactSlots?: readonly ContactSlot[];
  /** The texts that a recipient's values may make too long; absent if there is none. */
  readonly limits?: readonly TextLimit[];
  /** The constant links whose files were uploaded; the components keep the links. Absent if there is none. */
  readonly media?: readonly PlannedMedia[];
}

export interface PlannedMedia {
  readonly link: string;
  /** Hash of the file's bytes, in hexadecimal. */
  readonly sha256: string;
  readonly type: string;
  /** The provider's id of the file, which a step sends in place of the link; never stored. */
  readonly id?: string;
}

interface Hole {
  readonly path: PlanPath;
  readonly slot: number;
}

const withoutSlots = (value: unknown, path: PlanPath, holes: Hole[]): unknown => {
  if (isSlotReference(value)) {
    holes.push({ path, slot: slotOf(value) });
    return '';
  }
  if (Array.isArray(value)) return value.map((item, at) => withoutSlots(item, [...path, at], holes));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutSlots(item, [...path, key], holes)]),
  );
};

export const planMessage = (
  components: readonly TemplateComponent<string | SlotReference>[],
): MessagePlan => {
  const holes: Hole[] = [];
  return { components: components.map((component, at) => withoutSlots(component, [at], holes)), holes };
};

/** True when the limited-time offer of a stored plan ends by that moment. */
export const offerEndsBy = (plan: unknown, moment: Date): boolean =>
  listOf(own(plan, 'components'))
    .flatMap((component) => listOf(own(component, 'parameters')))
    .some((parameter) => {
      const expiry = own(own(parameter, 'limited_time_offer'), 'expiration_time_ms');
      return typeof expiry === 'number' && expiry <= moment.getTime();
    });

/** A link that is the same for all recipients. */
export interface MediaLink {
  readonly link: string;
  readonly kind: MediaKind;
  /** Where the campaign gives it: `variable_mapping.carousel.0.header.link`. */
  readonly field: string;
}

const kindOfMedia = (parameter: unknown): MediaKind | undefined =>
  mediaKinds.find((kind) => own(parameter, 'type') === kind);

const linksOf = (components: readonly unknown[], prefix: string): readonly MediaLink[] =>
  components.flatMap((component): readonly MediaLink[] => {
    const cards = listOf(own(component, 'cards')).flatMap((card, at) =>
      linksOf(listOf(own(card, 'components')), `${prefix}carousel.${at}.`),
    );
    const headers = listOf(own(component, 'parameters')).flatMap((parameter): readonly MediaLink[] => {
      const kind = kindOfMedia(parameter);
      const link = kind === undefined ? undefined : own(own(parameter, kind), 'link');
      // A link that differs by recipient is an empty text in the plan.
      if (kind === undefined || typeof link !== 'string' || link === '') return [];
      return [{ link, kind, field: `${prefix}header.link` }];
    });
    return [...headers, ...cards];
  });

/** The media links that all recipients have in common, each once. */
export const mediaLinks = ({ components }: Pick<MessagePlan, 'components'>): readonly MediaLink[] => [
  ...new Map(linksOf(components, 'variable_mapping.').map((media) => [media.link, media])).values(),
];

const replaceLinks = (value: unknown, ids: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => replaceLinks(item, ids));
  if (!isRecord(value)) return value;
  const kind = kindOfMedia(value);
  const source = kind === undefined ? undefined : own(value, kind);
  const link = own(source, 'link');
  const id = typeof link === 'string' ? ids.get(link) : undefined;
  if (kind !== undefined && isRecord(source) && id !== undefined) {
    const { link: _, ...rest } = source;
    return { ...value, [kind]: { id, ...rest } };
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceLinks(item, ids)]));
};

/** The plan with the provider's ids in place of the links for which there is one. */
export const withMediaIds = (plan: MessagePlan, ids: ReadonlyMap<string, string>): MessagePlan => ({
  ...plan,
  ...(plan.media !== undefined && {
    media: plan.media.map((file) => {
      const id = ids.get(file.link);
      return id === undefined ? file : { ...file, id };
    }),
  }),
  components: plan.components.map((component) => replaceLinks(component, ids)),
});

type Values = readonly string[];
type Render = (values: Values) => unknown;

const keyOf = (path: PlanPath): string => path.join('\u0000');

/** A constant for a part without holes, else a function that builds the part anew. */
const compile = (value: unknown, path: PlanPath, holes: ReadonlyMap<string, number>): Render | undefined => {
  const slot = holes.get(keyOf(path));
  if (slot !== undefined) return (values) => values[slot] ?? '';
  if (Array.isArray(value)) return compileArray(value, path, holes);
  return isRecord(value) ? compileObject(value, path, holes) : undefined;
};

const compileArray = (
  items: readonly unknown[],
  path: PlanPath,
  holes: ReadonlyMap<string, number>,
): Render | undefined => {
  const renders = items.map((item, at) => compile(item, [...path, at], holes));
  if (renders.every((render) => render === undefined)) return undefined;
  return (values) => renders.map((render, at) => (render === undefined ? items[at] : render(values)));
};

const compileObject = (
  record: Readonly<Record<string, unknown>>,
  path: PlanPath,
  holes: ReadonlyMap<string, number>,
): Render | undefined => {
  const renders = Object.keys(record).flatMap((key) => {
    const render = compile(record[key], [...path, key], holes);
    return render === undefined ? [] : [{ key, render }];
  });
  if (renders.length === 0) return undefined;
  return (values) => {
    const copy: Record<string, unknown> = { ...record };
    for (const { key, render } of renders) copy[key] = render(values);
    return copy;
  };
};

/**
 * Compiles a plan into a function that is called once per recipient. Messages share the parts without holes: callers must
 * not modify the result.
 */
export const compileRenderer = (plan: MessagePlan): ((values: Values) => readonly unknown[]) => {
  const holes = new Map(plan.holes.map(({ path, slot }) => [keyOf(path), slot]));
  const renders = plan.components.map((component, at) => compile(component, [at], holes));
  return (values) =>
    renders.map((render, at) => (render === undefined ? plan.components[at] : render(values)));
};
