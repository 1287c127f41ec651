/**
 * The largest inputs that the limits allow, in shapes whose processing could block the event loop. Endpoints and fields are
 * read from the routes, so that new ones are tested automatically.
 */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { sql } from 'slonik';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Declaration } from '../../../src/api/frame/endpoint.ts';
import { routes } from '../../../src/api/routes.ts';
import { exampleTemplateId } from '../../../src/codecs/template.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { toJsonSchema, type JsonSchema } from '../../../src/codecs/json-schema.ts';
import { StructType } from '../../../src/codecs/struct-type.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

import { largeInputs } from '../../support/hostile-campaigns.ts';
import {
  mebibyte,
  record,
  repeated,
  shapes,
  slack,
  withValue,
  type Hostile,
} from '../../support/hostile-json.ts';
import { startTemporal } from '../../support/temporal.ts';
import {
  blockOf,
  mostBlockedMs,
  startWatchedServer,
  type WatchedServer,
} from '../../support/watched-server.ts';

/** Twice as long for bodies of 8 MiB: garbage collection of their millions of values stops the process for a moment. */
const mostBlockedByLargestMs = 2 * mostBlockedMs;
const mostAnswerBytes = 64 * 1024;

let api: TestApi;
let server: WatchedServer;
let workspace: SeededWorkspace;
let pool: Pool;
let temporal: TestWorkflowEnvironment;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${exampleTemplateId}, ${workspace.workspaceId}, ${workspace.businessAccountId}, 'hostile', 'hostile',
      'en_US', 'MARKETING', 'APPROVED', ${JSON.stringify([{ type: 'BODY', text: 'Hi {{1}}' }])}::jsonb)`);
  temporal = await startTemporal();
  server = await startWatchedServer(api, temporal.address);
  pool = new Pool(`http://127.0.0.1:${server.port}`, { headersTimeout: 120_000 });
});
afterAll(async () => {
  await pool.destroy();
  await server.close();
  await temporal.teardown();
  await api.close();
});

/** The paths of the fields that a schema names, however it nests them. */
function fieldsOf(schema: JsonSchema, depth = 3): readonly (readonly string[])[] {
  const inner = (part: unknown) => fieldsOf(part as JsonSchema, depth);
  const branches = ['if', 'then', 'else'].flatMap((key) => (key in schema ? inner(schema[key]) : []));
  const any = ((schema['anyOf'] ?? schema['oneOf'] ?? []) as JsonSchema[]).flatMap(inner);
  const own = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).flatMap(
    ([name, member]) => [
      [name],
      ...(depth > 1 ? fieldsOf(member, depth - 1) : []).map((path) => [name, ...path]),
    ],
  );
  const paths = [...branches, ...any, ...own];
  return [...new Map(paths.map((path) => [path.join('.'), path])).values()];
}

/** Shapes that are also tried in bodies of more than a mebibyte: each costs a second. */
const inFull = new Set([
  'one character',
  'a key',
  'a number',
  'blanks',
  'as many keys as fit',
  'short texts',
  'telephone numbers that only libphonenumber can check',
  'objects',
]);

/** Shapes that are also tried inside nested fields, of which there are many. */
const inside = new Set(['placeholders', '10,000 keys of a wrong type', 'objects']);

const ordinary = shapes(mebibyte - slack, 99_000);
const ofThose = (all: ReadonlyMap<string, () => string>, names: ReadonlySet<string>) =>
  [...all].filter(([name]) => names.has(name));

/**
 * `npm test` tries one input of twelve in each field, one of six in nested ones, and not the same ones in the next field: fields
 * share their codecs. The release tries all.
 */
const [step, nestedStep] = process.env['EVERY_CASE'] === undefined ? [12, 6] : [1, 1];
const sample = <T>(place: number, all: readonly T[], every = step): readonly T[] =>
  all.filter((_, at) => (at + place) % every === 0);

