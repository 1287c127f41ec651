import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTemplateActivities } from '../../../src/activities/sync-templates.ts';
import { adjustWallet, rechargeWallet } from '../../../src/commands/wallet/change-wallet.ts';
import { createChannel } from '../../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../../src/commands/workspaces/workspaces.ts';
import { applyTemplateNotification } from '../../../src/commands/templates/apply-template-notification.ts';
import {
  syncBusinessAccount,
  syncTemplates,
  type SyncProgress,
} from '../../../src/commands/templates/sync-templates.ts';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { unsendablePart } from '../../../src/domain/templates/definition.ts';
import { ProviderRefused, ProviderUnreachable } from '../../../src/domain/error.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { ProviderRequestError } from '../../../src/provider/provider.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { listTemplates } from '../../../src/records/templates/templates.ts';
import { seedCampaign, testSecrets } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { connectLockHolder } from '../../support/lock-holder.ts';
import {
  createListingProvider,
  listedTemplate,
  type ListingProvider,
} from '../../support/listing-provider.ts';
import type { Orchestrator } from '../../../src/orchestrator/orchestrator.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const logger = new DefaultLogger('ERROR');
const unreachable = new ProviderRequestError({ kind: 'unreachable', cause: 'ECONNREFUSED' });

async function anAccount() {
  const provider = createListingProvider();
  const refreshed: string[] = [];
  const orchestrator = {
    refreshCampaign: (id: string) => {
      refreshed.push(id);
      return Promise.resolve(true);
    },
  } as unknown as Orchestrator;
  const { workspaceId } = await createWorkspace({ database: database.pool }, { name: 'Acme' });
  const businessAccountId = randomUUID();
  await createChannel(
    { database: database.pool, secrets: testSecrets },
    {
      workspaceId,
      businessAccountId,
      phoneNumberId: randomUUID(),
      displayPhoneNumber: '+49 30 901820',
      accessToken: 'token',
    },
  );
  return {
    provider,
    refreshed,
    workspaceId,
    businessAccountId,
    dependencies: dependenciesWith(provider, orchestrator),
  };
}

const dependenciesWith = (provider: ListingProvider, orchestrator: Orchestrator) => ({
  database: database.pool,
  secrets: testSecrets,
  logger: createLogger({ logLevel: 'silent', logFormat: 'json' }, 'test'),
  now: () => new Date('2026-11-21T09:00:00Z'),
  provider,
  orchestrator,
});

const stored = async (workspaceId: number) => {
  const filter = { statuses: [], search: '', page: 1, limit: 100 };
  return (await listTemplates(database.pool, workspaceId, filter)).items;
};

const statuses = async (workspaceId: number) =>
  (await stored(workspaceId)).map(({ name, status }) => `${name} ${status}`);

const subscribe = (workspaceId: number) =>
  database.pool.query(sql.type(nothing)`
    INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
    VALUES (${workspaceId}, 'All', 'https://hooks.example.com/', 'active', ARRAY['template'])`);

const Body = row(t.type({ body: t.string }));
const events = async (workspaceId: number): Promise<readonly unknown[]> => {
  const bodies = await database.pool.anyFirst(sql.type(Body)`
    SELECT body FROM event WHERE workspace_id = ${workspaceId} ORDER BY id`);
  return bodies.map((body) => JSON.parse(body));
};

const Terms = row(t.type({ wallet: t.string, timeZone: t.union([t.string, t.null]) }));
const termsOf = (businessAccountId: string) =>
  database.pool.one(sql.type(Terms)`
    SELECT wallet.currency AS wallet, business_account.time_zone AS "timeZone"
    FROM business_account JOIN channel ON channel.business_account_id = business_account.id
    JOIN wallet ON wallet.channel_id = channel.id
    WHERE business_account.id = ${businessAccountId}`);

const HealthRow = row(
  t.type({ canSend: t.string, details: t.string, quality: t.string, portfolio: t.string, limit: t.number }),
);

