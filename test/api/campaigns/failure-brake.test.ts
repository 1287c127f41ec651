/** The failure brake and `max_cost` as a customer sees them: over HTTP. */
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import { createApiKey } from '../../../src/commands/workspaces/api-keys.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { aTemplate } from '../../support/audience-campaign.ts';
import { createApplier, deliver, messagesCallback, status } from '../../support/callback-fixtures.ts';
import { type CampaignSeed, seedCampaign, testSecrets } from '../../support/campaign-factory.ts';
import { accept, type Answer, createFakeProvider, refuse } from '../../support/fake-provider.ts';

let api: TestApi;
let answer: Answer;
const provider = createFakeProvider((message, count) => answer(message, count));
beforeAll(async () => {
  api = await startTestApi({ dependencies: { provider, secrets: testSecrets } });
});
beforeEach(() => {
  answer = accept;
});
afterAll(() => api.close());

async function campaignWith(seed: CampaignSeed) {
  const { pool } = api.database;
  const seeded = await seedCampaign(pool, { messagesPerSecond: 100, ...seed });
  const { campaignId, workspaceId, channelId } = seeded;
  const keyOf = async (scope: 'workspace' | 'operator') =>
    (await createApiKey(api.dependencies, { workspaceId, scope })).apiKey;
  const [key, operatorKey] = [await keyOf('workspace'), await keyOf('operator')];
  const path = `/api/campaigns/${campaignId}`;
  const call = async (method: string, to: string, body?: unknown, by = key) => {
    const answered = await api.send(method, to, { key: by, ...(body !== undefined && { body }) });
    return { code: answered.status, ...answered.body };
  };
  let reported = 0;
  return {
    ...seeded,
    call,
    operatorKey,
    read: async () => (await call('GET', path)).data,
    start: (body?: object) => call('POST', `${path}/start`, body),
    patch: (body: object) => call('PATCH', path, body),
    hurry: () =>
      pool.query(sql.type(nothing)`UPDATE channel SET messages_per_second = 100000 WHERE id = ${channelId}`),
    step: () => runSendStep(api.dependencies, campaignId, { budgetMs: 5_000, draining: () => false }),
    /** What the provider says by status about the messages that were sent since the last call. */
    async report(code: number | null) {
      const sent = provider.received.slice(reported);
      reported = provider.received.length;
      const statuses = sent.map(({ callbackData }) =>
        status({
          status: code === null ? 'delivered' : 'failed',
          providerMessageId: `wamid.${callbackData}`,
          callbackData,
          ...(code !== null && { code }),
        }),
      );
      await deliver(createApplier(pool), [messagesCallback(channelId, { statuses })]);
    },
  };
}

describe('POST /api/campaigns/{id}/start', () => {
  it('with force switches off the reason that paused it, for this campaign, and no other', async () => {
    answer = refuse(132012);
    const campaign = await campaignWith({ recipients: 400 });
    await campaign.step();
    const paused = await campaign.read();
    expect(paused).toMatchObject({ status: 'PAUSED', pause_reason: 'FAILURES' });
    expect(paused.pause_evidence).toEqual({
      rule: 'first',
      reason: 'PROVIDER_132012',
      source: 'answer',
      failed: 15,
      of: 15,
      first_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_at: expect.stringMatching(/^\d{4}-.*Z$/),
      details: ['refused'],
      recipient_ids: [expect.any(String), expect.any(String), expect.any(String)],
    });
    for (const body of [undefined, {}, { force: false }])
      expect(await campaign.start(body)).toMatchObject({
        code: 409,
        message: expect.stringContaining('{"force": true}'),
      });
    expect((await campaign.start({ force: true })).data).toMatchObject({
      status: 'RUNNING',
      pause_reason: null,
      pause_evidence: null,
    });
    const before = (await campaign.read()).counters.failed;
    answer = (message, count) => (count % 2 === 0 ? refuse(132012) : refuse(131008))(message, count);
    await campaign.step();
    // Both reasons alternate: the ignored one counts as nothing, so the other one fails 15 times in a row.
    const again = await campaign.read();
    expect(again.pause_evidence).toMatchObject({ rule: 'first', reason: 'PROVIDER_131008', failed: 15 });
    expect(again.counters.failed).toBeGreaterThan(before);
  });

  it('with a probe sends so many messages, waits for their statuses, and goes on or pauses again', async () => {
    answer = refuse(131053);
    const campaign = await campaignWith({ recipients: 400 });
    await campaign.step();
    await campaign.report(null);
    answer = accept;
    for (const probe of [0, 1.5, '5', 10_001])
      expect(await campaign.start({ probe })).toMatchObject({ code: 400, error: [{ field: 'probe' }] });

    const sent = provider.received.length;
    expect((await campaign.start({ probe: 5 })).data).toMatchObject({ status: 'RUNNING' });
    expect(await campaign.step()).toMatchObject({ drained: false });
    expect(provider.received).toHaveLength(sent + 5);
    expect(await campaign.read()).toMatchObject({ status: 'RUNNING', waiting_for: 'FIRST_STATUSES' });
    await campaign.report(131053);
    expect(await campaign.read()).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'FAILURES',
      pause_evidence: { rule: 'share', reason: 'PROVIDER_131053', source: 'status', failed: 5, of: 5 },
    });

    expect((await campaign.start({ probe: 5 })).code).toBe(202);
    await campaign.step();
    await campaign.report(null);
    await campaign.hurry();
    expect(await campaign.step()).toMatchObject({ drained: true });
    expect(await campaign.read()).toMatchObject({ waiting_for: null, counters: { pending: 0 } });
  });
});

