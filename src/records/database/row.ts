/** io-ts codecs as Slonik's result parsers: each row of a result is decoded, and columns that the codec does not name are dropped. */
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { sql } from 'slonik';
import { report } from '../../codecs/report.ts';

type ZodSchema = Parameters<typeof sql.type>[0];

/** Slonik's types ask for a Zod schema; at run time it only passes the value on to our interceptor, which calls `decode`. */
export type RowParser<A> = Omit<ZodSchema, '_output'> & { readonly _output: A };

interface RowDecoder {
  /** Returns the decoded row, or the messages that say which columns do not fit. */
  readonly decode: (value: unknown) => { readonly row: unknown } | { readonly problems: readonly string[] };
}

/** `sql.type(row(Codec))` */
export function row<A, O>(codec: t.Type<A, O>): RowParser<A> {
  const decoder: RowDecoder = {
    decode: (value) => {
      const decoded = codec.decode(value);
      if (isRight(decoded)) return { row: decoded.right };
      return { problems: report(decoded.left).map(({ field, message }) => `${field}: ${message}`) };
    },
  };
  return decoder as unknown as RowParser<A>;
}

/** Undefined for `sql.unsafe`, which has no codec. */
export function decoderOf(parser: unknown): RowDecoder | undefined {
  return typeof parser === 'object' && parser !== null && Object.hasOwn(parser, 'decode')
    ? (parser as RowDecoder)
    : undefined;
}

/** For statements without a result. */
export const nothing: RowParser<Record<string, never>> = row(
  t.exact(t.type({})) as unknown as t.Type<Record<string, never>>,
);

/** timestamptz arrives as epoch milliseconds (see the type parsers of `createDatabase`). */
export const timestamp: t.Type<Date, number> = new t.Type(
  'timestamp',
  (value): value is Date => value instanceof Date,
  (value, context) => (typeof value === 'number' ? t.success(new Date(value)) : t.failure(value, context)),
  (value) => value.getTime(),
);

/** bytea */
export const bytes: t.Type<Buffer, Buffer> = new t.Type(
  'bytes',
  (value): value is Buffer => Buffer.isBuffer(value),
  (value, context) => (Buffer.isBuffer(value) ? t.success(value) : t.failure(value, context)),
  (value) => value,
);

/** `column | NULL` */
export const nullable = <A, O>(codec: t.Type<A, O>): t.Type<A | null, O | null> => t.union([codec, t.null]);