test('a sync reads the portfolio, whether its numbers may send, their quality and their limit', async () => {
  const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
  provider.serve([
    [listedTemplate({ id: '1', name: 'own' }), listedTemplate({ id: '2', source: 'AUTO_GENERATED' })],
  ]);
  await syncTemplates(
    {
      ...dependencies,
      provider: {
        ...provider,
        readAccountTerms: () => Promise.resolve({ currency: null, timeZone: null, portfolioId: '4711' }),
        readNumberHealth: () =>
          Promise.resolve({
            canSend: 'BLOCKED',
            details: 'No payment.',
            quality: 'LOW',
            messagingLimit: 250,
          } as const),
      },
    },
    workspaceId,
  );
  expect(
    await database.pool.one(sql.type(HealthRow)`
      SELECT can_send AS "canSend", can_send_details AS details, quality, portfolio_id AS portfolio, messaging_limit AS "limit"
      FROM channel JOIN business_account ON business_account.id = channel.business_account_id
      WHERE business_account.id = ${businessAccountId}`),
  ).toEqual({ canSend: 'BLOCKED', details: 'No payment.', quality: 'LOW', portfolio: '4711', limit: 250 });
  const Kind = row(t.type({ kind: t.string }));
  expect(
    await database.pool.anyFirst(
      sql.type(Kind)`SELECT kind FROM notice WHERE workspace_id = ${workspaceId} ORDER BY kind`,
    ),
  ).toEqual(['channel_quality', 'messaging_limit']);
  // The provider's own templates are stored, and not offered.
  expect((await stored(workspaceId)).map(({ name }) => name)).toEqual(['own']);
  const Source = row(t.type({ source: t.union([t.string, t.null]) }));
  expect(
    await database.pool.anyFirst(sql.type(Source)`
      SELECT source FROM template WHERE business_account_id = ${businessAccountId} ORDER BY provider_template_id`),
  ).toEqual([null, 'AUTO_GENERATED']);
});

describe('currency and time zone of an account', () => {
  test('are read from the provider, and the wallet takes the currency until something is booked', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    provider.serve([[]]);
    const synced = (currency: string, timeZone: string | null) => {
      const readAccountTerms = () => Promise.resolve({ currency, timeZone });
      return syncTemplates({ ...dependencies, provider: { ...provider, readAccountTerms } }, workspaceId);
    };
    await synced('EUR', 'Europe/Berlin');
    expect(await termsOf(businessAccountId)).toEqual({ wallet: 'EUR', timeZone: 'Europe/Berlin' });
    await synced('INR', null);
    expect(await termsOf(businessAccountId)).toEqual({ wallet: 'INR', timeZone: 'Europe/Berlin' });
    const channelId = await database.pool.oneFirst(sql.type(row(t.type({ id: t.string })))`
      SELECT id FROM channel WHERE business_account_id = ${businessAccountId}`);
    await rechargeWallet({ database: database.pool }, { workspaceId, channelId, amount: '1' });
    await adjustWallet({ database: database.pool }, { workspaceId, channelId, amount: '-1', reason: 'back' });
    await synced('USD', 'Asia/Kolkata');
    expect(await termsOf(businessAccountId)).toEqual({ wallet: 'INR', timeZone: 'Asia/Kolkata' });
    // Statements that name a time zone which Postgres does not know would fail.
    await synced('INR', 'Nowhere/Land');
    expect(await termsOf(businessAccountId)).toEqual({ wallet: 'INR', timeZone: 'Asia/Kolkata' });
  });

  test('stay as they are when the provider does not say, and templates are synced all the same', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    provider.serve([[listedTemplate({ id: '1', name: 'a' })]]);
    const readAccountTerms = () => Promise.reject(unreachable);
    const summary = await syncTemplates(
      { ...dependencies, provider: { ...provider, readAccountTerms } },
      workspaceId,
    );
    expect(summary).toMatchObject({ added: 1 });
    expect(await termsOf(businessAccountId)).toEqual({ wallet: 'USD', timeZone: null });
  });
});

