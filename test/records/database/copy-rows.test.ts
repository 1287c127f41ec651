import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCopyRows } from '../../../src/records/database/copy-rows.ts';
import { openLoadConnection } from '../../../src/records/database/load-connection.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let client: pg.Client;

const columns = ['place', 'single', 'several', 'id', 'made', 'at', 'yes', 'fields'];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  await client.query(
    'CREATE TABLE copied (place int, single text, several text[], id uuid, made uuid, at timestamptz, yes bool, fields jsonb)',
  );
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const character = fc.constantFrom(...'a7N. ,"\'{}\\\t\n\r\b\vé€😀');
const text = fc.oneof(
  fc.string({ unit: character, maxLength: 12 }),
  fc.constantFrom('NULL', String.raw`\N`, String.raw`\.`, '', 'x'.repeat(70_000), '€'.repeat(70_000)),
);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.oneof(values, fc.constant(null));

async function copy(statement: string, rows: Buffer): Promise<void> {
  const connection = await openLoadConnection(database.ownerUrl, 'test');
  try {
    await connection.copyRows(statement, rows);
    await connection.commit();
  } finally {
    connection.destroy();
  }
}

test('Postgres reads the values that were written', async () => {
  const row = fc.record({
    place: orNull(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
    single: orNull(text),
    several: orNull(fc.array(text, { maxLength: 4 })),
    id: orNull(fc.uuid()),
    made: fc.uuid(),
    at: fc.date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
    yes: fc.boolean(),
    fields: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 8 }), async (given) => {
      const rows = createCopyRows(columns.length);
      for (const { place, single, several, id, made, at, yes, fields } of given) {
        rows.beginRow();
        rows.int4(place);
        rows.text(single);
        rows.textArray(several);
        rows.uuid(id);
        rows.uuidBytes(Buffer.from(made.replaceAll('-', ''), 'hex'));
        rows.timestamptz(at);
        rows.bool(yes);
        rows.jsonb(JSON.stringify(fields));
      }
      await client.query('TRUNCATE copied');
      await copy('COPY copied FROM STDIN (FORMAT binary)', rows.take());
      const { rows: read } = await client.query('SELECT * FROM copied ORDER BY ctid');
      expect(read).toEqual(given);
    }),
    { numRuns: 40 },
  );
});

test('begins anew when the rows are taken', async () => {
  await client.query('TRUNCATE copied');
  const rows = createCopyRows(2);
  for (const id of [randomUUID(), randomUUID()]) {
    rows.beginRow();
    rows.int4(1);
    rows.uuid(id);
    expect(rows.size()).toBe(30);
    await copy('COPY copied (place, id) FROM STDIN (FORMAT binary)', rows.take());
    expect(rows.size()).toBe(0);
    expect((await client.query('SELECT FROM copied WHERE id = $1', [id])).rowCount).toBe(1);
  }
  expect((await client.query('SELECT FROM copied')).rowCount).toBe(2);
});

test('a refused COPY says why', async () => {
  const rows = createCopyRows(1);
  rows.beginRow();
  rows.text('a\0b');
  await expect(copy('COPY copied (single) FROM STDIN (FORMAT binary)', rows.take())).rejects.toMatchObject({
    code: '22021',
  });
});
