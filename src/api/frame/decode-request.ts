/** Decodes path, query and body of a request with the codecs of its declaration. */
import { isLeft } from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import { report } from '../../codecs/report.ts';
import { Invalid, NotFound, type FieldProblem } from '../../domain/error.ts';
import type { Declaration } from './endpoint.ts';
import { isStorable } from './body/json-body.ts';

const notFound = ' not found';

/** A path id that does not decode is answered as NotFound. */
export function decodePath({ params: codec }: Declaration, given: Readonly<Record<string, string>>): unknown {
  if (codec === undefined) return given;
  const decoded = codec.decode(given);
  if (!isLeft(decoded)) return decoded.right;
  const [problem] = report(decoded.left);
  // `idOf` reports `<what> not found`, the message of NotFound.
  const what = problem?.message.endsWith(notFound) ? problem.message.slice(0, -notFound.length) : 'Resource';
  throw new NotFound(what);
}

interface Fields {
  readonly query: Readonly<Record<string, unknown>>;
  /** Parsed, or the raw body of an endpoint without a codec. */
  readonly body: unknown;
}

/** Every problem at once: those of the query, then those of the body, each in declaration order. */
export function decodeFields(
  declaration: Declaration,
  { query, body }: Fields,
): { readonly query: unknown; readonly body: unknown } {
  const problems: FieldProblem[] = [];
  const decode = (codec: t.Mixed | undefined, value: unknown): unknown => {
    if (codec === undefined) return undefined;
    const decoded = codec.decode(value);
    if (!isLeft(decoded)) return decoded.right;
    for (const problem of report(decoded.left)) problems.push(problem);
    return undefined;
  };
  const decodedQuery = decode(declaration.query, query);
  for (const problem of unstorable(query, decodedQuery)) problems.push(problem);
  const decodedBody = typeof declaration.body === 'object' ? decode(declaration.body, body) : body;
  if (problems.length > 0) throw Invalid.of(problems);
  return { query: decodedQuery, body: decodedBody };
}

/** Checks declared parameters only: unknown ones are ignored. */
function unstorable(query: Fields['query'], decoded: unknown): readonly FieldProblem[] {
  return Object.keys(decoded ?? {})
    .filter((field) => [query[field]].flat().some((text) => typeof text === 'string' && !isStorable(text)))
    .map((field) => ({ field, message: `${field} must not contain NUL characters` }));
}