describe('a sync', () => {
  test('writes no page while another sync of the account writes one', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    provider.serve([[listedTemplate({ id: '1', name: 'a' })]]);
    const holder = await connectLockHolder(database.ownerUrl);
    await holder.hold('SELECT FROM business_account WHERE id = $1 FOR NO KEY UPDATE', [businessAccountId]);
    const synced = syncTemplates(dependencies, workspaceId);
    await holder.untilWaiting(1, synced);
    const meanwhile = await stored(workspaceId);
    await holder.release();
    expect(await synced).toMatchObject({ added: 1 });
    expect(meanwhile).toEqual([]);
    await holder.end();
  });

  test('stores every page, and changes nothing when it runs again', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    provider.serve([
      [listedTemplate({ id: '1', name: 'a' }), listedTemplate({ id: '2', name: 'b', status: 'PENDING' })],
      [listedTemplate({ id: '3', name: 'c' }), listedTemplate({ id: '3', name: 'c' })],
    ]);
    expect(await syncTemplates(dependencies, workspaceId)).toEqual({
      synced: 3,
      added: 3,
      changed: 0,
    });
    const first = await stored(workspaceId);
    expect(await syncTemplates(dependencies, workspaceId)).toEqual({
      synced: 3,
      added: 0,
      changed: 0,
    });
    expect(await stored(workspaceId)).toEqual(first);
    expect(await statuses(workspaceId)).toEqual(['a APPROVED', 'b PENDING', 'c APPROVED']);
  });

  test('shows a template that is too large to be stored, and lets nobody send it', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    const small = [{ type: 'BODY', text: 'Hi' }];
    provider.serve([
      [
        listedTemplate({ id: '1', name: 'a', components: [{ type: 'BODY', text: 'x'.repeat(65_536) }] }),
        listedTemplate({ id: '2', name: 'b'.repeat(600), components: small }),
        listedTemplate({ id: '3', name: 'c', language: 'd'.repeat(600), components: small }),
        listedTemplate({ id: '4', name: 'd', components: small, rejectedReason: 'r'.repeat(5_000) }),
        listedTemplate({ id: '5'.repeat(4_000), name: 'e', components: small }),
      ],
    ]);
    expect(await syncTemplates(dependencies, workspaceId)).toMatchObject({ synced: 5 });
    const templates = await stored(workspaceId);
    expect(templates.map(({ name, components }) => [name.slice(0, 3), components])).toEqual([
      ['a', [{ type: 'TOO_LARGE' }]],
      ['bbb', [{ type: 'TOO_LARGE' }]],
      ['c', [{ type: 'TOO_LARGE' }]],
      ['d', small],
      ['e', small],
    ]);
    for (const template of templates) {
      expect(Buffer.byteLength(JSON.stringify(template.components))).toBeLessThan(4_096);
      const { components, ...options } = template;
      expect(unsendablePart(parseTemplate(components, options)) !== undefined).toBe(template.name < 'd');
    }
  });

  test('emits events for changed states and categories, and for nothing else', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    await subscribe(workspaceId);
    provider.serve([[listedTemplate()]]);
    await syncTemplates(dependencies, workspaceId);
    provider.serve([[listedTemplate({ components: [{ type: 'BODY', text: 'Hello {{1}}' }] })]]);
    expect(await syncTemplates(dependencies, workspaceId)).toMatchObject({ added: 0, changed: 1 });
    expect(await events(workspaceId)).toEqual([]);

    const changed = { status: 'REJECTED', category: 'MARKETING', rejectedReason: 'PROMOTIONAL' };
    provider.serve([[listedTemplate(changed)]]);
    await syncTemplates(dependencies, workspaceId);
    const [template] = await stored(workspaceId);
    const data = {
      providerTemplateId: '1387372356726668',
      newStatus: 'REJECTED',
      name: 'order_update',
      language: 'en_US',
      template: {
        id: template?.id,
        name: 'order_update',
        language: 'en_US',
        provider_template_id: '1387372356726668',
        provider_template_status: 'REJECTED',
      },
    };
    expect(await events(workspaceId)).toEqual([
      expect.objectContaining({
        eventKey: 'template',
        data: { ...data, type: 'STATUS', reason: 'PROMOTIONAL' },
      }),
      expect.objectContaining({ eventKey: 'template', data: { ...data, type: 'CATEGORY', reason: null } }),
    ]);
  });

  test('marks templates that the provider no longer lists, and restores them when they are listed again', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    await subscribe(workspaceId);
    const both = [listedTemplate({ id: '1', name: 'a' }), listedTemplate({ id: '2', name: 'b' })];
    provider.serve([both]);
    await syncTemplates(dependencies, workspaceId);
    provider.serve([both.slice(0, 1)]);
    expect(await syncTemplates(dependencies, workspaceId)).toMatchObject({ synced: 1, changed: 1 });
    expect(await syncTemplates(dependencies, workspaceId)).toMatchObject({ synced: 1, changed: 0 });
    expect(await statuses(workspaceId)).toEqual(['a APPROVED', 'b DELETED']);
    expect(await events(workspaceId)).toMatchObject([
      { data: { type: 'STATUS', newStatus: 'DELETED', name: 'b' } },
    ]);

    provider.serve([both]);
    expect(await syncTemplates(dependencies, workspaceId)).toMatchObject({ changed: 1 });
    const [, back] = await stored(workspaceId);
    expect(back).toMatchObject({ status: 'APPROVED', vanishedAt: null });
  });

  test('marks nothing as vanished when a template could not be read', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    provider.serve([[listedTemplate()]]);
    await syncTemplates(dependencies, workspaceId);
    provider.serve([[]], 1);
    expect(await syncTemplates(dependencies, workspaceId)).toMatchObject({ synced: 0, changed: 0 });
    expect(await statuses(workspaceId)).toEqual(['order_update APPROVED']);
  });

  test('keeps a status that a callback reported while the page was on its way', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    provider.serve([[listedTemplate()]]);
    await syncTemplates(dependencies, workspaceId);
    const listPage = provider.listTemplates;
    const paused = {
      ...provider,
      async *listTemplates(query: Parameters<typeof listPage>[0]) {
        for await (const page of listPage(query)) {
          await database.pool.query(sql.type(nothing)`
            UPDATE template SET status = 'PAUSED', updated_at = clock_timestamp() WHERE workspace_id = ${workspaceId}`);
          yield page;
        }
      },
    };
    expect(await syncTemplates({ ...dependencies, provider: paused }, workspaceId)).toMatchObject({
      changed: 0,
    });
    expect(await statuses(workspaceId)).toEqual(['order_update PAUSED']);
    expect(await syncTemplates(dependencies, workspaceId)).toMatchObject({ changed: 1 });
  });

  test('ignores a reported status from before the sync', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    provider.serve([[listedTemplate()]]);
    await syncTemplates(dependencies, workspaceId);
    const applyStatusAt = (secondsFromNow: number) =>
      applyTemplateNotification(dependencies, database.pool, {
        kind: 'template_status',
        businessAccountId,
        providerTemplateId: listedTemplate().id,
        raw: {},
        newStatus: 'PAUSED',
        reason: null,
        remarks: {},
        timestamp: String(Math.floor(Date.now() / 1_000) + secondsFromNow),
      });
    await applyStatusAt(-60);
    expect(await statuses(workspaceId)).toEqual(['order_update APPROVED']);
    await applyStatusAt(60);
    expect(await statuses(workspaceId)).toEqual(['order_update PAUSED']);
  });

  test('keeps the templates it does not understand, in a form that Postgres takes', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    provider.serve([
      [
        listedTemplate({
          name: 'odd\u0000name',
          category: null,
          components: [{ type: 'HOLOGRAM', text: '\ud800\u0000x', '\u0000': 1 }, null, 7],
        }),
      ],
    ]);
    await syncTemplates(dependencies, workspaceId);
    expect(await stored(workspaceId)).toMatchObject([
      {
        name: 'oddname',
        category: 'UNKNOWN',
        components: [{ type: 'HOLOGRAM', text: '\ufffdx', '': 1 }, null, 7],
      },
    ]);
  });

  test('stores each template once when several run side by side', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    const templates = Array.from({ length: 40 }, (_, at) =>
      listedTemplate({ id: String(at), name: `t${at}` }),
    );
    provider.serve([templates.slice(0, 20), templates.slice(20)]);
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => syncBusinessAccount(dependencies, businessAccountId)),
    );
    expect(runs.reduce((sum, { added }) => sum + added, 0)).toBe(40);
    expect(await stored(workspaceId)).toHaveLength(40);
  });

  test('pauses the campaigns of a template that may not be sent any more', async () => {
    const { provider, refreshed, dependencies } = await anAccount();
    const campaign = await seedCampaign(database.pool, { recipients: 1 });
    provider.serve([[listedTemplate({ id: campaign.templateId, status: 'PAUSED' })]]);
    await syncTemplates(dependencies, campaign.workspaceId);
    const Status = row(t.type({ status: t.string, pause_reason: t.string }));
    const paused = await database.pool.one(sql.type(Status)`
      SELECT status, pause_reason FROM campaign WHERE id = ${campaign.campaignId}`);
    expect(paused).toEqual({ status: 'PAUSED', pause_reason: 'TEMPLATE_UNAVAILABLE' });
    expect(refreshed).toEqual([campaign.campaignId]);
  });
});

