import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openContactLoad } from '../../../src/records/audience/contact-load.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { aSender } from '../../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('reads of a known contact the fields that messages name, and which of the given ones it has', async () => {
  const { workspaceId } = await aSender(database.pool);
  const fields = { city: 'Bonn', note: 'a "quoted" ü', large: 'x'.repeat(60_000) };
  await database.pool.query(sql.type(nothing)`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, source, custom_fields) VALUES
      (${workspaceId}, '4915112345678', '49', 'DE', 'manual', ${JSON.stringify(fields)}::jsonb),
      (${workspaceId}, '4915112345679', '49', 'DE', 'manual', '{}')`);
  const load = await openContactLoad(database.url, {
    workspaceId,
    source: 'csv_import',
    subscribedKeys: new Set(),
    givenFields: ['street', 'large', 'city'],
    namedFields: ['note', 'none'],
    lockTimeoutMs: 1_000,
    findOptedOut: async () => new Map(),
  });
  const { known } = await load.find(
    ['4915112345678', '4915112345679'].map((digits) => ({
      line: null,
      given: '',
      phone: { digits, countryCode: '49', country: 'DE', nationalNumber: digits.slice(2) },
    })),
  );
  load.destroy();
  expect(known.get('4915112345678')).toMatchObject({
    customFields: { note: 'a "quoted" ü' },
    extent: {
      count: 3,
      bytes: Buffer.byteLength(JSON.stringify(fields)),
      present: new Set(['large', 'city']),
    },
  });
  expect(known.get('4915112345678')?.customFields).not.toHaveProperty('large');
  expect(known.get('4915112345679')).toMatchObject({
    customFields: {},
    extent: { count: 0, bytes: 2, present: new Set() },
  });
});
