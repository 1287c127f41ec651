/** Building blocks of the codecs: objects with required and optional fields, refinements with a message, value lists. */
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { fieldName } from './field-name.ts';
import { describe, named, type JsonSchema } from './json-schema.ts';
import { ShapesType, StructType } from './struct-type.ts';

/**
 * An object that drops unknown fields. Reports required fields first, each kind in declaration order; `inOrder` mixes them.
 */
export function struct<R extends t.Props>(required: R): StructType<t.TypeOfProps<R>, t.OutputOfProps<R>>;
export function struct<R extends t.Props, O extends t.Props>(
  required: R,
  optional: O,
): StructType<t.TypeOfProps<R> & t.TypeOfPartialProps<O>, t.OutputOfProps<R> & t.OutputOfPartialProps<O>>;
export function struct(required: t.Props, optional: t.Props = {}): t.Mixed {
  return new StructType(required, optional);
}

export const optional = <O extends t.Props>(fields: O) => struct({}, fields);

/** Decodes the codec's values with another function; the document keeps its schema. */
export const readAs = <A, O>(codec: t.Type<A, O>, validate: t.Validate<unknown, A>): t.Type<A, O> =>
  describe(new t.Type<A, O>(codec.name, codec.is, validate, codec.encode), {}, codec);

/** Documents the codec as a choice of shapes. It decodes the fields of all shapes; the handler tells the shapes apart. */
export const shownAsOneOf = <A, O>(codec: t.Type<A, O>, shapes: readonly t.Mixed[]): t.Type<A, O> =>
  describe(new t.Type<A, O>(codec.name, codec.is, codec.validate, codec.encode), {}, new ShapesType(shapes));

/** The same object; its problems are reported in the order in which the specification declares the fields. */
export function inOrder<A, O>(codec: t.Type<A, O>, fields: readonly string[]): t.Type<A, O> {
  return readAs(codec, (input, context) => {
    const decoded = codec.validate(input, context);
    if (isRight(decoded)) return decoded;
    const placeOf = ({ context: path }: t.ValidationError) =>
      fields.indexOf(path.slice(context.length).find(({ key }) => fields.includes(key))?.key ?? '');
    return t.failures(decoded.left.toSorted((one, other) => placeOf(one) - placeOf(other)));
  });
}

/** The codec with one message for every problem of the field, its absence included. */
export function withMessage<A, O>(codec: t.Type<A, O>, message: string): t.Type<A, O> {
  return readAs(codec, (input, context) => {
    const decoded = codec.validate(input, context);
    return isRight(decoded) ? decoded : t.failure(input, context, message);
  });
}

/** The codec; each of its problems, an absent value included, ends with `hint`, which says what to send. */
export function needed<A, O>(codec: t.Type<A, O>, hint: string): t.Type<A, O> {
  return readAs(codec, (input, context) => {
    if (input === undefined) return t.failure(input, context, `${fieldName(context)} is required: ${hint}`);
    const decoded = codec.validate(input, context);
    if (isRight(decoded)) return decoded;
    const hinted = (error: t.ValidationError): t.ValidationError =>
      error.message?.endsWith(hint) === false ? { ...error, message: `${error.message}: ${hint}` } : error;
    return t.failures(decoded.left.map(hinted));
  });
}

/** A refinement that has its own message; `schema` adds its keywords to the document. */
export function refined<A, O>(
  codec: t.Type<A, O>,
  test: (value: A) => boolean,
  message: string | ((field: string) => string),
  schema: JsonSchema,
): t.Type<A, O> {
  const wrapped = new t.Type<A, O>(
    codec.name,
    (value): value is A => codec.is(value) && test(value),
    (input, context) => {
      const decoded = codec.validate(input, context);
      if (!isRight(decoded) || test(decoded.right)) return decoded;
      const text = typeof message === 'string' ? message : message(fieldName(context));
      return t.failure(input, context, text);
    },
    codec.encode,
  );
  return describe(wrapped, schema, codec);
}

/** Refuses text that consists only of white space. */
export function notBlank(codec: t.Type<string>): t.Type<string> {
  const message = (field: string) => `${field} must not be empty`;
  return refined(codec, (value) => value.trim() !== '', message, { pattern: String.raw`\S` });
}

/** One of the values that a domain module exports `as const`. `name` is the name of its schema in the document. */
export function oneOf<const V extends readonly string[]>(
  values: V,
  name?: string,
): t.Type<V[number], string> {
  const codec = new t.Type<V[number], string>(
    `one of ${values.join(', ')}`,
    (value): value is V[number] => values.some((candidate) => candidate === value),
    (input, context) =>
      values.some((candidate) => candidate === input)
        ? t.success(input as V[number])
        : t.failure(input, context),
    (value) => value,
  );
  const described = describe(codec, { type: 'string', enum: values });
  return name === undefined ? described : named(name, described);
}

/** `codec | null` */
export function nullish<A, O>(codec: t.Type<A, O>): t.Type<A | null, O | null> {
  return t.union([codec, t.null]);
}
