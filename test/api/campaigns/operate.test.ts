import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginCampaign } from '../../../src/commands/campaigns/begin-campaign.ts';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import { settleCampaign } from '../../../src/commands/campaigns/settle-campaign.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { aTemplate } from '../../support/audience-campaign.ts';

let api: TestApi;
let workspace: SeededWorkspace;
let templateId: string;
beforeAll(async () => {
  api = await startTestApi();
  workspace = await api.seedWorkspace();
  templateId = await aTemplate(api.database.pool, workspace);
});
afterAll(() => api.close());

async function createCampaign(): Promise<string> {
  const created = await api.send('POST', '/api/campaigns/auto-trigger', {
    key: workspace.channelKey,
    body: {
      name: 'Moves',
      template_id: templateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678'],
      send_type: 'IMMEDIATE',
    },
  });
  return created.body.data.campaign.id;
}

const prepare = (id: string) =>
  prepareCampaign(api.dependencies, id, {
    heartbeat: () => undefined,
    signal: AbortSignal.timeout(10_000),
  });

async function runningCampaign(): Promise<string> {
  const id = await createCampaign();
  await prepare(id);
  await beginCampaign(api.dependencies, id);
  return id;
}

async function move(id: string, verb: 'start' | 'pause' | 'cancel', given?: object) {
  const { status, body } = await api.send('POST', `/api/campaigns/${id}/${verb}`, {
    key: workspace.workspaceKey,
    ...(given !== undefined && { body: given }),
  });
  return status === 202
    ? ([202, body.data.status, body.data.pause_reason] as const)
    : ([status, body.message] as const);
}

const statusOf = async (id: string) =>
  (await api.send('GET', `/api/campaigns/${id}`, { key: workspace.workspaceKey })).body.data.status;

describe('start, pause and cancel', () => {
  it('start a campaign only with force after the provider rejected its messages', async () => {
    const id = await runningCampaign();
    expect(await move(id, 'pause')).toEqual([202, 'PAUSED', 'OPERATOR']);
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign SET pause_reason = 'MESSAGE_REJECTED' WHERE id = ${id}`);
    const refused = [409, expect.stringContaining('{"force": true}')];
    expect(await move(id, 'start')).toEqual(refused);
    expect(await move(id, 'start', { force: false })).toEqual(refused);
    expect(await move(id, 'start', { force: true })).toEqual([202, 'RUNNING', null]);
  });

  it('answer during the preparation, which goes on in a pause', async () => {
    const id = await createCampaign();
    expect(await move(id, 'start')).toEqual([
      409,
      'The campaign is DRAFT and still preparing and cannot be started again: it can be paused or cancelled',
    ]);
    expect(await move(id, 'pause')).toEqual([202, 'PAUSED', 'OPERATOR']);
    await prepare(id);
    await beginCampaign(api.dependencies, id);
    expect(await statusOf(id)).toBe('PAUSED');
    expect(await move(id, 'start')).toEqual([202, 'DRAFT', null]);
    await beginCampaign(api.dependencies, id);
    expect(await statusOf(id)).toBe('RUNNING');
  });

  it('answer a repeated call with the campaign’s present status', async () => {
    const id = await runningCampaign();
    expect(await move(id, 'start')).toEqual([
      409,
      'The campaign is RUNNING and cannot be started again: it can be paused or cancelled',
    ]);
    expect(await move(id, 'pause')).toEqual([202, 'PAUSED', 'OPERATOR']);
    expect(await move(id, 'pause')).toEqual([
      409,
      'The campaign is PAUSED and cannot be paused: it can be started again or cancelled',
    ]);
    const starts = await Promise.all([move(id, 'start'), move(id, 'start'), move(id, 'start')]);
    expect(starts.map(([code]) => code).toSorted((a, b) => a - b)).toEqual([202, 409, 409]);
    expect(await move(id, 'cancel')).toEqual([202, 'CANCELLED', null]);
    for (const verb of ['start', 'pause', 'cancel'] as const) {
      const [code, message] = await move(id, verb);
      expect([code, String(message)]).toEqual([
        409,
        expect.stringMatching(/^The campaign is CANCELLED and .*: it has ended, create another$/),
      ]);
    }
  });

  it('leave a campaign cancelled that is started again at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await runningCampaign();
      await move(id, 'pause');
      const [started, cancelled] = await Promise.all([move(id, 'start'), move(id, 'cancel')]);
      expect(cancelled[0]).toBe(202);
      expect([202, 409]).toContain(started[0]);
      expect(await statusOf(id)).toBe('CANCELLED');
    }
  });

  it('answer with the final status when a campaign is paused while it completes', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await runningCampaign();
      await api.database.pool.query(sql.type(nothing)`
        UPDATE recipient SET state = 'ACCEPTED' WHERE campaign_id = ${id}`);
      await api.database.pool.query(sql.type(nothing)`
        UPDATE campaign_counter SET accepted = pending, pending = 0 WHERE campaign_id = ${id}`);
      const [[code]] = await Promise.all([move(id, 'pause'), settleCampaign(api.dependencies, id)]);
      expect(await statusOf(id)).toBe(code === 202 ? 'PAUSED' : 'COMPLETED');
      if (code === 202) {
        expect(await move(id, 'start')).toEqual([202, 'RUNNING', null]);
        await settleCampaign(api.dependencies, id);
        expect(await statusOf(id)).toBe('COMPLETED');
      }
    }
  });

  it('name what stands in the way of a start', async () => {
    const id = await runningCampaign();
    await move(id, 'pause');
    const setTemplate = (status: string) =>
      api.database.pool.query(sql.type(nothing)`
        UPDATE template SET status = ${status} WHERE id = ${templateId}`);
    await setTemplate('PAUSED');
    expect(await move(id, 'start')).toEqual([
      409,
      'The campaign is PAUSED and its template is not approved: start it again once that has changed, or cancel it',
    ]);
    await setTemplate('APPROVED');
    expect((await move(id, 'start'))[0]).toBe(202);
    // The state comes first: nothing stands in the way of one that runs.
    await setTemplate('PAUSED');
    const again = await move(id, 'start');
    await setTemplate('APPROVED');
    expect(again).toEqual([
      409,
      'The campaign is RUNNING and cannot be started again: it can be paused or cancelled',
    ]);
  });
});
