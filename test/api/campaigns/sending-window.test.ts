import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nothing } from '../../../src/records/database/row.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';

const path = '/api/workspace/sending-window';
const everyDay = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const hourMs = 3_600_000;

/** `HH:MM` in UTC, `hours` from now. */
const inHours = (hours: number): string =>
  new Date(Math.floor(Date.now() / 60_000) * 60_000 + hours * hourMs).toISOString().slice(11, 16);
const laterToday = () => ({ timezone: 'UTC', from: inHours(2), to: inHours(4) });
const now = () => ({ timezone: 'UTC', from: inHours(-1), to: inHours(1) });

let api: TestApi;
let workspace: SeededWorkspace;
let marketing: string;
let utility: string;

beforeAll(async () => {
  api = await startTestApi();
});
beforeEach(async () => {
  workspace = await api.seedWorkspace();
  marketing = await seedTemplate('MARKETING');
  utility = await seedTemplate('UTILITY');
});
afterAll(() => api.close());

async function seedTemplate(category: string): Promise<string> {
  const id = randomUUID();
  await api.database.pool.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${id}, ${workspace.workspaceId}, ${workspace.businessAccountId}, ${id}, 'hello', 'en_US', ${category}, 'APPROVED',
      '[{"type":"BODY","text":"Hello."}]')`);
  return id;
}

const body = (fields: object = {}) => ({
  name: 'Spring offer',
  template_id: marketing,
  contact_selection_type: 'quick_contacts',
  quick_contacts: ['+4915112345678'],
  send_type: 'IMMEDIATE',
  ...fields,
});
const create = (fields?: object, key = workspace.channelKey) =>
  api.send('POST', '/api/campaigns/auto-trigger', { key, body: body(fields) });
const check = async (fields?: object) => {
  const answer = await api.send('POST', '/api/campaigns/check', {
    key: workspace.channelKey,
    body: body(fields),
  });
  return answer.body.data;
};
const patch = (id: string, changes: object, key = workspace.channelKey) =>
  api.send('PATCH', `/api/campaigns/${id}`, { key, body: changes });
const audited = async () => {
  const { body: list } = await api.send('GET', '/api/audit', { key: workspace.workspaceKey });
  return list.data.map(({ action }: { action: string }) => action);
};

describe('a sending window in the creation of a campaign', () => {
  it('is returned in the record, with every day by default', async () => {
    const { status, body: answer } = await create({ sending_window: laterToday() });
    expect(status).toBe(201);
    const stored = { ...laterToday(), days: everyDay };
    expect(answer.data.campaign).toMatchObject({ sending_window: stored, ignore_quiet_hours: false });
    const { id } = answer.data.campaign;
    const record = await api.send('GET', `/api/campaigns/${id}`, { key: workspace.channelKey });
    expect(record.body.data).toMatchObject({ sending_window: stored });
  });

  it.each([
    [{ timezone: 'Europe/Atlantis' }, 'timezone', 'must be an IANA time zone such as "Europe/Berlin"'],
    [{ from: '9:00' }, 'from', 'must be a time such as "09:00"'],
    [{ to: '24:00' }, 'to', 'must be a time such as "09:00"'],
    [{ to: '09:00' }, 'to', 'must differ from the time in from, such as "20:00"'],
    [{ days: [] }, 'days', 'must name at least one day, such as "mon"'],
  ])('is refused with %j', async (wrong, field, message) => {
    const window = { timezone: 'UTC', from: '09:00', to: '20:00', ...wrong };
    const { status, body: answer } = await create({ sending_window: window });
    expect(status).toBe(400);
    const name = `sending_window.${field}`;
    expect(answer.error).toContainEqual({ field: name, message: `${name} ${message}` });
  });

  it('is refused unless it is an object', async () => {
    const { status, body: answer } = await create({ sending_window: 'at night' });
    expect(status).toBe(400);
    expect(answer.message).toBe('sending_window must be an object');
  });

  it('says in the answer and in the check that it begins at the opening', async () => {
    const scheduled_at = new Date(Date.now() + hourMs).toISOString();
    const opensAt = `${new Date(Date.now() + 2 * hourMs).toISOString().slice(0, 16)}:00.000Z`;
    const sending_window = { ...laterToday(), from: opensAt.slice(11, 16) };
    const fields = { sending_window, send_type: 'SCHEDULED', scheduled_at };
    const { body: answer } = await create(fields);
    expect(answer.data.campaign).toMatchObject({ scheduled_at, begins_at: opensAt });
    const checked = await check(fields);
    expect(checked).toMatchObject({ problems: [], begins_at: opensAt });
    expect(checked.warnings).toEqual([
      {
        field: 'scheduled_at',
        message: `scheduled_at is outside the sending window: sending begins at ${opensAt}`,
      },
    ]);
  });

  it('counts open hours alone in the estimate', async () => {
    await api.database.pool.query(sql.type(nothing)`
      UPDATE channel SET messages_per_second = 1 WHERE id = ${workspace.channelId}`);
    const window = {
      timezone: 'UTC',
      from: inHours(-1),
      to: new Date(Date.now() + 120_000).toISOString().slice(11, 16),
    };
    const quick_contacts = Array.from({ length: 300 }, (_, index) => `+49151${10_000_000 + index}`);
    const inWindow = await check({ quick_contacts, sending_window: window });
    // Five minutes of sending, of which two at the most are left today.
    expect(inWindow.duration_seconds).toBeGreaterThan(20 * 3_600);
    expect(Date.parse(inWindow.ends_at) - Date.parse(inWindow.begins_at)).toBeGreaterThan(20 * hourMs);
    expect((await check({ quick_contacts })).duration_seconds).toBeLessThan(400);
  });
});

describe('the sending window of a workspace', () => {
  const put = (window: object, key = workspace.operatorKey) => api.send('PUT', path, { key, body: window });
  const get = async () => (await api.send('GET', path, { key: workspace.channelKey })).body.data;

  it('is set and removed by operators, with an entry in the audit', async () => {
    expect(await get()).toBeNull();
    const window = now();
    expect((await put(window, workspace.workspaceKey)).status).toBe(401);
    expect((await put(window)).status).toBe(200);
    expect(await get()).toEqual({ ...window, days: everyDay });
    const removal = await api.send('DELETE', path, { key: workspace.operatorKey });
    expect(removal.status).toBe(200);
    expect(await get()).toBeNull();
    expect((await audited()).filter((action: string) => action === 'workspace.sending-window')).toHaveLength(
      2,
    );
  });

  it('holds for MARKETING templates alone, and a campaign narrows it', async () => {
    const opensAt = `${new Date(Date.now() + 2 * hourMs).toISOString().slice(0, 16)}:00.000Z`;
    await put({ ...laterToday(), from: opensAt.slice(11, 16) });
    expect((await check()).begins_at).toBe(opensAt);
    expect(Date.parse((await check({ template_id: utility })).begins_at) - Date.now()).toBeLessThan(60_000);
    const wider = { timezone: 'UTC', from: inHours(-1), to: inHours(3) };
    const narrowed = await check({ sending_window: wider });
    expect(narrowed.begins_at).toBe(opensAt);
    expect((await create({ sending_window: now() })).body.error).toEqual([
      { field: 'sending_window', message: expect.stringContaining('no time in common') },
    ]);
  });

  it('is ignored only at the request of an operator’s key', async () => {
    await put(laterToday());
    const refused = await create({ ignore_quiet_hours: true });
    expect(refused.status).toBe(400);
    expect(refused.body.error[0].field).toBe('ignore_quiet_hours');
    const { id } = (await create()).body.data.campaign;
    expect((await patch(id, { ignore_quiet_hours: true })).status).toBe(400);
    const excepted = await patch(id, { ignore_quiet_hours: true }, workspace.operatorKey);
    expect(excepted.body.data).toMatchObject({ ignore_quiet_hours: true });
    expect(Date.parse(excepted.body.data.begins_at) - Date.now()).toBeLessThan(60_000);
  });
});

describe('PATCH /api/campaigns/{id}', () => {
  it('changes the name, the description and the window, and nothing that is absent', async () => {
    const { id } = (await create({ description: 'First' })).body.data.campaign;
    const window = { ...laterToday(), days: ['mon', 'fri'] };
    const first = await patch(id, { name: 'Summer offer', sending_window: window });
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject({
      name: 'Summer offer',
      description: 'First',
      sending_window: window,
    });
    const second = await patch(id, { description: null, sending_window: null });
    expect(second.body.data).toMatchObject({ name: 'Summer offer', description: null, sending_window: null });
    expect(await audited()).toContain('campaign.update');
  });

  it('refuses the window of a campaign that has ended, and an unknown campaign', async () => {
    const { id } = (await create()).body.data.campaign;
    await api.send('POST', `/api/campaigns/${id}/cancel`, { key: workspace.channelKey });
    expect((await patch(id, { sending_window: now() })).status).toBe(409);
    expect((await patch(id, { name: 'After its end' })).status).toBe(200);
    expect((await patch(randomUUID(), { name: 'None' })).status).toBe(404);
    expect((await patch(id, { name: ' ' })).status).toBe(400);
  });

  it('shows in the diagnosis when sending continues', async () => {
    const { id } = (await create({ sending_window: laterToday() })).body.data.campaign;
    await api.database.pool.query(sql.type(nothing)`
      UPDATE campaign SET status = 'RUNNING', preparation_status = 'READY', started_at = now() WHERE id = ${id}`);
    const { body: answer } = await api.send('GET', `/api/campaigns/${id}/diagnosis`, {
      key: workspace.channelKey,
    });
    const { checks = answer.data } = answer.data;
    const entry = checks.find(({ check: name }: { check: string }) => name === 'SENDING_WINDOW');
    expect(entry).toMatchObject({
      ok: false,
      detail: expect.stringMatching(
        /^Waits for \d\d:\d\d.*, UTC, in \d+ (minutes|hours): its sending window is closed\.$/,
      ),
    });
  });
});

describe('a limited-time offer', () => {
  const offerFor = async (sendsIn: number, endsIn: number): Promise<string> => {
    const components = [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Soon over', has_expiration: true } },
      { type: 'BODY', text: 'Hello.' },
    ];
    await api.database.pool.query(sql.type(nothing)`
      UPDATE template SET components = ${JSON.stringify(components)}::jsonb WHERE id = ${utility}`);
    const { body: answer } = await create({
      template_id: utility,
      send_type: 'SCHEDULED',
      scheduled_at: new Date(Date.now() + sendsIn * hourMs).toISOString(),
      variable_mapping: { limited_time_offer: { expiration_time_ms: Date.now() + endsIn * hourMs } },
    });
    return answer.data.campaign.id;
  };

  it('is not put behind its end by a later time or by a window', async () => {
    const id = await offerFor(1, 3);
    const later = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();
    const refused = await patch(id, { scheduled_at: later(4) });
    expect(refused).toMatchObject({ status: 400, body: { error: [{ field: 'scheduled_at' }] } });
    expect(refused.body.message).toMatch(
      /^scheduled_at would begin to send after the end of the offer \(limited_time_offer/,
    );
    expect((await patch(id, { scheduled_at: later(2) })).status).toBe(200);
    const window = { timezone: 'UTC', from: inHours(5), to: inHours(6) };
    expect(await patch(id, { sending_window: window })).toMatchObject({
      status: 400,
      body: { error: [{ field: 'sending_window' }] },
    });
    const open = { timezone: 'UTC', from: inHours(1), to: inHours(4) };
    expect((await patch(id, { sending_window: open })).status).toBe(200);
  });

  it('that has ended is not started again', async () => {
    const id = await offerFor(1, 3);
    const pausedWithEnd = (endsAt: number) =>
      api.database.pool.query(sql.type(nothing)`
        UPDATE campaign SET status = 'PAUSED', pause_reason = 'OPERATOR', preparation_status = 'READY', started_at = now(),
          message_plan = jsonb_build_object('components', jsonb_build_array(jsonb_build_object('parameters',
            jsonb_build_array(jsonb_build_object('limited_time_offer', jsonb_build_object('expiration_time_ms', ${endsAt}::int8))))))
        WHERE id = ${id}`);
    const start = () => api.send('POST', `/api/campaigns/${id}/start`, { key: workspace.channelKey });
    await pausedWithEnd(Date.now() - 1);
    expect(await start()).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('limited_time_offer.expiration_time_ms') },
    });
    await pausedWithEnd(Date.now() + hourMs);
    expect((await start()).status).toBe(202);
  });
});