describe('a sync that fails on its second page', () => {
  const pages = [[listedTemplate({ id: '1', name: 'a' })], [listedTemplate({ id: '2', name: 'b' })]] as const;

  test('keeps the templates of the first page and marks none as vanished', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    provider.serve([[listedTemplate({ id: '9', name: 'z' })]]);
    await syncTemplates(dependencies, workspaceId);
    provider.serve([pages[0], unreachable]);
    await expect(syncTemplates(dependencies, workspaceId)).rejects.toThrow(ProviderUnreachable);
    expect(await statuses(workspaceId)).toEqual(['a APPROVED', 'z APPROVED']);
  });

  test('names the refusal of the provider', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    const refused = {
      kind: 'rejected',
      code: 190,
      httpStatus: 401,
      message: 'm',
      details: 'expired',
      isTransient: false,
    };
    provider.serve([new ProviderRequestError(refused as ProviderRequestError['failure'])]);
    const failure = syncTemplates(dependencies, workspaceId);
    await expect(failure).rejects.toThrow(ProviderRefused);
    await expect(failure).rejects.toMatchObject({ providerCode: 190, details: 'expired' });
  });

  test('reports an HTTP error outside the protocol as unreachable, not as a rejection', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    const failed = {
      kind: 'rejected',
      code: 503,
      httpStatus: 503,
      message: 'HTTP 503',
      details: null,
      isTransient: false,
    };
    provider.serve([new ProviderRequestError(failed as ProviderRequestError['failure'])]);
    await expect(syncTemplates(dependencies, workspaceId)).rejects.toThrow(ProviderUnreachable);
  });

  test('continues with the second page when its activity runs again', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    const { syncTemplates: activity } = createTemplateActivities(dependencies);
    provider.serve([[listedTemplate({ id: '9', name: 'z' })]]);
    await syncTemplates(dependencies, workspaceId);

    provider.serve([pages[0], unreachable]);
    const beats: unknown[] = [];
    const first = new MockActivityEnvironment({}, { logger });
    first.on('heartbeat', (details: unknown) => beats.push(details));
    await expect(first.run(activity, businessAccountId)).rejects.toThrow(ProviderRequestError);

    provider.serve([new Error('the first page is not asked for again'), pages[1]]);
    const second = new MockActivityEnvironment(
      { heartbeatDetails: beats.at(-1) as SyncProgress },
      { logger },
    );
    expect(await second.run(activity, businessAccountId)).toEqual({
      synced: 2,
      added: 2,
      changed: 1,
    });
    expect(await statuses(workspaceId)).toEqual(['a APPROVED', 'b APPROVED', 'z DELETED']);
  });
});

