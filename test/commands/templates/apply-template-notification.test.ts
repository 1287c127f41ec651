import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getTemplate } from '../../../src/records/templates/templates.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { liftBlocks } from '../../../src/commands/workspaces/apply-account-notification.ts';
import {
  createApplier,
  deliver,
  eventsOf,
  fieldCallback,
  messagesCallback,
  rowsOf,
  subscribeToAll,
  type RecordingApplier,
} from '../../support/callback-fixtures.ts';
import { seedCampaign, type SeededCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let applier: RecordingApplier;

beforeAll(async () => {
  database = await createTestDatabase();
  applier = createApplier(database.pool);
});
afterAll(() => database.drop());

interface Place extends SeededCampaign {
  readonly accountId: string;
  /** An integer, as the provider sends it. */
  readonly providerTemplateId: number;
}

let nextTemplateId = 1_689_556_908_129_000;

async function seed(): Promise<Place> {
  const place = await seedCampaign(database.pool, { recipients: 1 });
  await subscribeToAll(database.pool, place.workspaceId);
  nextTemplateId += 1;
  await database.pool.query(sql.type(nothing)`
    UPDATE template SET provider_template_id = ${String(nextTemplateId)} WHERE id = ${place.templateId}`);
  const [account] = await rowsOf<{ id: string }>(
    database.pool,
    sql.fragment`SELECT id FROM business_account WHERE workspace_id = ${place.workspaceId}`,
  );
  return { ...place, accountId: account?.id ?? '', providerTemplateId: nextTemplateId };
}

const about = ({ providerTemplateId }: Place) => ({
  message_template_id: providerTemplateId,
  message_template_name: 'hello',
  message_template_language: 'en-US',
});

const statusUpdate = (place: Place, event: string, reason: string | null = 'NONE') =>
  fieldCallback(place.accountId, 'message_template_status_update', { ...about(place), event, reason });

const templateOf = async ({ templateId }: Place) =>
  (
    await rowsOf(
      database.pool,
      sql.fragment`SELECT status, category, quality, rejected_reason FROM template WHERE id = ${templateId}`,
    )
  )[0];

const campaignOf = async ({ campaignId }: Place) =>
  (
    await rowsOf(
      database.pool,
      sql.fragment`SELECT status, pause_reason FROM campaign WHERE id = ${campaignId}`,
    )
  )[0];

const channelOf = async ({ channelId }: Place) =>
  (
    await rowsOf(
      database.pool,
      sql.fragment`SELECT status, block_reason FROM channel WHERE id = ${channelId}`,
    )
  )[0];

const dataOf = async ({ workspaceId }: Place) =>
  (await eventsOf(database.pool, workspaceId)).map(({ data }) => data);

/** The callback with the provider's time, in epoch seconds. */
function atTime(time: number, callback: ReturnType<typeof fieldCallback>) {
  const [entry] = callback['entry'] as readonly object[];
  return { ...callback, entry: [{ ...entry, time }] };
}

describe('a notification about a template', () => {
  it('is recorded, emits one event, and pauses the campaigns when the template may not be sent', async () => {
    const place = await seed();
    await deliver(applier, [
      statusUpdate(place, 'PAUSED', 'LOW_QUALITY'),
      statusUpdate(place, 'PAUSED', 'LOW_QUALITY'),
    ]);
    expect(await templateOf(place)).toMatchObject({ status: 'PAUSED', rejected_reason: 'LOW_QUALITY' });
    expect(await campaignOf(place)).toEqual({ status: 'PAUSED', pause_reason: 'TEMPLATE_UNAVAILABLE' });
    expect(applier.orchestratorCalls).toContain(`refresh ${place.campaignId}`);
    const providerTemplateId = String(place.providerTemplateId);
    expect(await dataOf(place)).toEqual([
      {
        type: 'STATUS',
        providerTemplateId,
        newStatus: 'PAUSED',
        name: 'hello',
        language: 'en_US',
        reason: 'LOW_QUALITY',
        template: {
          id: place.templateId,
          name: 'hello',
          language: 'en_US',
          provider_template_id: providerTemplateId,
          provider_template_status: 'PAUSED',
        },
      },
    ]);
  });

  it('is recorded short, however long its words are', async () => {
    const place = await seed();
    await deliver(applier, [statusUpdate(place, 'P'.repeat(100_000), 'R'.repeat(100_000))]);
    await deliver(applier, [
      fieldCallback(place.accountId, 'account_update', {
        event: 'ACCOUNT_DELETED',
        decision: 'D'.repeat(100_000),
      }),
      fieldCallback(place.accountId, 'account_update', { event: 'E'.repeat(100_000) }),
    ]);
    expect(await templateOf(place)).toMatchObject({
      status: 'P'.repeat(64),
      rejected_reason: 'R'.repeat(1_000),
    });
    const notices = sql.fragment`SELECT max(octet_length(message || subject_name)) < 4096 AS small FROM notice
      WHERE workspace_id = ${place.workspaceId}`;
    expect(await rowsOf(database.pool, notices)).toEqual([{ small: true }]);
    const account = sql.fragment`SELECT octet_length(notice::text) < 8192 AS small FROM business_account
      WHERE id = ${place.accountId}`;
    expect(await rowsOf(database.pool, account)).toEqual([{ small: true }]);
  });

  it('leads to the latest status in any order of arrival, and when it is repeated', async () => {
    const notification = (place: Place, event: string, time: number) => ({
      ...statusUpdate(place, event),
      entry: (statusUpdate(place, event)['entry'] as object[]).map((entry) => ({ ...entry, time })),
    });
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [0, 2, 1, 0],
    ]) {
      const place = await seed();
      const callbacks = [
        notification(place, 'PAUSED', 1_800_000_100),
        notification(place, 'PAUSED', 1_800_000_200),
        notification(place, 'APPROVED', 1_800_000_300),
      ];
      for (const at of order) await deliver(applier, [callbacks[at] ?? {}]);
      expect(await templateOf(place)).toMatchObject({ status: 'APPROVED' });
    }
  });

  it('emits an event with the remarks beside the reason', async () => {
    const place = await seed();
    const other_info = { title: 'LOCKED', description: 'It is used by another tool.' };
    const locked = { ...about(place), event: 'LOCKED', reason: 'NONE', other_info };
    await deliver(applier, [fieldCallback(place.accountId, 'message_template_status_update', locked)]);
    expect(await dataOf(place)).toMatchObject([{ newStatus: 'LOCKED', reason: null, otherInfo: other_info }]);
    expect(await campaignOf(place)).toMatchObject({ status: 'RUNNING' });
  });

  it('is kept when a change of the category is announced, until it has changed', async () => {
    const place = await seed();
    const announced = {
      ...about(place),
      new_category: 'UTILITY',
      correct_category: 'MARKETING',
      category_update_timestamp: 1_900_000_000,
    };
    const telling = (value: object) =>
      fieldCallback(place.accountId, 'template_category_update', { ...value });
    await deliver(applier, [telling(announced)]);
    const { workspaceId, templateId } = place;
    expect(await getTemplate(database.pool, workspaceId, templateId)).toMatchObject({
      category: 'UTILITY',
      upcomingCategory: 'MARKETING',
      upcomingCategoryAt: new Date(1_900_000_000_000),
    });
    expect(applier.complaints).toContain('the category of a template will change');
    expect(await dataOf(place)).toEqual([]);
    await deliver(applier, [
      telling({ ...about(place), previous_category: 'UTILITY', new_category: 'MARKETING' }),
    ]);
    expect(await getTemplate(database.pool, workspaceId, templateId)).toMatchObject({
      category: 'MARKETING',
      upcomingCategory: null,
      upcomingCategoryAt: null,
    });
  });

  it('does not start campaigns again when the template is reinstated', async () => {
    const place = await seed();
    await deliver(applier, [statusUpdate(place, 'DISABLED'), statusUpdate(place, 'REINSTATED')]);
    expect(await templateOf(place)).toMatchObject({ status: 'REINSTATED', rejected_reason: null });
    expect(await campaignOf(place)).toMatchObject({ status: 'PAUSED' });
    expect((await dataOf(place)).map(({ newStatus, reason }) => [newStatus, reason])).toEqual([
      ['DISABLED', null],
      ['REINSTATED', null],
    ]);
  });

  it('changes the category when that has happened, not when it is announced', async () => {
    const place = await seed();
    const update = (value: object) =>
      fieldCallback(place.accountId, 'template_category_update', { ...about(place), ...value });
    await deliver(applier, [update({ new_category: 'UTILITY', correct_category: 'MARKETING' })]);
    expect(await templateOf(place)).toMatchObject({ category: 'UTILITY' });
    await deliver(applier, [update({ previous_category: 'UTILITY', new_category: 'MARKETING' })]);
    expect(await templateOf(place)).toMatchObject({ category: 'MARKETING' });
    expect(await dataOf(place)).toMatchObject([{ type: 'CATEGORY', newStatus: 'APPROVED', reason: null }]);
    expect(await campaignOf(place)).toMatchObject({ status: 'RUNNING' });
  });

  it('keeps the newest category when older reports come late', async () => {
    const place = await seed();
    const change = (new_category: string, time: number) =>
      atTime(
        time,
        fieldCallback(place.accountId, 'template_category_update', { ...about(place), new_category }),
      );
    await deliver(applier, [change('MARKETING', 1_751_000_200), change('UTILITY', 1_751_000_100)]);
    expect(await templateOf(place)).toMatchObject({ category: 'MARKETING' });
    expect(await dataOf(place)).toHaveLength(1);
  });

  it('records the quality without an event', async () => {
    const place = await seed();
    const value = { ...about(place), previous_quality_score: 'GREEN', new_quality_score: 'RED' };
    await deliver(applier, [fieldCallback(place.accountId, 'message_template_quality_update', value)]);
    expect(await templateOf(place)).toMatchObject({ quality: 'RED', status: 'APPROVED' });
    const shown = await getTemplate(database.pool, place.workspaceId, place.templateId);
    expect(shown).toMatchObject({ quality: 'RED' });
    expect(await dataOf(place)).toEqual([]);
  });

  it('has the templates fetched again when the definition changed or the template is new', async () => {
    const [changed, fresh] = [await seed(), await seed()];
    await deliver(applier, [
      fieldCallback(changed.accountId, 'message_template_components_update', about(changed)),
      statusUpdate({ ...fresh, providerTemplateId: 77 }, 'APPROVED'),
    ]);
    expect(applier.orchestratorCalls).toContain(`sync ${changed.accountId}`);
    expect(applier.orchestratorCalls).toContain(`sync ${fresh.accountId}`);
  });
});

