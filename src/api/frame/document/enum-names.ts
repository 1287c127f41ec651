/** Names of enum values for generators whose languages have no scope for them, such as Go. */
import type { NamedSchemas } from '../../../codecs/json-schema.ts';

const upperSnake = (text: string): string =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase();

const valuesOf = (schema: Readonly<Record<string, unknown>>): readonly string[] =>
  schema['type'] === 'string' && Array.isArray(schema['enum']) ? schema['enum'].map(String) : [];

/** Gives an enum names with its own name in front if it shares a value with another enum. */
export function withEnumNames(schemas: NamedSchemas): NamedSchemas {
  const uses = new Map<string, number>();
  for (const schema of schemas.values())
    for (const value of valuesOf(schema)) uses.set(upperSnake(value), (uses.get(upperSnake(value)) ?? 0) + 1);
  return new Map(
    [...schemas].map(([name, schema]) => {
      const values = valuesOf(schema);
      if (values.every((value) => uses.get(upperSnake(value)) === 1)) return [name, schema];
      const names = values.map((value) => upperSnake(`${name}_${value}`));
      return [name, { ...schema, 'x-enum-varnames': names }];
    }),
  );
}
