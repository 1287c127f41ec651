/** Checks responses against the OpenAPI document: the schema of their operation and status. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Endpoint } from '../../src/api/frame/endpoint.ts';
import { openApiDocument } from '../../src/api/frame/document/openapi.ts';
import { createRouter } from '../../src/api/frame/mount.ts';

export interface Contract {
  /** Throws when the document does not allow the response. Undocumented operations are not checked. */
  readonly check: (exchange: Exchange) => void;
  /** Compiles the schema at a JSON pointer of the document. */
  readonly schemaAt: (pointer: string) => ValidateFunction;
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly body: unknown;
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>;
}

export function createContract(endpoints: readonly Endpoint[]): Contract {
  const documented = endpoints.filter(({ declaration }) => !declaration.undocumented);
  const document = openApiDocument(documented);
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true, logger: false });
  formats.default(ajv);
  ajv.addSchema(document, 'document');
  const router = createRouter(documented, async () => undefined);

  const schemaAt = (pointer: string): ValidateFunction => {
    const found = ajv.getSchema(`document#${pointer}`);
    if (found === undefined) throw new Error(`The document has nothing at ${pointer}`);
    return found;
  };

  return {
    schemaAt,
    check({ method, path, status, contentType, body }) {
      const [route] = router.match(path, method).path;
      const template = String(route?.path ?? '').replaceAll(/:(\w+)/g, '{$1}');
      const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase();
      const operation = paths[template]?.[verb];
      if (operation === undefined) return;
      const response = operation.responses[status];
      const where = `${method} ${template} → ${status}`;
      if (response === undefined) throw new Error(`${where} is not in the document`);
      const content = Object.keys(contentOf(document, response));
      const mediaType = contentType?.split(';')[0]?.trim() ?? '';
      if (content.length === 0 || body === undefined) return;
      if (!content.includes(mediaType))
        throw new Error(`${where} has the media type ${mediaType}, not ${content.join()}`);
      if (mediaType !== 'application/json') return;
      const base = response.$ref?.slice(1) ?? `/paths/${escape(template)}/${verb}/responses/${status}`;
      const validate = schemaAt(`${base}/content/application~1json/schema`);
      if (!validate(body)) {
        throw new Error(
          `${where} breaks its schema: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body).slice(0, 2_000)}`,
        );
      }
    },
  };
}

export function escape(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

function contentOf(
  document: Readonly<Record<string, unknown>>,
  { $ref, content = {} }: { readonly $ref?: string; readonly content?: object },
): object {
  if ($ref === undefined) return content;
  const { responses } = document['components'] as { responses: Record<string, { content: object }> };
  return responses[$ref.split('/').at(-1) ?? '']?.content ?? {};
}