describe('/api/workspace/failure-brake', () => {
  const path = '/api/workspace/failure-brake';

  it('is read with every key, and set by an operator for running campaigns too', async () => {
    const campaign = await campaignWith({ recipients: 400 });
    const { call, operatorKey } = campaign;
    expect((await call('GET', path)).data).toEqual({ failure_brake: 'default' });
    expect((await call('PUT', path, { failure_brake: 'off' })).code).toBe(401);
    for (const failure_brake of ['loose', null, undefined])
      expect(await call('PUT', path, { failure_brake }, operatorKey)).toMatchObject({
        code: 400,
        error: [{ field: 'failure_brake' }],
      });
    expect((await call('PUT', path, { failure_brake: 'strict' }, operatorKey)).data).toEqual({
      failure_brake: 'strict',
    });
    answer = refuse(132012);
    await campaign.step();
    expect(await campaign.read()).toMatchObject({ pause_evidence: { rule: 'first', failed: 8, of: 8 } });

    await call('PUT', path, { failure_brake: 'off' }, operatorKey);
    expect((await call('GET', path)).data).toEqual({ failure_brake: 'off' });
    await campaign.start({ force: true });
    await campaign.hurry();
    expect(await campaign.step()).toMatchObject({ drained: true });
    expect(await campaign.read()).toMatchObject({ counters: { failed: 400 } });
  });
});

describe('max_cost', () => {
  // A message of the campaign costs 0.001.
  it('of a PATCH pauses the campaign before it would reserve more, and a start needs a higher one', async () => {
    const campaign = await campaignWith({ recipients: 50 });
    for (const max_cost of ['0', '-1', '1e3', '0.0000001', 5, ''])
      expect(await campaign.patch({ max_cost })).toMatchObject({ code: 400, error: [{ field: 'max_cost' }] });
    expect((await campaign.patch({ max_cost: '0.020' })).data.max_cost).toBe('0.02');
    await campaign.step();
    const paused = await campaign.read();
    expect(paused).toMatchObject({ status: 'PAUSED', pause_reason: 'MAX_COST', charged: '0.02' });
    expect(paused).toMatchObject({ pause_evidence: null, counters: { accepted: 20, pending: 30 } });

    for (const body of [undefined, { force: true }, { probe: 5 }])
      expect(await campaign.start(body)).toMatchObject({
        code: 409,
        message: expect.stringContaining('max_cost'),
      });
    await campaign.patch({ max_cost: '0.01' });
    expect((await campaign.start()).code).toBe(409);
    await campaign.patch({ max_cost: '0.03' });
    expect((await campaign.start()).data).toMatchObject({ status: 'RUNNING', max_cost: '0.03' });
    await campaign.step();
    expect(await campaign.read()).toMatchObject({ pause_reason: 'MAX_COST', charged: '0.03' });

    expect((await campaign.patch({ max_cost: null })).data.max_cost).toBe(null);
    await campaign.start();
    expect(await campaign.step()).toMatchObject({ drained: true });
    expect(await campaign.read()).toMatchObject({ charged: '0.05' });
  });

  it('is part of the creation', async () => {
    const { workspaceId, businessAccountId, channelKey } = await api.seedWorkspace();
    const templateId = await aTemplate(api.database.pool, { workspaceId, businessAccountId });
    const create = async (max_cost: unknown) => {
      const { status: code, body } = await api.send('POST', '/api/campaigns/auto-trigger', {
        key: channelKey,
        body: {
          name: 'Capped',
          template_id: templateId,
          contact_selection_type: 'quick_contacts',
          quick_contacts: ['+4915112345678'],
          send_type: 'IMMEDIATE',
          max_cost,
        },
      });
      return { code, body };
    };
    const { code, body } = await create('12.5');
    expect(code).toBe(201);
    const read = await api.send('GET', `/api/campaigns/${body.data.campaign.id}`, { key: channelKey });
    expect(read.body.data.max_cost).toBe('12.5');
    expect(await create('0')).toMatchObject({ code: 400, body: { error: [{ field: 'max_cost' }] } });
  });
});
