/** Codecs for callbacks: strict about identifying fields, tolerant of all others. */
import { either, isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cleanId } from '../domain/clean-text.ts';
import type { ReportedPricing } from '../domain/callbacks/message-status.ts';
import type { JsonObject } from './provider.ts';
import type { IgnoredItem, NotificationError } from './notification-item.ts';

/** What an element's entry and change say about it. */
export interface ChangeContext {
  readonly object: string;
  readonly businessAccountId: string | null;
  /** Epoch seconds of the entry; only template and account entries carry it. */
  readonly entryTime: string | null;
  readonly field: string | null;
  readonly phoneNumberId: string | null;
  readonly value: JsonObject;
}

/** Builds the item for an element that has no effect. */
export function ignored(
  context: Pick<ChangeContext, 'businessAccountId' | 'field'>,
  reason: string,
  raw: unknown,
): IgnoredItem {
  const { businessAccountId, field } = context;
  return { kind: 'ignored', businessAccountId, field, reason, raw };
}

/**
 * Text that the provider sometimes writes as a number. Replaces NUL and lone surrogates, because text columns cannot store
 * them. Empty text counts as absent.
 */
export const Text = new t.Type<string, string, unknown>(
  'Text',
  t.string.is,
  (input, context) => {
    const text = typeof input === 'number' && Number.isFinite(input) ? String(input) : input;
    if (typeof text !== 'string' || text === '') return t.failure(input, context);
    return t.success(text.replaceAll('\u0000', '\uFFFD').toWellFormed());
  },
  t.identity,
);

/** An id of a message or a person. */
const Id = new t.Type<string, string, unknown>(
  'Id',
  t.string.is,
  (input, context) => either.map(Text.validate(input, context), cleanId),
  t.identity,
);

/** A number that the provider sometimes writes as text. */
export const WholeNumber = new t.Type<number, number, unknown>(
  'WholeNumber',
  t.number.is,
  (input, context) => {
    const code = typeof input === 'string' && input !== '' ? Number(input) : input;
    return typeof code === 'number' && Number.isSafeInteger(code)
      ? t.success(code)
      : t.failure(input, context);
  },
  t.identity,
);

/** Returns null if the value is absent or has another shape. */
export function read<A>(codec: t.Type<A, unknown>, value: unknown): A | null {
  const decoded = codec.decode(value);
  return isRight(decoded) ? decoded.right : null;
}

export function readText(value: unknown): string | null {
  return read(Text, value);
}

export function readId(value: unknown): string | null {
  return read(Id, value);
}

/** Returns the digits of a phone number in any notation; null for anything else, including a user id. */
export function readDigits(value: unknown): string | null {
  const text = readText(value);
  return text !== null && /^\+?[\d ().-]{4,31}$/.test(text) ? text.replaceAll(/\D/g, '') : null;
}

export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export const StatusElement = t.type({ id: Id, status: Text });
export const MessageElement = t.type({ id: Id });
export const TemplateElement = t.type({ message_template_id: Id });

const PricingElement = t.type({ category: Text });
const ErrorElement = t.type({ code: WholeNumber });

export function readPricing(value: unknown): ReportedPricing | null {
  const pricing = read(PricingElement, value);
  if (!pricing) return null;
  const { billable } = pricing as Record<string, unknown>;
  return {
    // The provider omits it in some pricing models; only an explicit false means free of charge.
    billable: billable !== false,
    category: pricing.category.toLowerCase(),
  };
}

export function readErrors(value: unknown): readonly NotificationError[] {
  return readList(value).flatMap((element) => {
    const error = read(ErrorElement, element);
    if (!error) return [];
    const { title, message, error_data } = error as Record<string, unknown>;
    const details = read(t.type({ details: Text }), error_data)?.details ?? readText(error_data);
    return [{ code: error.code, title: readText(title), details: details ?? readText(message) }];
  });
}
