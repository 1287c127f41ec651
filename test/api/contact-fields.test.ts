import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nothing } from '../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

let number = 4915100000000;
const add = ({ channelKey: key }: SeededWorkspace, fields: Readonly<Record<string, string>>) =>
  api.send('POST', '/api/contacts', {
    key,
    body: {
      phoneNumber: `+${++number}`,
      customFields: Object.entries(fields).map(([fieldId, value]) => ({ fieldId, value })),
    },
  });
const list = async ({ channelKey: key }: SeededWorkspace) =>
  (await api.send('GET', '/api/contact-fields', { key })).body.data;
const count = async ({ channelKey: key }: SeededWorkspace, ...conditions: object[]) =>
  (await api.send('POST', '/api/segments/count', { key, body: { conditions } })).body;

describe('/api/contact-fields', () => {
  it('lists the custom fields with the types that their first values have', async () => {
    const workspace = await api.seedWorkspace();
    expect(await list(workspace)).toEqual([]);
    await add(workspace, { 'Umsatz 2026': '5000', since: '2026-05-03', vip: 'ja', Stadt: 'Köln' });
    await add(workspace, { 'Umsatz 2026': '812,5', Stadt: '' });
    expect(await list(workspace)).toEqual([
      { id: 'since', type: 'date', examples: ['2026-05-03'], count: 1 },
      { id: 'Stadt', type: 'text', examples: ['Köln'], count: 2 },
      { id: 'Umsatz 2026', type: 'number', examples: ['5000', '812,5'], count: 2 },
      { id: 'vip', type: 'boolean', examples: ['ja'], count: 1 },
    ]);
  });

  it('guesses the type of a field that contacts of an earlier release have from their values too', async () => {
    const workspace = await api.seedWorkspace();
    await add(workspace, { plan: 'A1', size: '7' });
    await api.database.pool.query(sql.type(nothing)`
      DELETE FROM contact_field WHERE workspace_id = ${workspace.workspaceId}`);
    await add(workspace, { plan: '1', size: '8' });
    const a1 = { field: 'custom.plan', operator: 'eq', value: 'A1' };
    expect((await count(workspace, a1)).data.count).toBe(1);
    expect(await list(workspace)).toMatchObject([
      { id: 'plan', type: 'text' },
      { id: 'size', type: 'number' },
    ]);
  });

  it('changes the type, and conditions follow it', async () => {
    const workspace = await api.seedWorkspace();
    const { channelKey: key } = workspace;
    for (const turnover of ['9', '10']) await add(workspace, { turnover });
    const over = { field: 'custom.Turnover', operator: 'gt', value: '5' };
    expect((await count(workspace, over)).data.count).toBe(2);
    expect(await count(workspace, { ...over, value: '5.000,00' })).toMatchObject({
      code: 400,
      error: [
        {
          field: 'conditions.0.value',
          message: 'conditions.0: "5.000,00" is not a number, which this field is: did you mean 5000?',
        },
      ],
    });
    const path = '/api/contact-fields/turnover';
    const changed = await api.send('PATCH', path, { key, body: { type: 'text' } });
    expect(changed.body).toMatchObject({
      message: 'Contact field saved successfully',
      data: { id: 'turnover', type: 'text', examples: ['10', '9'] },
    });
    expect((await count(workspace, over)).data.count).toBe(1);
    expect((await api.send('PATCH', path, { key, body: { type: 'colour' } })).status).toBe(400);
    expect(
      (await api.send('PATCH', '/api/contact-fields/no%20such', { key, body: { type: 'text' } })).status,
    ).toBe(404);
    expect(
      (await api.send('PATCH', path, { key: (await api.seedWorkspace()).channelKey, body: { type: 'text' } }))
        .status,
    ).toBe(404);
  });

  it('knows the fields of contacts of an earlier release once they are listed', async () => {
    const workspace = await api.seedWorkspace();
    await add(workspace, { city: 'Bonn' });
    await api.database.pool.query(sql.type(nothing)`
      DELETE FROM contact_field WHERE workspace_id = ${workspace.workspaceId}`);
    expect(await list(workspace)).toEqual([{ id: 'city', type: 'text', examples: ['Bonn'], count: 1 }]);
    await api.database.pool.query(sql.type(nothing)`
      UPDATE contact SET custom_fields = '{}' WHERE workspace_id = ${workspace.workspaceId}`);
    expect(await list(workspace)).toEqual([{ id: 'city', type: 'text', examples: [], count: 0 }]);
  });
});
