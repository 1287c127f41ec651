/** A provider's template, reduced to what a sender has to know: which slots take values, and where. */

export type ParameterFormat = 'POSITIONAL' | 'NAMED';

export const mediaKinds = ['image', 'video', 'gif', 'document'] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** A text with its variables: positional ones sorted by number, named ones in order of appearance. */
export interface TextDefinition {
  readonly text: string;
  readonly variables: readonly string[];
  readonly named: boolean;
}

export interface BodyDefinition extends TextDefinition {
  /** Characters the text may have once it is filled. */
  readonly maxLength: number;
}

export type HeaderDefinition =
  | ({ readonly kind: 'text' } & TextDefinition)
  | { readonly kind: MediaKind }
  | { readonly kind: 'location' }
  | { readonly kind: 'product' }
  | { readonly kind: 'unsupported'; readonly format: string };

interface ButtonPlace {
  /** Position among all buttons of the template, those without values included. */
  readonly index: number;
  /** The provider's own type in lower case. */
  readonly type: string;
}

export type ButtonDefinition = ButtonPlace &
  (
    | { readonly kind: 'url'; readonly dynamic: boolean; readonly prefix: string; readonly suffix: string }
    | { readonly kind: 'copy_code'; readonly maxLength: number }
    | { readonly kind: 'otp' }
    | { readonly kind: 'quick_reply' }
    | { readonly kind: 'flow' }
    | { readonly kind: 'catalog' }
    | { readonly kind: 'mpm' }
    | { readonly kind: 'voice_call' }
    | { readonly kind: 'static' }
    | { readonly kind: 'unsupported' }
  );

/** Parts of a carousel card; the template itself has the same three. */
export interface CardDefinition {
  readonly header: HeaderDefinition | undefined;
  readonly body: BodyDefinition | undefined;
  readonly buttons: readonly ButtonDefinition[];
}

export interface CarouselDefinition {
  /** A media carousel is sent with exactly its cards, a product carousel with 1 to 10. */
  readonly kind: 'media' | 'product';
  readonly cards: readonly CardDefinition[];
}

export interface TemplateDefinition extends CardDefinition {
  /** An authentication template: the same code goes into the body and the OTP button. */
  readonly authentication: boolean;
  /** The template consists of a body and nothing else. */
  readonly isBodyOnly: boolean;
  /** The template has a limited-time offer. */
  readonly hasOffer: boolean;
  /** The expiry of the offer must be given with every message. */
  readonly offerExpires: boolean;
  readonly carousel: CarouselDefinition | undefined;
  /** Component types this service does not know; they are kept and never filled. */
  readonly unsupported: readonly string[];
}

// REINSTATED: a disablement was lifted. LOCKED: edits are closed. FLAGGED: the quality is low. UNARCHIVED: restored from the archive.
const sendableStatuses: ReadonlySet<string> = new Set([
  'APPROVED',
  'REINSTATED',
  'LOCKED',
  'FLAGGED',
  'UNARCHIVED',
]);

/** Whether messages may be sent from a template in this status; an unknown one never. */
export const isSendable = (status: string): boolean => sendableStatuses.has(status.trim().toUpperCase());

/** Returns the first part that this service cannot fill or this endpoint does not take; undefined when there is none. */
export const unsendablePart = (
  template: TemplateDefinition,
  usesMarketingEndpoint = true,
): string | undefined => {
  const [component] = template.unsupported;
  if (component !== undefined) return `a component of type ${component}`;
  for (const { header, buttons } of [template, ...(template.carousel?.cards ?? [])]) {
    if (header?.kind === 'unsupported') return `a header of format ${header.format.toUpperCase()}`;
    if (header?.kind === 'gif' && !usesMarketingEndpoint)
      return 'a header of format GIF, which only a MARKETING template of a channel with marketing_endpoint may have';
    if (buttons.some(({ type }) => type === 'order_details')) return 'a button of type ORDER_DETAILS';
  }
  return undefined;
};

export const unsendableMessage = (part: string): string =>
  `The template cannot be sent by this service, choose another: it has ${part}`;
