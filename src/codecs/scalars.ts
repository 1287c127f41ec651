/** Single values of the wire, each with its JSON Schema. Message texts name the field. */
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { ErrorCode } from '../domain/error-code.ts';
import { isUuid } from '../domain/uuid.ts';
import { fieldName } from './field-name.ts';
import { describe, type JsonSchema } from './json-schema.ts';
import { failWith } from './report.ts';
import { readAs } from './struct.ts';

interface Scalar<A, O> {
  readonly name: string;
  readonly is: (value: unknown) => value is A;
  /** Undefined when the input is not one. */
  readonly parse: (input: unknown) => A | undefined;
  readonly encode: (value: A) => O;
  /** Follows the field's name: `must be a UUID`. */
  readonly expectation: string;
  readonly schema: JsonSchema;
}

function scalar<A, O = A>({ name, is, parse, encode, expectation, schema }: Scalar<A, O>): t.Type<A, O> {
  const codec = new t.Type<A, O>(
    name,
    is,
    (input, context) => {
      const value = parse(input);
      if (value !== undefined) return t.success(value);
      return t.failure(
        input,
        context,
        input === undefined ? undefined : `${fieldName(context)} ${expectation}`,
      );
    },
    encode,
  );
  return describe(codec, schema);
}

const isString = (value: unknown): value is string => typeof value === 'string';
const identity = <A>(value: A): A => value;

export function textMatching(
  name: string,
  pattern: RegExp,
  expectation: string,
  schema: JsonSchema,
): t.Type<string> {
  return scalar({
    name,
    is: isString,
    parse: (input) => (isString(input) && pattern.test(input) ? input : undefined),
    encode: identity,
    expectation,
    schema: { type: 'string', ...schema },
  });
}

/** Any version; lower case after decoding. */
export const Uuid: t.Type<string> = scalar({
  name: 'Uuid',
  is: isString,
  parse: (input) => (isString(input) && isUuid(input) ? input.toLowerCase() : undefined),
  encode: identity,
  expectation: 'must be a UUID',
  schema: { type: 'string', format: 'uuid' },
});

/** An id in a path. If the text is not a UUID, the response is 404 with `Template not found` (`what` is `Template`). */
export function idOf(what: string, code: ErrorCode = 'not_found'): t.Type<string> {
  const codec = new t.Type<string>(
    `id of ${what}`,
    isString,
    (input, context) =>
      isString(input) && isUuid(input)
        ? t.success(input.toLowerCase())
        : failWith(code, `${what} not found`, input, context),
    identity,
  );
  return describe(codec, { type: 'string', format: 'uuid' });
}

/** ISO 8601 with a zone; decodes to a Date, encodes with `Z` and milliseconds. */
export const IsoDateTime: t.Type<Date, string> = scalar({
  name: 'IsoDateTime',
  is: (value): value is Date => value instanceof Date,
  parse: (input) => (isString(input) ? parseDateTime(input) : undefined),
  encode: (value) => value.toISOString(),
  expectation: 'must be an ISO 8601 date-time with a time zone, such as 2026-12-24T18:00:00Z',
  schema: { type: 'string', format: 'date-time' },
});

/** E.164 digits in a response; empty for a contact that is known only by a user id. */
export const Digits: t.Type<string> = describe(new t.StringType(), { pattern: '^[0-9]*$' });

/** `#rrggbb` */
export const HexColour = textMatching(
  'HexColour',
  /^#[0-9a-f]{6}$/i,
  'must be a colour of the form #rrggbb',
  {
    pattern: '^#[0-9a-fA-F]{6}$',
  },
);

/** A calling code of the form `+<digits>`. */
export const CountryCode = textMatching(
  'CountryCode',
  /^\+[1-9]\d{0,3}$/,
  'must be a country code with its plus sign, such as +49',
  { pattern: '^\\+[1-9][0-9]{0,3}$' },
);

