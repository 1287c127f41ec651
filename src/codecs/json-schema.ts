/**
 * io-ts codecs as JSON Schema 2020-12 (OpenAPI 3.1). A custom codec must be described with `describe`:
 * one that is not stops the walk, so that the published document cannot silently lie.
 */
import * as t from 'io-ts';
import { StructType } from './struct-type.ts';

export type JsonSchema = { readonly [key: string]: unknown };

const described = new WeakMap<t.Mixed, JsonSchema>();

/**
 * The codec with the schema that `toJsonSchema` returns for it; for a known kind the keywords are added to the derived
 * ones. A copy: the codecs of io-ts are shared by everybody.
 */
export function describe<C extends t.Mixed>(codec: C, schema: JsonSchema): C {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(codec) as object) as C, codec);
  described.set(copy, { ...described.get(codec), ...schema });
  return copy;
}

/** Throws when it meets a codec it cannot describe. */
export function toJsonSchema(codec: t.Mixed): JsonSchema {
  const known = described.get(codec);
  const derived = derive(codec);
  if (derived === undefined && known === undefined) {
    throw new Error(`The codec ${codec.name} has no JSON Schema: describe() it`);
  }
  return { ...derived, ...known };
}

function derive(codec: t.Mixed): JsonSchema | undefined {
  if (codec instanceof t.StringType) return { type: 'string' };
  if (codec instanceof t.NumberType) return { type: 'number' };
  if (codec instanceof t.BooleanType) return { type: 'boolean' };
  if (codec instanceof t.NullType) return { type: 'null' };
  if (codec instanceof t.UnknownType) return {};
  if (codec instanceof t.AnyDictionaryType) return { type: 'object' };
  if (codec instanceof t.LiteralType) return { const: codec.value };
  if (codec instanceof t.KeyofType) return { type: 'string', enum: Object.keys(codec.keys) };
  if (codec instanceof t.ArrayType || codec instanceof t.ReadonlyArrayType) {
    return { type: 'array', items: toJsonSchema(codec.type) };
  }
  if (codec instanceof t.DictionaryType)
    return { type: 'object', additionalProperties: toJsonSchema(codec.codomain) };
  if (codec instanceof StructType)
    return objectSchema({ ...codec.required, ...codec.optional }, Object.keys(codec.required));
  if (codec instanceof t.InterfaceType) return objectSchema(codec.props, Object.keys(codec.props));
  if (codec instanceof t.PartialType) return objectSchema(codec.props, []);
  if (codec instanceof t.ExactType || codec instanceof t.ReadonlyType) return toJsonSchema(codec.type);
  if (codec instanceof t.RefinementType) return described.has(codec) ? toJsonSchema(codec.type) : undefined;
  if (codec instanceof t.IntersectionType) return intersectionSchema(codec.types as readonly t.Mixed[]);
  if (codec instanceof t.UnionType) return { anyOf: (codec.types as readonly t.Mixed[]).map(toJsonSchema) };
  return undefined;
}

function objectSchema(props: t.Props, required: readonly string[]): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(props).map(([key, codec]) => [key, toJsonSchema(codec)]),
  );
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

// Intersections of objects are one object in the document.
function intersectionSchema(codecs: readonly t.Mixed[]): JsonSchema {
  const schemas = codecs.map(toJsonSchema);
  if (!schemas.every((schema) => schema['type'] === 'object' && schema['properties'] !== undefined)) {
    return { allOf: schemas };
  }
  const required = schemas.flatMap((schema) => (schema['required'] as readonly string[] | undefined) ?? []);
  return {
    type: 'object',
    properties: Object.assign({}, ...schemas.map((schema) => schema['properties'])) as JsonSchema,
    ...(required.length > 0 && { required }),
  };
}
