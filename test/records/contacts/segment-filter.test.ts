import fc from 'fast-check';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FieldType } from '../../../src/domain/contacts/field-type.ts';
import { comparisons, textFields, timeFields } from '../../../src/domain/contacts/predicate.ts';
import {
  conditionProblems,
  filterOperators,
  type SegmentCondition,
} from '../../../src/domain/contacts/segment-filter.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { compileSegmentFilter } from '../../../src/records/contacts/segment-filter.ts';
import { insertWorkspace } from '../../../src/records/workspaces/workspaces.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let workspaceId: number;
const vip = '00000000-0000-4000-8000-000000000001';
const cold = '00000000-0000-4000-8000-000000000002';

beforeAll(async () => {
  database = await createTestDatabase();
  workspaceId = await insertWorkspace(database.pool, 'Acme');
  await database.pool.query(sql.type(nothing)`
    INSERT INTO contact (workspace_id, phone_number, country_code, first_name, last_name, email, source, subscribed,
      custom_fields, dob, created_at)
    VALUES
      (${workspaceId}::int, '4930901820', '49', 'Ada', 'Lovelace', 'Ada@Example.com', 'api', true,
        '{"city": "Berlin", "score": "7"}', '1990-05-01T00:00:00Z', '2025-03-01T10:00:00.123456Z'),
      (${workspaceId}::int, '919876543210', '91', 'Bo', '', '', 'incoming', true, '{"score": "10"}', NULL, '2025-03-02T00:00:00Z'),
      (${workspaceId}::int, '12025550123', '1', 'Émile', '100%_\\', 'e@x.org', 'csv_import', false, '{"city": ""}', NULL,
        '2025-04-01T00:00:00Z')`);
  await database.pool.query(sql.type(nothing)`
    INSERT INTO tag (id, workspace_id, name, text_color, background_color, created_by)
    VALUES (${vip}::uuid, ${workspaceId}::int, 'vip', '#000000', '#ffffff', 'x'), (${cold}::uuid, ${workspaceId}::int, 'cold', '#000000', '#ffffff', 'x')`);
  await database.pool.query(sql.type(nothing)`
    INSERT INTO contact_tag (workspace_id, contact_id, tag_id)
    SELECT ${workspaceId}::int, id, ${vip}::uuid FROM contact WHERE first_name = 'Ada'
    UNION ALL SELECT ${workspaceId}::int, id, ${cold}::uuid FROM contact WHERE first_name IN ('Ada', 'Bo')`);
});
afterAll(() => database.drop());

const FirstName = row(t.type({ first_name: t.string }));

async function matching(match: 'all' | 'any', ...conditions: readonly SegmentCondition[]) {
  expect(conditionProblems(conditions, 'conditions')).toEqual([]);
  const names = await database.pool.anyFirst(sql.type(FirstName)`
    SELECT first_name FROM contact
    WHERE workspace_id = ${workspaceId} AND ${compileSegmentFilter(match, conditions)} ORDER BY first_name`);
  return names.join(' ');
}

