import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDemoTemplates } from '../../../local/demo/templates.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { rowsOf } from '../../support/callback-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('names the templates that the key of the demo channel can send, not those of another business account', async () => {
  const { workspaceId, templateId } = await seedCampaign(test.pool, { recipients: 1 });
  const [own] = await rowsOf<{ account: string }>(
    test.pool,
    sql.fragment`SELECT business_account_id AS account FROM template WHERE id = ${templateId}`,
  );
  await test.pool.query(sql.type(nothing)`
    WITH other AS (INSERT INTO business_account (id, workspace_id) VALUES ('other', ${workspaceId}) RETURNING id)
    INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    SELECT workspace_id, other.id, provider_template_id, name, language, category, status, components
    FROM template, other WHERE template.id = ${templateId}`);
  const owner = { workspaceId, businessAccountId: own?.account ?? '' };
  expect(await readDemoTemplates(test.pool, owner)).toMatchObject({ templateIds: { hello: templateId } });
});
