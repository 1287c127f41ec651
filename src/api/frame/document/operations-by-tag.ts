/** Reads the operations of the API document, for other files that are generated from it. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';
import type { OpenApiDocument } from './openapi.ts';

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly tag: string;
  readonly parameters: readonly JsonSchema[];
  readonly content: Readonly<Record<string, JsonSchema>>;
}

/** Operations by tag, in the order of the document. */
export function operationsByTag(document: OpenApiDocument): ReadonlyMap<string, readonly Operation[]> {
  const groups = new Map<string, Operation[]>();
  for (const one of operationsOf(document)) groups.set(one.tag, [...(groups.get(one.tag) ?? []), one]);
  return groups;
}

function operationsOf(document: OpenApiDocument): readonly Operation[] {
  return Object.entries(document['paths'] as Record<string, Record<string, JsonSchema>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, one]) => ({
        method: method.toUpperCase(),
        path,
        operationId: one['operationId'] as string,
        summary: one['summary'] as string,
        description: one['description'] as string | undefined,
        tag: (one['tags'] as readonly string[])[0] ?? '',
        parameters: one['parameters'] as readonly JsonSchema[],
        content: ((one['requestBody'] as JsonSchema | undefined)?.['content'] ?? {}) as Record<
          string,
          JsonSchema
        >,
      })),
  );
}
