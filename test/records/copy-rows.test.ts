import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCopyRows } from '../../src/records/copy-rows.ts';
import { openLoadConnection } from '../../src/records/load-connection.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('CREATE TABLE copied (place int, single text, several text[])');
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const character = fc.constantFrom(...'a7N. ,"\'{}\\\t\n\r\b\vé€😀');
const text = fc.oneof(
  fc.string({ unit: character, maxLength: 12 }),
  fc.constantFrom('NULL', String.raw`\N`, String.raw`\.`, '', 'x'.repeat(70_000)),
);

test('Postgres reads the values that were written', async () => {
  const connection = await openLoadConnection(database.url, 'test');
  const row = fc.record({
    single: fc.oneof(text, fc.constant(null)),
    several: fc.oneof(fc.array(text, { minLength: 1, maxLength: 4 }), fc.constant(null)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (given) => {
      const rows = createCopyRows();
      for (const [place, { single, several }] of given.entries()) {
        rows.field(place);
        rows.field(single);
        if (several === null) rows.field(null);
        else rows.array(several);
        rows.endRow();
      }
      await client.query('TRUNCATE copied');
      await connection.copyRows('COPY copied FROM STDIN', rows.take());
      const { rows: read } = await client.query('SELECT single, several FROM copied ORDER BY place');
      expect(read).toEqual(given);
    }),
    { numRuns: 40 },
  );
  await connection.end();
});

test('begins anew when the rows are taken', () => {
  const rows = createCopyRows();
  rows.field('a');
  rows.field(1);
  rows.endRow();
  const first = rows.take();
  expect(rows.size()).toBe(0);
  rows.field(null);
  rows.endRow();
  expect(first.toString()).toBe('a\t1\n');
  expect(rows.take().toString()).toBe('\\N\n');
});
