/** `/openapi.json`, files generated from it, and a page that renders it without loading anything from other hosts. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { openApiDocument, type OpenApiDocument } from './openapi.ts';
import type { JsonSchema } from '../../../codecs/json-schema.ts';

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Messaging campaigns API</title>
    <link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Cpath d='M0 1h8v5H4L2 8V6H0z' fill='%230f766e'/%3E%3C/svg%3E">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <style>.swagger-ui .highlight-code > .microlight { max-height: 20em; overflow: auto }</style>
  </head>
  <body>
    <div id="page"></div>
    <noscript>This page needs JavaScript. The same as an OpenAPI document: <a href="/openapi.json">/openapi.json</a></noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

// The key survives a reload and is forgotten with the tab.
const startScript = `const kept = sessionStorage.getItem('apiKey');
// Searches path, method, name and summary of operations; the renderer's own search reads only tags, and no events.
const fits = (phrase, path, method, operation) => {
  const text = [path, method, operation.get('operationId'), operation.get('summary')].join(' ').toLowerCase();
  return phrase.toLowerCase().split(' ').every((word) => text.includes(word));
};
const search = (tags, phrase) => {
  const fitting = (one) => fits(phrase, one.get('path'), one.get('method'), one.get('operation'));
  return tags
    .map((tag, name) => (name.toLowerCase().includes(phrase.toLowerCase()) ? tag : tag.update('operations', (all) => all.filter(fitting))))
    .filter((tag) => tag.get('operations').size > 0);
};
const searchEvents = (all, { layoutSelectors }) => () => {
  const phrase = layoutSelectors.currentFilter();
  if (typeof phrase !== 'string' || 'webhooks events'.includes(phrase.toLowerCase())) return all();
  const fitting = ([name, [{ method, operation }]]) => fits(phrase, name, method, operation.get('operation'));
  return Object.fromEntries(Object.entries(all()).filter(fitting));
};
// Opens the sections with matches while a search is active.
const openFound = (filter, { getConfigs }) => (phrase) => {
  getConfigs().docExpansion = phrase ? 'list' : 'none';
  return filter(phrase);
};
const page = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  filter: true,
  plugins: [
    {
      fn: { opsFilter: search },
      statePlugins: {
        spec: { wrapSelectors: { selectWebhooksOperations: searchEvents } },
        layout: { wrapActions: { updateFilter: openFound } },
      },
    },
  ],
  onComplete: () => kept && page.preauthorizeApiKey('apiKey', kept),
  requestInterceptor: (request) => {
    const key = request.headers?.['X-API-Key'];
    if (key) sessionStorage.setItem('apiKey', key);
    else if (!request.loadSpec) sessionStorage.removeItem('apiKey');
    return request;
  },
});
`;

/** The document describes `operations` and its own address. */
export function documentation(operations: readonly Endpoint[]): readonly Endpoint[] {
  // Serialised once, because the document needs no key and may be requested often.
  let content: Buffer | undefined;
  const documentOf = () => openApiDocument([...operations, description]);
  const description: Endpoint = endpoint(
    {
      method: 'GET',
      path: '/openapi.json',
      operationId: 'getDescription',
      summary: 'Download this OpenAPI document',
      tag: 'Operations',
      access: 'public',
      responses: {
        200: { description: 'An OpenAPI 3.1 document', content: { 'application/json': { type: 'object' } } },
      },
      errors: [429],
    },
    async () => {
      content ??= Buffer.from(JSON.stringify(documentOf()));
      return { status: 200, content, contentType: 'application/json; charset=utf-8' };
    },
  );
  return [
    description,
    pagePart('/llms.txt', 'text/plain; charset=utf-8', () => llmsText(documentOf())),
    pagePart('/docs', 'text/html; charset=utf-8', () => html),
    pagePart('/docs/start.js', 'text/javascript; charset=utf-8', () => startScript),
    pagePart('/docs/swagger-ui.css', 'text/css; charset=utf-8', () => rendererFile('swagger-ui.css')),
    pagePart('/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', () =>
      rendererFile('swagger-ui-bundle.js'),
    ),
  ];
}

function pagePart(path: `/${string}`, contentType: string, read: () => string | Buffer): Endpoint {
  let content: string | Buffer | undefined;
  return endpoint(
    {
      method: 'GET',
      path,
      operationId: `get ${path}`,
      summary: 'Read a part of the documentation',
      tag: 'Operations',
      access: 'public',
      undocumented: true,
      responses: { 200: { description: 'The file', content: { [contentType]: { type: 'string' } } } },
    },
    async () => ({
      status: 200,
      content: (content ??= read()),
      contentType,
      headers: { 'Content-Security-Policy': contentSecurityPolicy },
    }),
  );
}

function rendererFile(name: string) {
  return readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
}

/** `/llms.txt`: the document in short, as Markdown (https://llmstxt.org). */
function llmsText(document: OpenApiDocument): string {
  const { title, description } = document['info'] as { readonly title: string; readonly description: string };
  const [summary = '', ...guide] = description.split('\n\n');
  const operations = [...operationsByTag(document)].map(
    ([tag, list]) =>
      `### ${tag}\n\n${list.map((one) => `- \`${one.method} ${one.path}\` (${one.operationId}): ${one.summary}`).join('\n')}`,
  );
  return `# ${title}\n\n> ${summary}\n\n- [OpenAPI document](/openapi.json): every field, limit and example\n- [Documentation page](/docs)\n\n${guide.join('\n\n')}\n\n## Operations\n\n${operations.join('\n\n')}\n`;
}

interface Operation {
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
function operationsByTag(document: OpenApiDocument): ReadonlyMap<string, readonly Operation[]> {
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