/** A text of min to max characters (code points). */
export function textOf({ min = 0, max }: { readonly min?: number; readonly max: number }): t.Type<string> {
  // A character has at most two UTF-16 units, so a text of megabytes is rejected without counting its characters.
  const long = (value: string) => value.length > 2 * max || (value.length > max && [...value].length > max);
  const short = (value: string) => value.length < min * 2 && [...value].length < min;
  const codec = new t.Type<string>(
    'string',
    isString,
    (input, context) => {
      if (!isString(input)) return t.string.validate(input, context);
      const field = fieldName(context);
      if (short(input)) {
        return t.failure(
          input,
          context,
          min === 1 ? `${field} must not be empty` : `${field} must have at least ${min} characters`,
        );
      }
      return long(input)
        ? t.failure(input, context, `${field} must be at most ${max} characters long`)
        : t.success(input);
    },
    identity,
  );
  return describe(codec, { type: 'string', maxLength: max, ...(min > 0 && { minLength: min }) });
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

/** A JSON integer; a bound that is not given does not apply. */
export function integerOf({
  min,
  max,
  meaning = `an integer${rangeText(min, max)}`,
}: { readonly min?: number; readonly max?: number; readonly meaning?: string } = {}): t.Type<number> {
  const within = (value: number) => value >= (min ?? -Infinity) && value <= (max ?? Infinity);
  return scalar({
    name: 'integer',
    is: isInteger,
    parse: (input) => (isInteger(input) && within(input) ? input : undefined),
    encode: identity,
    expectation: `must be ${meaning}`,
    schema: {
      type: 'integer',
      ...(min !== undefined && { minimum: min }),
      ...(max !== undefined && { maximum: max }),
    },
  });
}

export const Integer = integerOf();

function rangeText(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

/** An integer in a query string. */
export function integerFromString(min: number, max: number): t.Type<number, string> {
  return scalar({
    name: 'integer',
    is: isInteger,
    parse: (input) => {
      if (!isString(input) || !/^-?\d{1,15}$/.test(input)) return undefined;
      const value = Number(input);
      return value >= min && value <= max ? value : undefined;
    },
    encode: String,
    expectation: `must be an integer${rangeText(min, max === Number.MAX_SAFE_INTEGER ? undefined : max)}`,
    schema: { type: 'integer', minimum: min, ...(max !== Number.MAX_SAFE_INTEGER && { maximum: max }) },
  });
}

/** Query parameter `page`; from 1. The bound keeps `page × limit` an int4 of Postgres. */
export const Page = describe(integerFromString(1, 10_000_000), { default: 1 });

/** Query parameter `limit`. The handler applies the default, a tenth of the maximum: `query.limit ?? 10`. */
export const limitUpTo = (max: number) => describe(integerFromString(1, max), { default: max / 10 });

/** A query parameter that may be repeated (`?state=SENT&state=READ`). */
export function repeated<A>(codec: t.Type<A, string>): t.Type<readonly A[], readonly string[]> {
  const list = t.readonlyArray(codec);
  return readAs(list, (input, context) => list.validate(isString(input) ? [input] : input, context));
}

/** A cursor of a long list: opaque to callers, JSON of `codec` inside. */
export function cursorOf<A, O>(codec: t.Type<A, O>): t.Type<A, string> {
  return scalar<A, string>({
    name: 'cursor',
    is: codec.is,
    parse: (input) => {
      if (!isString(input) || !/^[\w-]{1,1000}$/.test(input)) return undefined;
      try {
        const decoded = codec.decode(JSON.parse(Buffer.from(input, 'base64url').toString('utf8')));
        return isRight(decoded) ? decoded.right : undefined;
      } catch {
        return undefined;
      }
    },
    encode: (value) => Buffer.from(JSON.stringify(codec.encode(value))).toString('base64url'),
    expectation: 'is not a cursor of this list: take its nextCursor',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,1000}$' },
  });
}

const dateTimePattern =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-](\d{2}):?(\d{2}))$/i;

/** Start of the UTC year 1, in ms: Postgres does not read earlier times as JavaScript writes them. */
export const earliestTime = Date.parse('0001-01-01T00:00:00Z');

/**
 * An ISO 8601 date-time; undefined for a text without zone, for a day or an hour that does not exist, and outside the UTC years
 * 1 to 9999.
 */
export function parseDateTime(text: string): Date | undefined {
  const match = dateTimePattern.exec(text);
  if (match === null) return undefined;
  const parts = match.slice(1).map((part: string | undefined) => Number(part ?? 0));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] =
    parts;
  const monthLength = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > monthLength) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) return undefined;
  const fraction = Number(`0.${/\.(\d+)/.exec(text)?.[1] ?? '0'}`);
  const utc = new Date(0);
  utc.setUTCFullYear(year, month - 1, day);
  utc.setUTCHours(hour, minute, second, Math.floor(fraction * 1000));
  const sign = /-\d{2}:?\d{2}$/.test(text) ? -1 : 1;
  const date = new Date(utc.getTime() - sign * (zoneHour * 60 + zoneMinute) * 60_000);
  return date.getTime() < earliestTime || date.getUTCFullYear() > 9999 ? undefined : date;
}