describe('compileSegmentFilter', () => {
  test.each<[string, string, unknown, string]>([
    ['firstName', 'eq', 'Ada', 'Ada'],
    ['firstName', 'neq', 'Ada', 'Bo Émile'],
    ['firstName', 'contains', 'O', 'Bo'],
    ['firstName', 'contains', 'émil', 'Émile'],
    ['firstName', 'not_contains', 'a', 'Bo Émile'],
    ['firstName', 'starts_with', 'a', 'Ada'],
    ['lastName', 'starts_with', '100%_', 'Émile'],
    ['lastName', 'contains', '%', 'Émile'],
    ['lastName', 'contains', '\\', 'Émile'],
    ['firstName', 'in', ['Ada', 'Bo'], 'Ada Bo'],
    ['firstName', 'not_in', ['Ada', 'Bo'], 'Émile'],
    ['firstName', 'gt', 'B', 'Bo Émile'],
    ['firstName', 'eq', "' OR 1=1 --", ''],
    ['lastName', 'exists', undefined, 'Ada Émile'],
    ['lastName', 'not_exists', undefined, 'Bo'],
    ['email', 'eq', 'ada@example.COM', 'Ada'],
    ['phoneNumber', 'eq', '+49 (30) 901820', 'Ada'],
    ['phoneNumber', 'eq', '30901820', 'Ada'],
    ['phoneNumber', 'starts_with', '91', 'Bo'],
    ['phoneNumber', 'starts_with', '202', 'Émile'],
    ['phoneNumber', 'in', ['9876543210', '12025550123'], 'Bo Émile'],
    ['countryCode', 'eq', '+91', 'Bo'],
    ['countryCode', 'eq', 91, 'Bo'],
    ['source', 'eq', 'api', 'Ada'],
    ['custom.city', 'eq', 'Berlin', 'Ada'],
    ['custom.city', 'neq', 'Berlin', 'Bo Émile'],
    ['custom.city', 'exists', undefined, 'Ada'],
    ['custom.city', 'not_exists', undefined, 'Bo Émile'],
    ["custom.x'); DROP TABLE contact; --", 'not_exists', undefined, 'Ada Bo Émile'],
    ['custom.score', 'gt', 7, 'Bo'],
    ['custom.score', 'gte', '7', 'Ada Bo'],
    ['custom.score', 'lt', 7.5, 'Ada'],
    ['subscribed', 'eq', true, 'Ada Bo'],
    ['subscribed', 'eq', false, 'Émile'],
    ['subscribed', 'neq', 'true', 'Émile'],
    ['subscribed', 'exists', undefined, 'Ada Bo Émile'],
    ['createdAt', 'gt', '2025-03-01', 'Bo Émile'],
    ['createdAt', 'gte', '2025-03-02', 'Bo Émile'],
    ['createdAt', 'lte', '2025-03-01', 'Ada'],
    ['createdAt', 'lt', '2025-03-01T10:00:00.123Z', ''],
    ['createdAt', 'lte', '2025-03-01T12:00:00.123+02:00', 'Ada'],
    ['createdAt', 'eq', '2025-03-01T10:00:00.123Z', 'Ada'],
    ['createdAt', 'eq', '2025-03-01', 'Ada'],
    ['createdAt', 'neq', '2025-03-01', 'Bo Émile'],
    ['dob', 'exists', undefined, 'Ada'],
    ['dob', 'lt', '2000-01-01', 'Ada'],
    ['dob', 'neq', '1990-05-01', 'Bo Émile'],
    ['tag', 'eq', vip, 'Ada'],
    ['tag', 'neq', vip, 'Bo Émile'],
    ['tag', 'in', [vip, cold], 'Ada Bo'],
    ['tag', 'not_in', [vip, cold], 'Émile'],
    ['tag', 'exists', undefined, 'Ada Bo'],
    ['tag', 'not_exists', undefined, 'Émile'],
    ['dob', 'before', '2000-01-01', 'Ada'],
    ['dob', 'within_days', 36_500, 'Ada'],
    ['createdAt', 'after', '2025-03-01', 'Bo Émile'],
    ['createdAt', 'within_days', 1, ''],
    ['createdAt', 'not_within_days', 1, 'Ada Bo Émile'],
  ])('finds by %s %s %j', async (field, operator, value, names) => {
    expect(await matching('all', { field, operator, value })).toBe(names);
  });

  test('joins conditions by all and by any', async () => {
    const berlin = { field: 'custom.city', operator: 'eq', value: 'Berlin' };
    const incoming = { field: 'source', operator: 'eq', value: 'incoming' };
    expect(await matching('all', berlin, incoming)).toBe('');
    expect(await matching('any', berlin, incoming)).toBe('Ada Bo');
    expect(await matching('any')).toBe('Ada Bo Émile');
  });

  test('runs whatever passes the check, and negation is the complement', async () => {
    const field = fc.oneof(
      fc.constantFrom(...textFields, ...timeFields, 'tag', 'subscribed', 'custom.score'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).map((name) => `custom.${name}`),
    );
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const value = fc.oneof(
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.array(text),
      fc.constantFrom(vip, '2025-03-01', '9999-12-31', '0000-01-01T00:00:00+23:59', '7', '-1.5'),
    );
    const condition = fc.record({ field, operator: fc.constantFrom(...filterOperators), value });
    const opposite = new Map([
      ['eq', 'neq'],
      ['contains', 'not_contains'],
      ['in', 'not_in'],
      ['exists', 'not_exists'],
    ]);
    await fc.assert(
      fc.asyncProperty(condition, async (given) => {
        fc.pre(!JSON.stringify(given).includes(String.raw`\u0000`));
        fc.pre(conditionProblems([given], 'conditions').length === 0);
        const names = await matching('all', given);
        const operator = opposite.get(given.operator);
        if (operator === undefined) return;
        const others = await matching('all', { ...given, operator });
        expect(`${names} ${others}`.trim().split(/ +/).toSorted()).toEqual(['Ada', 'Bo', 'Émile']);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a custom field with a type', () => {
  const values = {
    one: { turnover: '5.000,50', since: '2026-05-03', vip: 'ja' },
    two: { turnover: '812', since: '1.6.2026', vip: 'no' },
    three: { turnover: 'viel', since: '2026-02-30', vip: '' },
    four: {},
  };
  let workspace: number;
  beforeAll(async () => {
    workspace = await insertWorkspace(database.pool, 'Typed');
    for (const [name, fields] of Object.entries(values))
      await database.pool.query(sql.type(nothing)`
        INSERT INTO contact (workspace_id, phone_number, first_name, source, custom_fields)
        VALUES (${workspace}, ${`49151${name.length}${Object.keys(values).indexOf(name)}00`}, ${name}, 'api', ${sql.jsonb(fields)})`);
  });
  const types = new Map<string, FieldType>([
    ['turnover', 'number'],
    ['since', 'date'],
    ['vip', 'boolean'],
  ]);

  test.each<[string, string, unknown, string]>([
    ['custom.turnover', 'gt', 812, 'one'],
    ['custom.turnover', 'gte', '812', 'one two'],
    ['custom.turnover', 'eq', '5000.5', 'one'],
    ['custom.turnover', 'not_in', [812, 1], 'four one three'],
    ['custom.turnover', 'exists', undefined, 'one three two'],
    ['custom.since', 'before', '2026-06-01', 'one'],
    ['custom.since', 'eq', '2026-06-01', 'two'],
    ['custom.since', 'exists', undefined, 'one two'],
    ['custom.vip', 'eq', true, 'one'],
    ['custom.vip', 'eq', false, 'two'],
    ['custom.vip', 'neq', true, 'four three two'],
  ])('compares %s %s %j by it', async (field, operator, value, found) => {
    const conditions = [{ field, operator, value }];
    expect(conditionProblems(conditions, 'conditions', types)).toEqual([]);
    const context = { segments: new Map(), types };
    const names = await database.pool.anyFirst(sql.type(FirstName)`
      SELECT first_name FROM contact WHERE workspace_id = ${workspace}
        AND ${compileSegmentFilter('all', conditions, { context })} ORDER BY first_name`);
    expect(names.join(' ')).toBe(found);
  });

  test('is compared without it if the condition was stored for another type', async () => {
    const conditions = [{ field: 'custom.turnover', operator: 'eq', value: 'viel' }];
    const context = { segments: new Map(), types };
    const names = await database.pool.anyFirst(sql.type(FirstName)`
      SELECT first_name FROM contact WHERE workspace_id = ${workspace}
        AND ${compileSegmentFilter('all', conditions, { context })}`);
    expect(names).toEqual(['three']);
  });
});

describe('what became of messages', () => {
  let workspace: number;
  let campaign: string;
  const people = ['failed', 'read', 'replied', 'single', 'stranger'];

  beforeAll(async () => {
    const seeded = await seedCampaign(database.pool, { recipients: 0 });
    ({ workspaceId: workspace, campaignId: campaign } = seeded);
    const run = (statement: ReturnType<typeof sql.fragment>) =>
      database.pool.query(sql.type(nothing)`${statement}`);
    for (const [at, name] of people.entries())
      await run(sql.fragment`INSERT INTO contact (workspace_id, phone_number, country, first_name, source)
        VALUES (${workspace}, ${`4915100000${at}`}, ${name === 'stranger' ? 'US' : 'DE'}, ${name}, 'api')`);
    await run(sql.fragment`INSERT INTO recipient (campaign_id, position, contact_id, phone_number, sendable, state, accepted_at,
        delivered_at, read_at)
      SELECT ${campaign}::uuid, row_number() OVER (ORDER BY first_name), id, phone_number, true,
        CASE first_name WHEN 'failed' THEN 'FAILED' WHEN 'read' THEN 'READ' ELSE 'DELIVERED' END,
        CASE WHEN first_name <> 'failed' THEN now() - interval '10 days' END,
        CASE WHEN first_name = 'replied' THEN now() - interval '10 days' END,
        CASE WHEN first_name = 'read' THEN now() - interval '9 days' END
      FROM contact WHERE workspace_id = ${workspace} AND first_name IN ('failed', 'read', 'replied')`);
    await run(sql.fragment`INSERT INTO conversation (workspace_id, channel_id, contact_id, inbound_at)
      SELECT ${workspace}::int, ${seeded.channelId}::uuid, id, now() - interval '3 days' FROM contact
      WHERE workspace_id = ${workspace} AND first_name = 'replied'`);
    await run(sql.fragment`INSERT INTO message (workspace_id, channel_id, direction, source, contact_id, state, created_at)
      SELECT ${workspace}::int, ${seeded.channelId}::uuid, 'inbound', 'inbox', id, 'RECEIVED', now() - interval '3 days' FROM contact
      WHERE workspace_id = ${workspace} AND first_name = 'replied'
      UNION ALL
      SELECT ${workspace}::int, ${seeded.channelId}::uuid, 'outbound', 'api', id, 'SENT', now() FROM contact
      WHERE workspace_id = ${workspace} AND first_name = 'single'`);
  });

  async function found(match: 'all' | 'any', conditions: readonly SegmentCondition[], segments = new Map()) {
    const names = await database.pool.anyFirst(sql.type(FirstName)`
      SELECT first_name FROM contact WHERE workspace_id = ${workspace}
        AND ${compileSegmentFilter(match, conditions, { context: { segments, types: new Map() } })} ORDER BY first_name`);
    return names.join(' ');
  }

  test.each<[string, string, unknown, string]>([
    ['campaign', 'in', ['READ'], 'read'],
    ['campaign', 'in', ['READ', 'FAILED'], 'failed read'],
    ['campaign', 'not_in', ['READ', 'FAILED'], 'replied single stranger'],
    ['campaign', 'in', ['REPLIED'], 'replied'],
    ['campaign', 'not_in', ['READ', 'REPLIED'], 'failed single stranger'],
    ['last_messaged_at', 'exists', undefined, 'read replied single'],
    ['last_messaged_at', 'within_days', 5, 'single'],
    ['last_messaged_at', 'not_within_days', 5, 'failed read replied stranger'],
    ['last_messaged_at', 'before', new Date(Date.now() - 5 * 86_400_000).toISOString(), 'read replied'],
    ['last_messaged_at', 'after', '2020-01-01', 'read replied single'],
    ['last_delivered_at', 'exists', undefined, 'read replied'],
    ['last_delivered_at', 'within_days', 10, 'read'],
    ['last_read_at', 'exists', undefined, 'read'],
    ['last_read_at', 'not_exists', undefined, 'failed replied single stranger'],
    ['last_replied_at', 'within_days', 4, 'replied'],
    ['last_replied_at', 'before', new Date().toISOString(), 'replied'],
    ['country', 'eq', 'us', 'stranger'],
    ['country', 'not_in', ['US'], 'failed read replied single'],
  ])('is found by %s %s %j', async (name, operator, value, expected) => {
    const field = name === 'campaign' ? `campaign.${campaign}` : name;
    expect(conditionProblems([{ field, operator, value }], 'conditions')).toEqual([]);
    expect(await found('all', [{ field, operator, value }])).toBe(expected);
  });

  test('is joined with other segments', async () => {
    const [inner, outer, gone] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
    const segments = new Map([
      [
        inner,
        {
          match: 'any',
          conditions: [{ field: `campaign.${campaign}`, operator: 'in', value: ['READ', 'FAILED'] }],
        },
      ],
      [
        outer,
        {
          conditions: [
            { field: 'segment', operator: 'in', value: [inner] },
            { field: 'firstName', operator: 'neq', value: 'read' },
          ],
        },
      ],
    ]);
    const of = (operator: string, ...value: unknown[]) => [{ field: 'segment', operator, value }];
    expect(await found('all', of('in', inner), segments)).toBe('failed read');
    expect(await found('all', of('in', outer), segments)).toBe('failed');
    expect(await found('all', of('not_in', outer, inner), segments)).toBe('replied single stranger');
    expect(await found('all', of('in', gone), segments)).toBe('');
  });

  test('takes an answer to a message that arrived without a time of acceptance, not to one that failed', async () => {
    const replied = [{ field: `campaign.${campaign}`, operator: 'in', value: ['REPLIED'] }];
    const ofReplied = sql.fragment`campaign_id = ${campaign} AND contact_id IN (
      SELECT id FROM contact WHERE workspace_id = ${workspace} AND first_name = 'replied')`;
    await database.pool.query(sql.type(nothing)`UPDATE recipient SET accepted_at = NULL WHERE ${ofReplied}`);
    expect(await found('all', replied)).toBe('replied');
    await database.pool.query(sql.type(nothing)`UPDATE recipient SET state = 'FAILED' WHERE ${ofReplied}`);
    expect(await found('all', replied)).toBe('');
  });
});

describe('conditionProblems', () => {
  test.each<[SegmentCondition, string]>([
    [{ field: 'shoeSize', operator: 'eq', value: 1 }, 'conditions.0.field'],
    [{ field: '__proto__', operator: 'eq', value: 1 }, 'conditions.0.field'],
    [{ field: 'custom.', operator: 'eq', value: 1 }, 'conditions.0.field'],
    [{ field: 'firstName', operator: 'like', value: 'x' }, 'conditions.0.operator'],
    [{ field: 'firstName', operator: 'toString', value: 'x' }, 'conditions.0.operator'],
    [{ field: 'firstName', operator: 'eq' }, 'conditions.0.value'],
    [{ field: 'firstName', operator: 'gt', value: null }, 'conditions.0.value'],
    [{ field: 'firstName', operator: 'eq', value: {} }, 'conditions.0.value'],
    [{ field: 'firstName', operator: 'in', value: 'Ada' }, 'conditions.0.value'],
    [{ field: 'firstName', operator: 'in', value: [] }, 'conditions.0.value'],
    [{ field: 'firstName', operator: 'in', value: [['Ada']] }, 'conditions.0.value'],
    [{ field: 'createdAt', operator: 'contains', value: '2025' }, 'conditions.0.operator'],
    [{ field: 'createdAt', operator: 'gt', value: '2025-02-30' }, 'conditions.0.value'],
    [{ field: 'createdAt', operator: 'gt', value: '2025-03-01T00:00:00' }, 'conditions.0.value'],
    [{ field: 'createdAt', operator: 'gt', value: 1_700_000_000 }, 'conditions.0.value'],
    [{ field: 'subscribed', operator: 'eq', value: 'yes' }, 'conditions.0.value'],
    [{ field: 'subscribed', operator: 'gt', value: true }, 'conditions.0.operator'],
    [{ field: 'tag', operator: 'eq', value: 'vip' }, 'conditions.0.value'],
    [{ field: 'tag', operator: 'in', value: [vip, 'vip'] }, 'conditions.0.value'],
    [{ field: 'tag', operator: comparisons[0], value: vip }, 'conditions.0.operator'],
  ])('refuses %j', (condition, field) => {
    expect(conditionProblems([condition], 'conditions').map((problem) => problem.field)).toEqual([field]);
  });
});