describe('a notification about an account', () => {
  const update = (place: Place, value: object) =>
    fieldCallback(place.accountId, 'account_update', { ...value });

  it('asks for no further sync of templates in a batch after one failed', async () => {
    const asked: string[] = [];
    const silent = createApplier(database.pool, {
      orchestrator: {
        ...applier.orchestrator,
        startTemplateSync: async (id: string) => {
          asked.push(id);
          throw new Error('Temporal is silent');
        },
      },
    });
    const places = [await seed(), await seed(), await seed()];
    await deliver(
      silent,
      places.map((place) => statusUpdate({ ...place, providerTemplateId: 1 }, 'APPROVED')),
    );
    expect(asked).toHaveLength(1);
    expect(silent.complaints).toContain('sync of templates delayed');
  });

  it('has the templates fetched again when one returns that the last sync did not find', async () => {
    const place = await seed();
    await database.pool.query(sql.type(nothing)`
      UPDATE template SET status = 'DELETED', vanished_at = now() WHERE id = ${place.templateId}`);
    await deliver(applier, [statusUpdate(place, 'APPROVED')]);
    expect(await templateOf(place)).toMatchObject({ status: 'APPROVED' });
    expect(applier.orchestratorCalls).toContain(`sync ${place.accountId}`);
  });

  it('blocks the channels and pauses their campaigns when the account may not send', async () => {
    const place = await seed();
    const ban = { ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: 'April 17, 2025' } };
    await deliver(applier, [update(place, { event: 'DISABLED_UPDATE', ...ban })]);
    expect(await channelOf(place)).toEqual({
      status: 'blocked',
      block_reason: 'ACCOUNT_UPDATE DISABLED_UPDATE',
    });
    expect(await campaignOf(place)).toEqual({ status: 'PAUSED', pause_reason: 'CHANNEL_BLOCKED' });
  });

  it('changes nothing when it is older than the one before', async () => {
    const place = await seed();
    const ban = update(place, { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } });
    const reinstated = update(place, { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } });
    await deliver(applier, [atTime(1_751_000_100, ban), atTime(1_751_000_200, reinstated)]);
    await deliver(applier, [atTime(1_751_000_100, ban)]);
    expect(await channelOf(place)).toEqual({ status: 'active', block_reason: null });
    await deliver(applier, [atTime(1_751_000_300, ban), atTime(1_751_000_200, reinstated)]);
    expect(await channelOf(place)).toMatchObject({ status: 'blocked' });
  });

  it('lifts that block, and only that one, when the account is reinstated', async () => {
    const [banned, blocked] = [await seed(), await seed()];
    await database.pool.query(sql.type(nothing)`
      UPDATE channel SET status = 'blocked', block_reason = 'by hand' WHERE id = ${blocked.channelId}`);
    const reinstated = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } };
    await deliver(applier, [update(banned, { event: 'ACCOUNT_DELETED' })]);
    await deliver(applier, [update(banned, reinstated), update(blocked, reinstated)]);
    expect(await channelOf(banned)).toEqual({ status: 'active', block_reason: null });
    expect(await channelOf(blocked)).toEqual({ status: 'blocked', block_reason: 'by hand' });
    expect(await campaignOf(banned)).toMatchObject({ status: 'PAUSED' });
  });

  describe('that restricts it', () => {
    const restricted = (place: Place, restriction_type: string, expiration: number) =>
      update(place, { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ restriction_type, expiration }] });
    const sending = 'RESTRICTED_BIZ_INITIATED_MESSAGING';
    // The applier's clock stands at 2026-03-01T12:00:00Z.
    const ended = Date.parse('2026-03-01T11:00:00Z') / 1000;
    const soon = Date.parse('2026-03-01T13:00:00Z') / 1000;
    const later = Date.parse('2099-03-01T13:00:00Z') / 1000;
    const pass = ({ channelId }: Place) =>
      database.pool.query(sql.type(nothing)`
        UPDATE channel SET blocked_until = now() WHERE id = ${channelId} AND blocked_until IS NOT NULL`);

    it('blocks the channel until the restriction of sending ends', async () => {
      const place = await seed();
      await deliver(applier, [restricted(place, sending, soon)]);
      expect(await channelOf(place)).toMatchObject({ status: 'blocked' });
      expect(await campaignOf(place)).toEqual({ status: 'PAUSED', pause_reason: 'CHANNEL_BLOCKED' });
      await pass(place);
      await liftBlocks(applier);
      expect(await channelOf(place)).toEqual({ status: 'active', block_reason: null });
    });

    it.each([
      ['for a time that has ended', sending, ended],
      ['in calls', 'RESTRICTED_USER_INITIATED_CALLING_CALL_BUTTON_HIDDEN', later],
      ['in new numbers', 'RESTRICTED_ADD_PHONE_NUMBER_ACTION', later],
      ['in answers', 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING', later],
    ])('%s lets the channel send', async (_, type, expiration) => {
      const place = await seed();
      await deliver(applier, [restricted(place, type, expiration)]);
      expect(await channelOf(place)).toEqual({ status: 'active', block_reason: null });
      expect(await campaignOf(place)).toMatchObject({ status: 'RUNNING' });
    });

    it('blocks the channel for the longer of two restrictions, and for good by a ban', async () => {
      const [extended, banned] = [await seed(), await seed()];
      await deliver(applier, [
        restricted(extended, sending, later),
        restricted(extended, sending, soon),
        restricted(banned, sending, soon),
        update(banned, { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } }),
      ]);
      await liftBlocks(applier);
      expect(await channelOf(extended)).toMatchObject({ status: 'blocked' });
      await pass(banned);
      await liftBlocks(applier);
      expect(await channelOf(banned)).toEqual({
        status: 'blocked',
        block_reason: 'ACCOUNT_UPDATE DISABLED_UPDATE',
      });
    });
  });

  it('is logged as a warning when it reports a violation', async () => {
    const place = await seed();
    await deliver(applier, [
      update(place, { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SPAM' } }),
    ]);
    expect(await channelOf(place)).toMatchObject({ status: 'active' });
    expect(applier.lines.at(-1)).toMatchObject({
      msg: 'the provider reported on an account',
      businessAccountId: place.accountId,
      field: 'account_update',
      event: 'ACCOUNT_VIOLATION',
      facts: { violation_info: { violation_type: 'SPAM' } },
    });
  });

  const accountOf = async ({ accountId }: Place) =>
    (
      await rowsOf(
        database.pool,
        sql.fragment`SELECT notice, messaging_limit FROM business_account WHERE id = ${accountId}`,
      )
    )[0];

  it('is kept for the operator, with the newest messaging limit', async () => {
    const place = await seed();
    const limit = (max_daily_conversations_per_business: unknown, time: number) => {
      const callback = fieldCallback(place.accountId, 'business_capability_update', {
        max_daily_conversations_per_business,
      });
      return { ...callback, entry: (callback['entry'] as object[]).map((entry) => ({ ...entry, time })) };
    };
    await deliver(applier, [limit(2000, 1_800_000_200), limit(250, 1_800_000_100)]);
    expect(await accountOf(place)).toMatchObject({ messaging_limit: 2000 });
    await deliver(applier, [
      limit(-1, 1_800_000_300),
      atTime(
        1_800_000_400,
        fieldCallback(place.accountId, 'account_review_update', { decision: 'REJECTED' }),
      ),
    ]);
    expect(await accountOf(place)).toMatchObject({
      messaging_limit: null,
      notice: { field: 'account_review_update', event: 'REJECTED' },
    });
  });

  it('changes nothing when it does not concern sending', async () => {
    const place = await seed();
    await deliver(applier, [update(place, { event: 'VERIFIED_ACCOUNT' })]);
    expect(await channelOf(place)).toMatchObject({ status: 'active' });
  });

  it('slows the channel down, or pauses its campaigns, by errors that belong to no message', async () => {
    const place = await seed();
    const errors = (code: number) =>
      messagesCallback(place.channelId, { errors: [{ code, title: 'x' }] } as object);
    const rate = sql.fragment`SELECT factor FROM channel_rate WHERE channel_id = ${place.channelId}`;
    await deliver(applier, [errors(130429)]);
    expect(await rowsOf(database.pool, rate)).toEqual([{ factor: 0.5 }]);
    expect(await campaignOf(place)).toMatchObject({ status: 'RUNNING' });
    await deliver(applier, [errors(0)]);
    expect(await campaignOf(place)).toEqual({ status: 'PAUSED', pause_reason: 'CHANNEL_BLOCKED' });
  });
});
