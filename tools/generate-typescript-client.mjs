/** Part of `npm run openapi`: writes the types and operations of clients/typescript from docs/openapi.json. `--into FOLDER` changes the target. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const document = JSON.parse(await readFile(at('docs/openapi.json'), 'utf8'));
const into = process.argv[2] === '--into' ? `${process.argv[3]}/` : at('clients/typescript/src/');
const head = '/** Generated from the OpenAPI document by `npm run openapi`. */\n';
// Written by hand, or called by the provider alone.
const leftOut = new Set(['uploadCampaignCsv', 'receiveProviderCallback', 'verifyProviderWebhook']);

function comment(text, indent = '') {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n`;
}

const wordOf = (type) => ({ integer: 'number', null: 'null' })[type] ?? type;

/** A schema as a type. */
function typeOf(schema, indent = '') {
  if (schema === undefined) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.if) return `${typeOf(schema.then, indent)} | ${typeOf(schema.else, indent)}`;
  if (schema.oneOf) return schema.oneOf.map((one) => typeOf(one, indent)).join(' | ');
  const known = schema['x-extensible-enum'];
  // An open set: editors suggest the known values, and any other text is allowed.
  if (known) return [...known.map((value) => JSON.stringify(value)), '(string & {})'].join(' | ');
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, indent)).join(' | ');
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  if (schema.type === 'array') return `readonly (${typeOf(schema.items, indent)})[]`;
  if (schema.type !== 'object') return wordOf(schema.type) ?? 'unknown';
  return objectOf(schema, indent);
}

function objectOf({ properties = {}, required = [], additionalProperties }, indent) {
  const fields = Object.entries(properties).map(([name, property]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? '' : '?';
    const inner = `${indent}  `;
    return `${comment(property.description, inner)}${inner}readonly ${key}${mark}: ${typeOf(property, inner)};\n`;
  });
  if (fields.length > 0) return `{\n${fields.join('')}${indent}}`;
  return `{ readonly [key: string]: ${additionalProperties ? typeOf(additionalProperties, indent) : 'unknown'} }`;
}

const schemas = Object.entries(document.components.schemas)
  // The class of that name says more.
  .filter(([name]) => name !== 'ApiError')
  .map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};\n`);

const used = new Set();
const named = (schema) => {
  const type = typeOf(schema, '  ');
  for (const [word] of type.matchAll(/\b[A-Z]\w+/g)) if (document.components.schemas[word]) used.add(word);
  return type;
};

function operation(path, method, { operationId, summary, parameters, requestBody, responses }) {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const answer = success?.content?.['application/json']?.schema;
  if (leftOut.has(operationId) || answer === undefined) return '';
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const query = parameters.filter((one) => one.in === 'query');
  const body = requestBody?.content?.['application/json']?.schema;
  const optional = query.every(({ required }) => !required);
  const fields = Object.fromEntries(
    query.map(({ name, schema, description }) => [name, { ...schema, description }]),
  );
  const required = query.filter((one) => one.required).map(({ name }) => name);
  const idempotent = parameters.some(({ name }) => name === 'Idempotency-Key');
  const args = [
    'client: Client',
    ...inPath.map((name) => `${name}: string`),
    ...(body ? [`body: ${named(body)}${requestBody.required ? '' : ' = {}'}`] : []),
    ...(query.length > 0
      ? [`query: ${named({ type: 'object', properties: fields, required })}${optional ? ' = {}' : ''}`]
      : []),
    'options: CallOptions = {}',
  ];
  const url = path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent($1)}');
  const parts = [
    `method: '${method.toUpperCase()}'`,
    `path: \`${url}\``,
    ...(body ? ['body'] : []),
    ...(query.length > 0 ? ['query'] : []),
    ...(idempotent ? ['idempotent: true'] : []),
    '...options',
  ];
  return `${comment(summary)}export const ${operationId} = (${args.join(', ')}): Promise<${named(answer)}> =>\n  client.send({ ${parts.join(', ')} });\n`;
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => operation(path, method, one)),
);
const imports = `import type { CallOptions, Client } from './client.ts';\nimport type { ${[...used].toSorted().join(', ')} } from './schemas.ts';\n\n`;

await writeFile(`${into}schemas.ts`, `${head}\n${schemas.join('\n')}`);
await writeFile(
  `${into}operations.ts`,
  `${head}${imports}${operations.filter((text) => text !== '').join('\n')}`,
);