describe('an access token that the provider refuses', () => {
  const refusal = (code: number) =>
    new ProviderRequestError({
      kind: 'rejected',
      code,
      httpStatus: 400,
      message: 'no',
      details: null,
      isTransient: false,
    });

  test('is replaced by the token of another number of the account, which reads the remaining pages', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    await createChannel(dependencies, {
      workspaceId,
      businessAccountId,
      phoneNumberId: randomUUID(),
      displayPhoneNumber: '+49 30 901821',
      accessToken: 'a newer token',
    });
    const tokens: string[] = [];
    const byToken: typeof provider = {
      ...provider,
      async *listTemplates(query) {
        tokens.push(`${query.accessToken} ${query.after ?? 'first'}`);
        for await (const page of provider.listTemplates(query)) {
          if (query.accessToken === 'token' && page.nextCursor === null) throw refusal(190);
          yield page;
        }
      },
    };
    provider.serve([[listedTemplate({ id: '1', name: 'a' })], [listedTemplate({ id: '2', name: 'b' })]]);
    const synced = await syncTemplates({ ...dependencies, provider: byToken }, workspaceId);
    expect(synced).toEqual({ synced: 2, added: 2, changed: 0 });
    expect(tokens).toEqual(['token first', 'a newer token 1']);
  });

  test('does not block other accounts of the workspace', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    const healthy = randomUUID();
    await createChannel(dependencies, {
      workspaceId,
      businessAccountId: healthy,
      phoneNumberId: randomUUID(),
      displayPhoneNumber: '+49 30 901821',
      accessToken: 'token',
    });
    const oneRefuses: typeof provider = {
      ...provider,
      async *listTemplates(query) {
        if (query.businessAccountId === businessAccountId) throw refusal(190);
        yield* provider.listTemplates(query);
      },
    };
    provider.serve([[listedTemplate({ id: '1', name: 'a' })]]);
    await expect(syncTemplates({ ...dependencies, provider: oneRefuses }, workspaceId)).rejects.toMatchObject(
      { providerCode: 190 },
    );
    expect(await statuses(workspaceId)).toEqual(['a APPROVED']);
  });

  test('is reported when there is no other, and after other errors no other token is tried', async () => {
    const { provider, workspaceId, businessAccountId, dependencies } = await anAccount();
    provider.serve([refusal(190)]);
    await expect(syncTemplates(dependencies, workspaceId)).rejects.toMatchObject({ providerCode: 190 });
    await createChannel(dependencies, {
      workspaceId,
      businessAccountId,
      phoneNumberId: randomUUID(),
      displayPhoneNumber: '+49 30 901821',
      accessToken: 'a newer token',
    });
    provider.serve([refusal(80008)]);
    await expect(syncTemplates(dependencies, workspaceId)).rejects.toMatchObject({ providerCode: 80008 });
    expect(provider.cursors).toHaveLength(2);
  });
});

