import { randomUUID } from 'node:crypto';
import { isRight } from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getPayloadSkeleton, getTemplateVariables, listTemplates } from '../../src/api/templates.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import { NotFound } from '../../src/domain/error.ts';
import { nothing } from '../../src/records/database/row.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { templateFixture, templateFixtures, type TemplateFixture } from '../support/template-fixtures.ts';
import type { Endpoint, EndpointCall, JsonAnswer } from '../../src/api/frame/endpoint.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const now = new Date('2026-11-21T09:00:00Z');

async function aWorkspace(): Promise<{ readonly workspaceId: number; readonly businessAccountId: string }> {
  const { workspaceId } = await createWorkspace({ database: database.pool }, { name: 'Acme' });
  const businessAccountId = randomUUID();
  await database.pool.query(sql.type(nothing)`
    INSERT INTO business_account (id, workspace_id) VALUES (${businessAccountId}, ${workspaceId})`);
  return { workspaceId, businessAccountId };
}

async function aTemplate(fixture: TemplateFixture) {
  const { workspaceId, businessAccountId } = await aWorkspace();
  const templateId = randomUUID();
  await database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      parameter_format, components)
    VALUES (${templateId}, ${workspaceId}, ${businessAccountId}, '13', 'a_template', 'en_US', ${fixture.category},
      'APPROVED', ${fixture.parameterFormat ?? 'POSITIONAL'}, ${JSON.stringify(fixture.components)}::jsonb)`);
  return { workspaceId, templateId };
}

interface Call {
  readonly workspaceId: number;
  readonly templateId?: string;
  readonly query?: object;
}

/** The response body, encoded by the codec of the declared response. */
async function answerOf({ handle, declaration }: Endpoint, { workspaceId, templateId, query = {} }: Call) {
  const call = {
    dependencies: { database: database.pool, now: () => now },
    principal: { workspaceId, keyId: 'k', scope: 'workspace', channelId: null },
    params: { templateId },
    query,
  } as unknown as EndpointCall;
  const answer = (await handle(call)) as JsonAnswer;
  const codec = declaration.responses[answer.status]?.body as t.Mixed;
  const encoded: unknown = JSON.parse(JSON.stringify(codec.encode(answer.body)));
  expect(isRight(codec.decode(encoded))).toBe(true);
  return encoded;
}

describe.each(templateFixtures)('a stored template of kind: $kind', (fixture) => {
  test('answers its variables and its skeleton', async () => {
    const place = await aTemplate(fixture);
    expect(await answerOf(getTemplateVariables, place)).toEqual({
      status: 'success',
      data: fixture.variables,
    });
    expect(await answerOf(getPayloadSkeleton, place)).toMatchObject({
      status: 'success',
      data: { templateId: place.templateId, recipientPhoneNumber: '919876543210', countryCode: '+91' },
    });
  });
});

test('the skeleton of an offer expires a day from now', async () => {
  const place = await aTemplate(templateFixture('offer with a code'));
  expect(await answerOf(getPayloadSkeleton, place)).toMatchObject({
    data: {
      variableMapping: {
        header: { link: 'https://example.com/image.jpg' },
        body: { 1: 'value' },
        buttons: [
          { type: 'copy_code', coupon_code: 'CODE' },
          { type: 'url', url_suffix: 'value' },
        ],
        limited_time_offer: { expiration_time_ms: now.getTime() + 86_400_000 },
      },
    },
  });
});

test.each([getTemplateVariables, getPayloadSkeleton])(
  'the template of another workspace is not found',
  async (endpoint) => {
    const { templateId } = await aTemplate(templateFixture('static text'));
    const { workspaceId } = await aWorkspace();
    const answer = answerOf(endpoint, { workspaceId, templateId });
    await expect(answer).rejects.toThrow(NotFound);
    await expect(answer).rejects.toThrow('Template not found');
  },
);

test.each(['fruhling', 'SÃO', 'paulo', '客户', 'gross'])(
  'the list finds a name by %s, whatever its case and accents',
  async (search) => {
    const { workspaceId, templateId } = await aTemplate(templateFixture('static text'));
    await database.pool.query(sql.type(nothing)`
      UPDATE template SET name = 'frühling_sao_paulo_groß_vip客户' WHERE id = ${templateId}`);
    const found = (query: object) => answerOf(listTemplates, { workspaceId, query });
    expect(await found({ search })).toMatchObject({ data: [{ id: templateId }] });
    expect(await found({ search: 'nobody' })).toMatchObject({ data: [] });
  },
);

test('the list holds the record of a template and nothing of another workspace', async () => {
  const fixture = templateFixture('image header');
  const { workspaceId, templateId } = await aTemplate(fixture);
  await aTemplate(fixture);
  expect(await answerOf(listTemplates, { workspaceId })).toEqual({
    status: 'success',
    data: [
      {
        id: templateId,
        businessAccountId: expect.any(String),
        name: 'a_template',
        language: 'en_US',
        category: 'MARKETING',
        status: 'APPROVED',
        providerTemplateId: '13',
        quality: null,
        rejectedReason: null,
        upcomingCategory: null,
        upcomingCategoryAt: null,
        components: fixture.components,
        source: null,
        sendTtlSeconds: null,
        updatedAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:]{8}\.\d{3}Z$/),
      },
    ],
    pagination: { page: 1, limit: 10, total: 1, totalPages: 1 },
  });
  const mine = { category: 'marketing', language: 'en_US' };
  expect(await answerOf(listTemplates, { workspaceId, query: mine })).toMatchObject({
    pagination: { total: 1 },
  });
  for (const query of [{ status: ['PAUSED'] }, { category: 'UTILITY' }, { language: 'de' }])
    expect(await answerOf(listTemplates, { workspaceId, query })).toMatchObject({
      data: [],
      pagination: { total: 0, totalPages: 0 },
    });
});
