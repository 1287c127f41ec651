import { sql } from 'slonik';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rotateSecrets } from '../../src/commands/workspaces/rotate-secrets.ts';
import { setFeature } from '../../src/commands/workspaces/workspaces.ts';
import { createSecretBox } from '../../src/secrets.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { aTemplate } from '../support/audience-campaign.ts';
import { rowsOf } from '../support/callback-fixtures.ts';

let api: TestApi;
let workspace: SeededWorkspace;
beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

async function call(method: string, path: string, body?: unknown, key = workspace.channelKey) {
  const answer = await api.send(method, path, { key, ...(body !== undefined && { body }) });
  expect([method, path, answer.status < 300]).toEqual([method, path, true]);
  return answer.body.data;
}

it('records exports and deletions, and what operators set', async () => {
  const owner = await api.seedWorkspace();
  const ask = (method: string, path: string, body?: unknown) => call(method, path, body, owner.channelKey);
  const { campaign } = await ask('POST', '/api/campaigns/auto-trigger', {
    name: 'Export',
    template_id: await aTemplate(api.database.pool, owner),
    contact_selection_type: 'quick_contacts',
    quick_contacts: ['+4915112345678'],
    send_type: 'IMMEDIATE',
  });
  const path = `/api/campaigns/${campaign.id}/recipients`;
  expect((await api.send('GET', `${path}?format=csv`, { key: owner.channelKey })).status).toBe(200);
  await ask('GET', path);
  const conditions = [{ field: 'subscribed', operator: 'eq', value: true }];
  const segment = await ask('POST', '/api/segments', { name: 'S', conditions });
  await ask('DELETE', `/api/segments/${segment.id}`);
  const colours = { text_color: '#000000', background_color: '#ffffff', createdBy: 'me' };
  const tag = await ask('POST', '/api/tags', { name: 'T', ...colours });
  await ask('DELETE', `/api/tags/${tag.tagId}`);
  const { workspaceId } = owner;
  await setFeature(api.dependencies, { workspaceId, feature: 'schedule_campaigns', value: 'off' });
  const newer = createSecretBox(['another key of the tests', ...api.dependencies.config.secretsKeys]);
  await rotateSecrets({ ...api.dependencies, secrets: newer });
  await ask('PATCH', `/api/campaigns/${campaign.id}`, { name: 'Renamed', max_cost: '12.5' });
  const [changed] = await ask('GET', '/api/audit');
  expect([changed.action, changed.object_name, changed.details]).toEqual([
    'campaign.update',
    'Renamed',
    { renamed_to: 'Renamed', max_cost: '12.5' },
  ]);
  const actions = (await ask('GET', '/api/audit'))
    .slice(1)
    .map((one: Record<string, string>) => [one['action'], one['object_id']]);
  expect(actions.slice(0, 6)).toEqual([
    ['installation.rotate-secrets', 'database'],
    ['workspace.set-feature', 'schedule_campaigns'],
    ['tag.delete', tag.tagId],
    ['segment.delete', segment.id],
    ['campaign.export', campaign.id],
    ['campaign.create', campaign.id],
  ]);
});

it('records for every key what it did, to which object, by which request', async () => {
  const before = (await call('GET', '/api/audit')).length;
  const { campaign } = await call('POST', '/api/campaigns/auto-trigger', {
    name: 'Audit',
    template_id: await aTemplate(api.database.pool, workspace),
    contact_selection_type: 'quick_contacts',
    quick_contacts: ['+4915112345678'],
    send_type: 'IMMEDIATE',
  });
  for (const verb of ['pause', 'start', 'cancel'])
    await call('POST', `/api/campaigns/${campaign.id}/${verb}`);
  const webhook = { title: 'A', url: 'https://example.com/', events: ['sent'] };
  const { id: webhookId } = await call('POST', '/api/external-webhooks', webhook);
  await call('PATCH', `/api/external-webhooks/${webhookId}`, { status: 'inactive' });
  await call('DELETE', `/api/external-webhooks/${webhookId}`);
  const { channelId, operatorKey } = workspace;
  await call('POST', '/api/wallet/recharge', { channel_id: channelId, amount: '5' }, operatorKey);
  const { id: contactId } = await call('POST', '/api/contacts', { phoneNumber: '+4915112345678' });
  await call('GET', `/api/contacts/${contactId}/export`);
  await call('DELETE', `/api/contacts/${contactId}?erase=true`);

  const entries = (await call('GET', '/api/audit')).slice(0, -before).toReversed();
  expect(entries.map((one: Record<string, string>) => [one['action'], one['object_id']])).toEqual([
    ['campaign.create', campaign.id],
    ['campaign.pause', campaign.id],
    ['campaign.start', campaign.id],
    ['campaign.cancel', campaign.id],
    ['webhook.create', webhookId],
    ['webhook.update', webhookId],
    ['webhook.delete', webhookId],
    ['wallet.recharge', channelId],
    ['contact.export', contactId],
    ['contact.erase', contactId],
  ]);
  expect(entries.map((one: Record<string, unknown>) => [one['object_name'], one['details']])).toEqual([
    ...Array.from({ length: 4 }, () => ['Audit', null]),
    // The webhook is gone, and its title stands in the entry of its deletion alone.
    [null, null],
    [null, { status: 'inactive' }],
    ['A', { name: 'A' }],
    [expect.any(String), { amount: '5' }],
    [null, null],
    [null, null],
  ]);
  const [byChannel, byOperator] = [workspace.channelKey, operatorKey].map((key) => key.split('_')[1]);
  expect(byChannel).not.toBe(byOperator);
  for (const { action, key_id: keyId, command, request_id: requestId } of entries) {
    expect([action, keyId, command]).toEqual([
      action,
      action === 'wallet.recharge' ? byOperator : byChannel,
      null,
    ]);
    expect(requestId).toEqual(expect.any(String));
  }

  const ofCampaign = await call('GET', `/api/audit?object_id=${campaign.id}&limit=3`);
  expect(ofCampaign.map((one: Record<string, string>) => one['action'])).toEqual([
    'campaign.cancel',
    'campaign.start',
    'campaign.pause',
  ]);
  expect(await call('GET', '/api/audit?object_id=unknown')).toEqual([]);
  const filtered = async (query: string) =>
    (await call('GET', `/api/audit?${query}`)).map((one: Record<string, string>) => one['action']);
  expect(await filtered('object=webhook')).toEqual(['webhook.delete', 'webhook.update', 'webhook.create']);
  expect(await filtered(`key_id=${byOperator}&object=wallet`)).toEqual(['wallet.recharge']);
  expect(await filtered(`key_id=${byChannel}&object=wallet`)).toEqual([]);
  const erasedAt = entries.at(-1)['at'];
  expect(await filtered(`from=${erasedAt}`)).toEqual(['contact.erase']);
  expect((await filtered(`to=${erasedAt}`))[0]).toBe('contact.export');
});

it('records nothing for rejected requests', async () => {
  const count = sql.fragment`SELECT count(*)::int AS n FROM audit_entry`;
  const before = await rowsOf(api.database.pool, count);
  for (const [method, path, body] of [
    ['POST', '/api/wallet/recharge', { channel_id: workspace.channelId, amount: '-1' }],
    ['POST', '/api/external-webhooks', { title: '', url: 'x', events: [] }],
    ['POST', '/api/campaigns/0197c0de-0000-7000-8000-0000000000f1/pause', undefined],
  ] as const) {
    const answer = await api.send(method, path, {
      key: workspace.operatorKey,
      ...(body !== undefined && { body }),
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  }
  expect(await rowsOf(api.database.pool, count)).toEqual(before);
});
