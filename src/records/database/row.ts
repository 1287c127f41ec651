/** io-ts codecs as Slonik's result parsers: the row that leaves a statement is decoded, and extra columns are dropped. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { report } from '../../codecs/report.ts';

export type RowParser<A> = StandardSchemaV1<unknown, A>;

/** `sql.type(row(Codec))` */
export function row<A, O>(codec: t.Type<A, O>): RowParser<A> {
  return {
    '~standard': {
      version: 1,
      vendor: 'io-ts',
      validate: (value) => {
        const decoded = codec.decode(value);
        if (isRight(decoded)) return { value: decoded.right };
        return {
          issues: report(decoded.left).map(({ field, message }) => ({ message: `${field}: ${message}` })),
        };
      },
    },
  };
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