function bodiesOf(declaration: Declaration, start: number): readonly Hostile[] {
  const { body, bodyExample = {}, bodyLimit = mebibyte } = declaration;
  if (body === undefined || typeof body !== 'object') return [];
  const fields = fieldsOf(toJsonSchema(body));
  const inputs = (path: readonly string[], known: Iterable<readonly [string, () => string]>, size = '') =>
    [...known].map(([name, json]) => ({
      what: `${path.join('.')}: ${name}${size}`,
      body: () => withValue(bodyExample, path, json()),
    }));
  const outer = fields.filter(({ length }) => length === 1);
  const inner = fields.filter(({ length }) => length > 1);
  const largest = bodyLimit > mebibyte ? ofThose(shapes(bodyLimit - slack, 1_400_000), inFull) : [];
  return [
    { what: 'unknown fields', body: () => withValue(bodyExample, ['unknown'], record('"x"', 10_000)) },
    ...sample(start, [
      ...inputs(['unknown'], largest, ', in full'),
      ...(largeInputs[declaration.operationId] ?? []),
    ]),
    ...outer.flatMap((path, place) => inputs(path, sample(start + place, [...ordinary]))),
    ...inner.flatMap((path, place) =>
      inputs(path, sample(start + place, ofThose(ordinary, inside), nestedStep)),
    ),
  ];
}

function queriesOf({ query }: Declaration): readonly Hostile[] {
  if (!(query instanceof StructType)) return [];
  const names = Object.keys({ ...query.required, ...query.optional });
  const values = ['a', '9', '%2C', '%20', 'a%2C', '-', '.', '%F0%9F%98%80'];
  return names.flatMap((name) =>
    values.map((value) => ({ what: `?${name}=${value}…`, query: `${name}=${repeated(value, 14_000)}` })),
  );
}

function pathsOf({ path }: Declaration): readonly Hostile[] {
  if (!path.includes(':')) return [];
  return ['a', '-', '0-', '%41'].map((part) => ({
    what: `path of ${part}…`,
    path: path.replaceAll(/:\w+/g, repeated(part, 7_000)),
  }));
}

const operations = routes
  .map(({ declaration }) => declaration)
  .filter(({ undocumented }) => !undocumented)
  .map((declaration) => ({ title: `${declaration.method} ${declaration.path}`, declaration }));

async function send(declaration: Declaration, { path, query = '', body, headers }: Hostile) {
  const target = path ?? declaration.path.replaceAll(/:\w+/g, randomUUID());
  const { statusCode, body: answer } = await pool.request({
    method: declaration.method,
    path: query === '' ? target : `${target}?${query}`,
    headers: {
      ...(declaration.access !== 'public' && {
        'X-API-Key': declaration.access === 'operator' ? workspace.operatorKey : workspace.channelKey,
      }),
      'Content-Type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body: body() }),
  });
  return { status: statusCode, size: (await answer.bytes()).byteLength };
}

/** Operations that take nothing from the caller are left out. */
const tried = operations
  .map(({ title, declaration }, place) => ({
    title,
    declaration,
    inputs: [...bodiesOf(declaration, place), ...queriesOf(declaration), ...pathsOf(declaration)],
  }))
  .filter(({ inputs }) => inputs.length > 0);

it.each(tried)(
  '$title is blocked by none of the largest hostile inputs',
  { timeout: 600_000 },
  async ({ declaration, inputs }) => {
    for (const input of inputs) {
      const {
        answer: { status, size },
        blocked,
      } = await blockOf(server, mostBlockedMs, () => send(declaration, input));
      expect.soft(status, input.what).not.toBe(500);
      expect.soft(size, input.what).toBeLessThan(mostAnswerBytes);
      expect
        .soft(blocked, `${input.what} (${status})`)
        .toBeLessThan(input.what.endsWith('in full') ? mostBlockedByLargestMs : mostBlockedMs);
    }
  },
);
