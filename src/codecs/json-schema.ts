/**
 * Converts io-ts codecs to JSON Schema 2020-12 (OpenAPI 3.1). A custom codec needs a schema from `describe`; the conversion
 * throws without one, so that the document matches the code.
 */
import * as t from 'io-ts';
import { ShapesType, StructType } from './struct-type.ts';

export type JsonSchema = { readonly [key: string]: unknown };

/** The schemas of named codecs by name; `components/schemas` of the document. */
export type NamedSchemas = Map<string, JsonSchema>;

interface Description {
  readonly keywords: JsonSchema;
  /** The codec to whose schema the keywords are added; undefined: the schema derived from the described codec. */
  readonly of: t.Mixed | undefined;
}

const descriptions = new WeakMap<t.Mixed, Description>();
const names = new WeakMap<t.Mixed, string>();

/**
 * Returns a copy of the codec with this schema: the keywords are added to those of `of`, or to the derived ones of a known
 * kind. A copy, because io-ts' own codecs are shared.
 */
export function describe<C extends t.Mixed>(codec: C, keywords: JsonSchema, of?: t.Mixed): C {
  const copy = copyOf(codec);
  const known = names.has(codec) ? { keywords: {}, of: codec } : descriptions.get(codec);
  descriptions.set(copy, { keywords: { ...known?.keywords, ...keywords }, of: of ?? known?.of });
  return copy;
}

/** Names the codec's schema in the document: PascalCase, one shape per name. */
export function named<C extends t.Mixed>(name: string, codec: C): C {
  const copy = copyOf(codec);
  const known = descriptions.get(codec);
  if (known !== undefined) descriptions.set(copy, known);
  names.set(copy, name);
  return copy;
}

export const nameOf = (codec: t.Mixed): string | undefined => names.get(codec);

function copyOf<C extends t.Mixed>(codec: C): C {
  return Object.assign(Object.create(Object.getPrototypeOf(codec) as object) as C, codec);
}

/**
 * With `schemas`, a named codec becomes a reference and its schema is added there; without, everything is inlined. Throws
 * for a codec without a schema, and for two shapes with one name.
 */
export function toJsonSchema(codec: t.Mixed, schemas?: NamedSchemas): JsonSchema {
  const name = names.get(codec);
  const schema = schemaOf(codec, schemas);
  if (name === undefined || schemas === undefined) return schema;
  const known = schemas.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
    throw new Error(`Two shapes are named ${name}`);
  }
  schemas.set(name, schema);
  return { $ref: `#/components/schemas/${name}` };
}

function schemaOf(codec: t.Mixed, schemas: NamedSchemas | undefined): JsonSchema {
  const { keywords, of } = descriptions.get(codec) ?? {};
  const derived = of === undefined ? derive(codec, schemas) : toJsonSchema(of, schemas);
  if (derived === undefined && keywords === undefined) {
    throw new Error(`The codec ${codec.name} has no JSON Schema: describe() it`);
  }
  return { ...derived, ...keywords };
}

function derive(codec: t.Mixed, schemas: NamedSchemas | undefined): JsonSchema | undefined {
  const inner = (one: t.Mixed): JsonSchema => toJsonSchema(one, schemas);
  if (codec instanceof t.StringType) return { type: 'string' };
  if (codec instanceof t.NumberType) return { type: 'number' };
  if (codec instanceof t.BooleanType) return { type: 'boolean' };
  if (codec instanceof t.NullType) return { type: 'null' };
  if (codec instanceof t.UnknownType) return {};
  if (codec instanceof t.AnyDictionaryType) return { type: 'object' };
  if (codec instanceof t.LiteralType) return literalSchema(codec.value);
  if (codec instanceof t.ArrayType || codec instanceof t.ReadonlyArrayType) {
    return { type: 'array', items: inner(codec.type as t.Mixed) };
  }
  if (codec instanceof t.DictionaryType)
    return { type: 'object', additionalProperties: inner(codec.codomain as t.Mixed) };
  if (codec instanceof ShapesType) return { oneOf: codec.shapes.map(inner) };
  if (codec instanceof StructType)
    return objectSchema({ ...codec.required, ...codec.optional }, Object.keys(codec.required), inner);
  if (codec instanceof t.InterfaceType) {
    const props = codec.props as t.Props;
    return objectSchema(props, Object.keys(props), inner);
  }
  if (codec instanceof t.PartialType) return objectSchema(codec.props as t.Props, [], inner);
  if (codec instanceof t.IntersectionType) {
    return intersectionSchema((codec.types as readonly t.Mixed[]).map(inner));
  }
  if (codec instanceof t.UnionType) return unionSchema(codec.types as readonly t.Mixed[], inner);
  return undefined;
}

function literalSchema(value: unknown): JsonSchema {
  return { type: Number.isInteger(value) ? 'integer' : typeof value, enum: [value] };
}

function objectSchema(
  props: t.Props,
  required: readonly string[],
  inner: (codec: t.Mixed) => JsonSchema,
): JsonSchema {
  const properties = Object.fromEntries(Object.entries(props).map(([key, codec]) => [key, inner(codec)]));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** Merges members of different types into one schema, such as `type: ['string', 'null']`, which client generators read best. */
function unionSchema(codecs: readonly t.Mixed[], inner: (codec: t.Mixed) => JsonSchema): JsonSchema {
  const members = codecs.map(inner);
  const types = members.map(({ type }) => type);
  const others = members.filter((member) => member['enum'] === undefined && member['type'] !== 'null');
  const mergeable =
    members.every((member) => typeof member['type'] === 'string' && member['enum'] === undefined) &&
    new Set(types).size === types.length;
  const list = members.find(({ type }) => type === 'array');
  const object = others.length > 1 ? members.find(({ type }) => type === 'object') : undefined;
  const first = list ?? object;
  // Generators have no type for "list or object" or "object or text" and use `any`; validators check the alternatives.
  if (first !== undefined) {
    const other = anyOf(members.filter((one) => one !== first));
    const test = list === undefined ? { type: 'object' } : { type: 'array', items: {} };
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    return { if: test, then: first, else: other };
  }
  return mergeable ? (Object.assign({}, ...members, { type: types }) as JsonSchema) : anyOf(members);
}

function anyOf(members: readonly JsonSchema[]): JsonSchema {
  const [only, ...others] = members;
  return only !== undefined && others.length === 0 ? only : { anyOf: members };
}

// Intersections of objects are one object in the document.
function intersectionSchema(schemas: readonly JsonSchema[]): JsonSchema {
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
