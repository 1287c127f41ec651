import type { MediaKind } from './definition.ts';

// Reading JSON that others wrote: no prototype keys, no assumptions.

export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value's own property; undefined when it is absent, null, or `value` is no object. */
export const own = (value: unknown, key: string): unknown => {
  if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
  return value[key] ?? undefined;
};

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * The values of one message, in the shape of its template. `Leaf` is a string for a single message; for a campaign it may also
 * be a placeholder for a value that differs by recipient.
 */
export interface TemplateValues<Leaf = string> extends CardValues<Leaf> {
  /** Epoch milliseconds. */
  readonly offerExpiresAtMs?: number;
  readonly cards?: readonly CardValues<Leaf>[];
}

export interface CardValues<Leaf = string> {
  readonly header?: HeaderValue<Leaf>;
  /** One value per variable of the body, in the definition's order. */
  readonly body: readonly Leaf[];
  /** Only the buttons that are sent, by rising index. */
  readonly buttons: readonly ButtonValue<Leaf>[];
}

export type MediaSource<Leaf> = ({ readonly id: Leaf } | { readonly link: Leaf }) & {
  readonly filename?: Leaf;
};

export type HeaderValue<Leaf = string> =
  | { readonly kind: 'text'; readonly values: readonly Leaf[] }
  | { readonly kind: MediaKind; readonly source: MediaSource<Leaf> }
  | {
      readonly kind: 'location';
      readonly latitude: Leaf;
      readonly longitude: Leaf;
      readonly name: Leaf;
      readonly address: Leaf;
    }
  | { readonly kind: 'product'; readonly productRetailerId: Leaf; readonly catalogId: Leaf };

interface ButtonPlace {
  readonly index: number;
  /** The provider's `sub_type`. */
  readonly subType: 'url' | 'copy_code' | 'quick_reply' | 'flow' | 'catalog' | 'mpm' | 'voice_call';
}

export type ButtonValue<Leaf = string> = ButtonPlace &
  (
    | { readonly kind: 'url'; readonly text: Leaf }
    | { readonly kind: 'copy_code'; readonly code: Leaf }
    | { readonly kind: 'quick_reply'; readonly payload: Leaf }
    | { readonly kind: 'voice_call'; readonly ttlMinutes?: number; readonly payload?: Leaf }
    /** Flow, catalog and multi-product: the provider's own `action` object. */
    | { readonly kind: 'action'; readonly action: Readonly<Record<string, unknown>> }
  );
