/** Codecs and builders of the response envelopes (Spec 4 and 7). */
import * as t from 'io-ts';
import { describe, nameOf, named } from '../../codecs/json-schema.ts';
import { errorCodes } from '../../domain/error-code.ts';
import { Integer, IsoDateTime } from '../../codecs/scalars.ts';
import { nullish, oneOf, struct } from '../../codecs/struct.ts';

const success = named('SuccessStatus', t.literal('success'));

/** The envelope of a named record has a name, too. */
function namedAfter<C extends t.Mixed>(data: t.Mixed, suffix: string, envelope: C): C {
  const name = nameOf(data);
  return name === undefined ? envelope : named(`${name}${suffix}`, envelope);
}

/** `{status, data}`: `data` is the record. */
export const record = <C extends t.Mixed>(data: C) =>
  namedAfter(data, 'Response', struct({ status: success, data }));

/** `{status, message, data}` */
const recordWithMessage = <C extends t.Mixed>(data: C) =>
  namedAfter(data, 'MessageResponse', struct({ status: success, message: t.string, data }));

/** `{status, message}`: the answer of a DELETE. */
export const Acknowledgement = named('Acknowledgement', struct({ status: success, message: t.string }));

const Pagination = named(
  'Pagination',
  struct({
    page: Integer,
    limit: Integer,
    total: Integer,
    totalPages: Integer,
  }),
);

const CursorPagination = named('CursorPagination', struct({ limit: Integer, nextCursor: nullish(t.string) }));

/** `{status, data: [], pagination: {page, limit, total, totalPages}}` */
export const pageOf = <C extends t.Mixed>(item: C) =>
  namedAfter(item, 'Page', struct({ status: success, data: t.readonlyArray(item), pagination: Pagination }));

/** `{status, data: [], pagination: {limit, nextCursor}}`; nextCursor is null at the end. */
export const cursorPageOf = <C extends t.Mixed>(item: C) =>
  namedAfter(
    item,
    'Page',
    struct({ status: success, data: t.readonlyArray(item), pagination: CursorPagination }),
  );

export const FieldProblem = named('FieldProblem', struct({ field: t.string, message: t.string }));
/** Problems of an input by field, in a successful answer. */
export const FieldProblems = t.readonlyArray(FieldProblem);

export const ErrorEnvelope = named(
  'ApiError',
  struct(
    {
      status: t.literal('error'),
      code: Integer,
      error_code: oneOf(errorCodes, 'ErrorCode'),
      message: t.string,
      timestamp: IsoDateTime,
    },
    {
      error: t.union([
        t.readonlyArray(FieldProblem),
        named('ProviderRefusal', struct({ providerCode: Integer, details: t.string })),
        named(
          'OldestCursor',
          struct({
            oldestCursor: describe(t.string, { description: 'The first cursor that works, as `after`.' }),
          }),
        ),
      ]),
    },
  ),
);
export type ErrorEnvelope = t.TypeOf<typeof ErrorEnvelope>;

/** The body of `record(codec)`. */
export const succeed = <const A>(data: A) => ({ status: 'success', data }) as const;

/** The body of `recordWithMessage(codec)`. */
export const succeedWith = <const A>(message: string, data: A) =>
  ({ status: 'success', message, data }) as const;

/** The body of `Acknowledgement`. */
export const acknowledge = (message: string) => ({ status: 'success', message }) as const;

/** The body of `pageOf(codec)`. */
export function page<A>(
  data: readonly A[],
  { page: number, limit, total }: { readonly page: number; readonly limit: number; readonly total: number },
) {
  return {
    status: 'success',
    data,
    pagination: { page: number, limit, total, totalPages: Math.ceil(total / limit) },
  } as const;
}

/** The body of `cursorPageOf(codec)`. */
export function cursorPage<A>(
  data: readonly A[],
  pagination: { readonly limit: number; readonly nextCursor: string | null },
) {
  return { status: 'success', data, pagination } as const;
}

interface PageOf<R, A> {
  readonly cursor: (last: R) => string;
  readonly present: (row: R) => A;
}

/** The body for one page of a list by cursor. */
export function presentPage<R, A>(
  { items, hasNext }: { readonly items: readonly R[]; readonly hasNext: boolean },
  limit: number,
  { cursor, present }: PageOf<R, A>,
) {
  const last = hasNext ? items.at(-1) : undefined;
  return cursorPage(items.map(present), { limit, nextCursor: last === undefined ? null : cursor(last) });
}

/** Page of rows that were read up to one beyond the limit; the extra row means that there is a next page. */
export const cutPage = <R, A>(found: readonly R[], limit: number, how: PageOf<R, A>) =>
  presentPage({ items: found.slice(0, limit), hasNext: found.length > limit }, limit, how);

/** The declared answers of `record`, `recordWithMessage`, `Acknowledgement` and the pages; `example` is the record in wire form. */
export const answer = <C extends t.Mixed>(description: string, data: C, example: unknown) => ({
  description,
  body: record(data),
  example: succeed(example),
});

export const answerWith = <C extends t.Mixed>(
  description: string,
  message: string,
  data: C,
  example: unknown,
) => ({ description, body: recordWithMessage(data), example: succeedWith(message, example) });

export const acknowledgement = (description: string, message: string) => ({
  description,
  body: Acknowledgement,
  example: acknowledge(message),
});

export const onePage = <C extends t.Mixed>(description: string, item: C, example: unknown) => ({
  description,
  body: pageOf(item),
  example: page([example], { page: 1, limit: 10, total: 1 }),
});

export const oneCursorPage = <C extends t.Mixed>(description: string, item: C, example: unknown) => ({
  description,
  body: cursorPageOf(item),
  example: cursorPage([example], { limit: 100, nextCursor: null }),
});