test('does nothing for an account without a channel', async () => {
  const { provider, dependencies } = await anAccount();
  expect(await syncBusinessAccount(dependencies, 'nobody')).toMatchObject({ synced: 0 });
  expect(provider.cursors).toEqual([]);
});

describe('the list of templates', () => {
  test('is filtered by status and by part of the name, and paged', async () => {
    const { provider, workspaceId, dependencies } = await anAccount();
    provider.serve([
      [
        listedTemplate({ id: '1', name: 'order_update' }),
        listedTemplate({ id: '2', name: 'order_update', language: 'de' }),
        listedTemplate({ id: '3', name: 'reorder%', status: 'PAUSED' }),
        listedTemplate({ id: '4', name: 'welcome', status: 'rejected' }),
      ],
    ]);
    await syncTemplates(dependencies, workspaceId);
    const found = async (filter: {
      statuses?: readonly string[];
      search?: string;
      page?: number;
      limit?: number;
    }) => {
      const list = await listTemplates(database.pool, workspaceId, {
        statuses: [],
        search: '',
        page: 1,
        limit: 10,
        ...filter,
      });
      return [list.total, ...list.items.map(({ providerTemplateId }) => providerTemplateId)];
    };
    expect(await found({})).toEqual([4, '2', '1', '3', '4']);
    expect(await found({ search: 'ORDER' })).toEqual([3, '2', '1', '3']);
    expect(await found({ search: '%' })).toEqual([1, '3']);
    expect(await found({ statuses: ['Rejected', 'PAUSED'] })).toEqual([2, '3', '4']);
    expect(await found({ page: 2, limit: 3 })).toEqual([4, '4']);
    expect(await found({ page: 3, limit: 3 })).toEqual([4]);
  });
});
