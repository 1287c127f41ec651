import { isRight } from 'fp-ts/lib/Either.js';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Declaration } from '../../../src/api/frame/endpoint.ts';
import { ErrorEnvelope } from '../../../src/api/frame/envelope.ts';
import { routes } from '../../../src/api/routes.ts';
import { StructType } from '../../../src/codecs/struct-type.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let other: SeededWorkspace;

beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  other = await api.seedWorkspace();
});
afterAll(() => api.close());

const operations = routes
  .map(({ declaration }) => declaration)
  .filter(({ undocumented, access }) => !undocumented && access !== 'public')
  .map((declaration) => ({ title: `${declaration.method} ${declaration.path}`, declaration }));

// Unusual JSON values: wrong types, extreme numbers, invalid text, names of prototype properties.
const oddity = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, 2 ** 53, '', ' ', [], {}, [[]], [null]),
  fc.constantFrom(
    '\u0000',
    '\ud800',
    '{{firstName}}',
    "'; DROP TABLE contact; --",
    '%',
    '\\',
    '9'.repeat(400),
  ),
  fc.constantFrom(
    '1e1000',
    'NaN',
    '0x10',
    '2024-02-30T00:00:00Z',
    '99999-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-12:00',
    '../../etc/passwd',
  ),
  fc.constantFrom('http://169.254.169.254/', 'http://[::1]:0/', 'javascript:alert(1)', 'http://a b/'),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.uuid(),
  fc.integer(),
  fc.double(),
  fc.array(fc.anything({ maxDepth: 1 }), { maxLength: 4 }),
  fc.dictionary(
    fc.constantFrom('__proto__', 'constructor', 'toString', 'id', 'body', '1'),
    fc.anything({ maxDepth: 1 }),
    {
      maxKeys: 3,
    },
  ),
);

/** The example with some of its values, at any depth, replaced by unusual ones. */
function mutated(example: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(example)) {
    return fc.oneof(
      { weight: 6, arbitrary: fc.tuple(...example.map(mutated)) },
      { weight: 1, arbitrary: oddity },
    );
  }
  if (typeof example === 'object' && example !== null) {
    const members = Object.fromEntries(Object.entries(example).map(([key, value]) => [key, mutated(value)]));
    return fc.oneof(
      { weight: 12, arbitrary: fc.record(members, { requiredKeys: [] }) },
      { weight: 1, arbitrary: oddity },
    );
  }
  return fc.oneof({ weight: 4, arbitrary: fc.constant(example) }, { weight: 1, arbitrary: oddity });
}

function queryOf({ query }: Declaration): fc.Arbitrary<string> {
  const names = query === undefined ? ['page'] : Object.keys(fieldsOf(query));
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '0',
      '-1',
      '1',
      '1e9',
      '99999999999999999999',
      '%00',
      '%ED%A0%80',
      '%',
      'a%27b',
      'null',
      '[]',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59-12:00',
    ),
    fc.string({ maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  return fc
    .array(fc.tuple(fc.constantFrom(...names, '__proto__', 'unknown'), value), { maxLength: 4 })
    .map((pairs) => pairs.map(([name, text]) => `${name}=${text}`).join('&'));
}

function fieldsOf(codec: unknown): Record<string, unknown> {
  if (codec instanceof StructType) return { ...codec.required, ...codec.optional };
  throw new Error('The query is no struct');
}

function pathOf({ path }: Declaration): fc.Arbitrary<string> {
  const id = fc.oneof(
    fc.uuid(),
    fc.constantFrom(other.channelId, '1', '%00', '%ED%A0%80', '..%2f', "'", '%', 'null', 'x'.repeat(2_000)),
  );
  const names = path.match(/:\w+/g) ?? [];
  return fc
    .tuple(...names.map(() => id))
    .map((ids) =>
      ids.reduce((made, value, index) => made.replace(names[index] ?? '', value), path as string),
    );
}

const headersOf = fc.record(
  {
    'Content-Type': fc.constantFrom(
      'application/json',
      'application/json; charset=utf-16',
      'text/csv',
      'multipart/form-data; boundary=x',
    ),
    'Content-Encoding': fc.constantFrom('identity', 'gzip', 'deflate', 'x'),
    'Idempotency-Key': fc.constantFrom('k', 'x'.repeat(300), ' '),
    Accept: fc.constantFrom('text/csv', 'application/json', '*/*', ';'),
    'X-Request-Id': fc.constantFrom('ok', 'x'.repeat(500), '<script>'),
  },
  { requiredKeys: [] },
);

function serialise(body: unknown): string {
  return (
    JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ?? ''
  );
}

describe.each(operations)('$title', ({ declaration }) => {
  it('answers every malformed request with the envelope and never with a 5xx', async () => {
    const requests = fc.record({
      path: pathOf(declaration),
      query: queryOf(declaration),
      headers: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: headersOf }),
      body: fc.oneof(
        { weight: 12, arbitrary: mutated(declaration.bodyExample ?? {}).map(serialise) },
        { weight: 1, arbitrary: fc.constantFrom('', '{', '[]', 'null', '"x"', '{"a":1,"a":2}', '\u0000') },
      ),
    });
    const sends = declaration.method !== 'GET';
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, query, headers, body }) => {
        const response = await api.send(declaration.method, query === '' ? path : `${path}?${query}`, {
          key: declaration.access === 'operator' ? workspace.operatorKey : workspace.channelKey,
          headers,
          ...(sends && { body }),
        });
        expect(response.status, response.text).toBeLessThan(500);
        if (response.status >= 400) expect(isRight(ErrorEnvelope.decode(response.body))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

it('creates nothing for another workspace', async () => {
  const client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(`
    SELECT table_name AS name FROM information_schema.columns
    WHERE column_name = 'workspace_id' AND table_schema = 'public'`);
  for (const { name } of rows.filter((row) => !seeded.has(row.name))) {
    const found = await client.query(`SELECT 1 FROM ${name} WHERE workspace_id = $1`, [other.workspaceId]);
    expect.soft(found.rowCount, name).toBe(0);
  }
  await client.end();
});

const seeded = new Set([
  'api_key',
  'business_account',
  'channel',
  'wallet',
  'workspace_feature',
  'audit_entry',
]);
