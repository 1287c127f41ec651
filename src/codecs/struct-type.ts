import { isLeft, isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';

interface Field {
  readonly key: string;
  readonly codec: t.Mixed;
}

interface OptionalField extends Field {
  /** True when the codec refuses undefined: an absent field is then not given to it. */
  readonly skipAbsent: boolean;
}

/**
 * Decodes and encodes like `t.exact(t.intersection([t.type(required), t.partial(optional)]))`, but in one pass. The composed
 * codec copies the object once per layer, and creates and drops an error for each absent optional field, which took most of
 * the time for small bodies.
 */
export class StructType<A, O> extends t.Type<A, O> {
  readonly required: t.Props;
  readonly optional: t.Props;

  constructor(required: t.Props, optional: t.Props) {
    const fields: readonly Field[] = fieldsOf(required);
    const optionals = fieldsOf(optional).map((field): OptionalField => {
      return { ...field, skipAbsent: isLeft(field.codec.decode(undefined)) };
    });
    const composed = t.intersection([t.type(required), t.partial(optional)]);
    super(
      composed.name,
      (value): value is A => composed.is(value),
      (input, context) => decode(input, context, fields, optionals) as t.Validation<A>,
      (value) => encode(value as Fields, fields, optionals) as O,
    );
    this.required = required;
    this.optional = optional;
  }
}

/** Shows as `oneOf` in the document; decodes nothing by itself (see `shownAsOneOf`). */
export class ShapesType extends t.Type<unknown> {
  readonly shapes: readonly t.Mixed[];

  constructor(shapes: readonly t.Mixed[]) {
    super('shapes', t.unknown.is, t.unknown.validate, t.identity);
    this.shapes = shapes;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(props: t.Props): readonly Field[] {
  return Object.entries(props).map(([key, codec]) => ({ key, codec }));
}

/** Problems of required fields come first, each kind in declaration order. */
function decode(
  input: unknown,
  context: t.Context,
  required: readonly Field[],
  optional: readonly OptionalField[],
): t.Validation<Fields> {
  if (!t.UnknownRecord.is(input)) return t.failure(input, context);
  const decoded: Record<string, unknown> = {};
  const problems: t.ValidationError[] = [];
  for (const { key, codec } of required) {
    const field = codec.validate(input[key], t.appendContext(context, key, codec, input[key]));
    if (isRight(field)) decoded[key] = field.right;
    else addAll(problems, field.left);
  }
  for (const { key, codec, skipAbsent } of optional) {
    const value = input[key];
    if (value === undefined && skipAbsent) continue;
    const field = codec.validate(value, t.appendContext(context, key, codec, value));
    if (isLeft(field)) addAll(problems, field.left);
    else if (field.right !== undefined) decoded[key] = field.right;
  }
  return problems.length === 0 ? t.success(decoded) : t.failures(problems);
}

// Does not spread `more`: a list can have more problems than a call can have arguments.
function addAll<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}

function encode(value: Fields, required: readonly Field[], optional: readonly Field[]): Fields {
  const encoded: Record<string, unknown> = {};
  for (const { key, codec } of required) encoded[key] = codec.encode(value[key]);
  for (const { key, codec } of optional) {
    if (value[key] !== undefined) encoded[key] = codec.encode(value[key]);
  }
  return encoded;
}
