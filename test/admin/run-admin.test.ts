import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminCommands } from '../../src/admin/admin-commands.ts';
import { runAdmin } from '../../src/admin/run-admin.ts';
import type { Environment } from '../../src/config.ts';
import { hashSecret, mintApiKey, parseApiKey } from '../../src/domain/workspaces/api-key.ts';
import { findApiKeys } from '../../src/records/workspaces/api-keys.ts';
import { findChannelById } from '../../src/records/workspaces/channels.ts';
import { nothing, row } from '../../src/records/database/row.ts';
import { createSecretBox } from '../../src/secrets.ts';
import { seedCampaign } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const pepper = 'the pepper of the admin tests';
const secretsKey = 'the secrets key of the admin tests';
let database: TestDatabase;
let dataDir: string;
let environment: Environment;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'admin-test-'));
  environment = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    KEY_PEPPER: pepper,
    SECRETS_KEY: secretsKey,
  };
});
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true });
});

async function admin(args: readonly string[], env: Environment = environment, input = '') {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runAdmin({
    args,
    environment: env,
    sqlFolder: resolve('sql'),
    input: Readable.from([input]),
    out: (text) => out.push(text),
    err: (text) => err.push(text),
  });
  return { code, out: out.join(''), err: err.join('') };
}

async function result(args: readonly string[], env: Environment = environment) {
  const { code, out, err } = await admin(args, env);
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(/^\{.*\}\n$/);
  return JSON.parse(out) as Readonly<Record<string, string>>;
}

async function problem(args: readonly string[], env: Environment = environment) {
  const { code, out, err } = await admin(args, env);
  expect(out).toBe('');
  expect(code).toBe(1);
  return err;
}

let numbers = 0;
function channelArgs(workspaceId: unknown): readonly string[] {
  numbers += 1;
  return [
    'create-channel',
    `--workspace-id=${String(workspaceId)}`,
    `--phone-number-id=phone-${numbers}`,
    '--display-phone-number=+49 30 901820',
    `--business-account-id=account-${numbers}`,
    '--access-token=the token',
  ];
}

async function aChannel() {
  const { workspaceId } = await result(['create-workspace', '--name', 'Acme']);
  const { channelId } = await result(channelArgs(workspaceId));
  return { workspaceId: String(workspaceId), channelId: String(channelId) };
}

const tokenOf = async (channelId: string) => {
  const { accessTokenEncrypted } = (await findChannelById(database.pool, channelId)) ?? {};
  return createSecretBox([secretsKey]).decrypt(
    accessTokenEncrypted ?? Buffer.alloc(0),
    `channel ${channelId}`,
  );
};

test('takes a token from standard input or the environment, where other users of the machine do not see it', async () => {
  const { workspaceId } = await result(['create-workspace', '--name', 'Acme']);
  const without = () => channelArgs(workspaceId).filter((arg) => !arg.startsWith('--access-token'));
  const piped = await admin([...without(), '--access-token=-'], environment, 'a piped token\n');
  const { channelId } = JSON.parse(piped.out) as { readonly channelId: string };
  expect(await tokenOf(channelId)).toBe('a piped token');
  const env = { ...environment, CHANNEL_ACCESS_TOKEN: 'a token of the environment' };
  const { channelId: other } = await result(without(), env);
  expect(await tokenOf(String(other))).toBe('a token of the environment');
  // A command that only may change the token leaves it alone.
  await result(['update-channel', `--channel-id=${channelId}`, '--messages-per-second=5'], env);
  expect(await tokenOf(channelId)).toBe('a piped token');
  expect(await problem(without())).toContain('--access-token missing');
});

const Audited = row(t.type({ action: t.string, command: t.string }));

describe('admin', () => {
  test('writes an audit entry of each change, in the name of the command', async () => {
    const { workspaceId, channelId } = await aChannel();
    const [inWorkspace, ofChannel] = [`--workspace-id=${workspaceId}`, `--channel-id=${channelId}`];
    await result(['update-channel', ofChannel, '--messages-per-second=20']);
    await result(['recharge', ofChannel, '--amount=5']);
    await result(['adjust-wallet', ofChannel, '--amount=-1', '--reason=A test']);
    const { keyId } = await result(['create-key', inWorkspace, '--scope=workspace']);
    await result(['revoke-key', `--key-id=${keyId}`]);
    const entries = await database.pool.any(sql.type(Audited)`
      SELECT action, command FROM audit_entry WHERE workspace_id = ${Number(workspaceId)} ORDER BY id`);
    expect(entries.map(({ action, command }) => `${command}: ${action}`)).toEqual([
      'create-channel: channel.create',
      'update-channel: channel.update',
      'recharge: wallet.recharge',
      'adjust-wallet: wallet.adjust',
      'create-key: key.create',
      'revoke-key: key.revoke',
    ]);
  });

  test('sets and removes the sending window of a workspace, and records both', async () => {
    const { workspaceId } = await result(['create-workspace', '--name', 'Acme']);
    const setWindow = ['set-sending-window', `--workspace-id=${workspaceId}`];
    const hours = ['--timezone=Europe/Berlin', '--from=09:00', '--to=20:00', '--days=mon,tue'];
    const stored = () =>
      database.pool.oneFirst(sql.type(row(t.type({ sending_window: t.unknown })))`
        SELECT sending_window FROM workspace WHERE id = ${Number(workspaceId)}`);
    const window = { timezone: 'Europe/Berlin', from: '09:00', to: '20:00', days: ['mon', 'tue'] };
    expect(await result([...setWindow, ...hours])).toEqual({
      workspaceId: Number(workspaceId),
      sendingWindow: window,
    });
    expect(await stored()).toEqual(window);
    expect(await problem([...setWindow, '--timezone=Mars/Olympus', '--from=09:00', '--to=20:00'])).toContain(
      'timezone',
    );
    expect(await problem([...setWindow, '--timezone=UTC', '--from=09:00', '--to=09:00'])).toContain('from');
    expect(await problem(['set-sending-window', '--workspace-id=999999', '--off'])).toContain(
      'Workspace not found',
    );
    expect(await stored()).toEqual(window);
    expect(await result([...setWindow, '--off'])).toMatchObject({ sendingWindow: null });
    expect(await stored()).toBeNull();
    const commands = await database.pool.anyFirst(sql.type(row(t.type({ command: t.string })))`
      SELECT command FROM audit_entry WHERE workspace_id = ${Number(workspaceId)} ORDER BY id`);
    expect(commands).toEqual(['set-sending-window', 'set-sending-window']);
  });

  test('changes what is named of a channel and nothing else', async () => {
    const { channelId } = await aChannel();
    const update = (...options: readonly string[]) =>
      result(['update-channel', `--channel-id=${channelId}`, ...options]);
    const before = await findChannelById(database.pool, channelId);
    expect(await update('--responder=chatbot', '--messages-per-second=20')).toEqual({
      status: 'active',
      responder: 'chatbot',
      messagesPerSecond: 20,
      blockedCountries: [],
      marketingEndpoint: false,
      messagingLimit: null,
    });
    expect(await update('--marketing-endpoint=on', '--messaging-limit=250')).toMatchObject({
      marketingEndpoint: true,
      messagingLimit: 250,
    });
    expect(await update('--messages-per-second=20')).toMatchObject({ messagingLimit: 250 });
    expect(await problem(['update-channel', `--channel-id=${channelId}`, '--messaging-limit=0'])).toContain(
      'messagingLimit must be at least 1, or none',
    );
    expect(await update('--messaging-limit=none', '--marketing-endpoint=off')).toMatchObject({
      marketingEndpoint: false,
      messagingLimit: null,
    });
    expect(await problem(['update-channel', `--channel-id=${channelId}`, '--blocked-countries=FR,UK'])).toBe(
      'blockedCountries must be ISO 3166 codes such as US, FR, and UK is none\n',
    );
    expect(await update('--status=blocked', '--blocked-countries=US,FR')).toMatchObject({
      status: 'blocked',
    });
    expect(await findChannelById(database.pool, channelId)).toEqual({
      ...before,
      status: 'blocked',
      blockReason: 'OPERATOR',
      responder: 'chatbot',
      messagesPerSecond: 20,
      blockedCountries: ['US', 'FR'],
    });
    await update('--status=active', '--blocked-countries=none', '--access-token=a new token');
    const after = await findChannelById(database.pool, channelId);
    expect(after).toMatchObject({ status: 'active', blockReason: null, blockedCountries: [] });
    const token = createSecretBox([secretsKey]).decrypt(
      after?.accessTokenEncrypted ?? Buffer.of(),
      `channel ${channelId}`,
    );
    expect(token).toBe('a new token');
    expect(await problem(['update-channel', `--channel-id=${channelId}`, '--responder=parrot'])).toContain(
      'responder must be one of none, chatbot, assistant',
    );
    expect(await problem(['update-channel', '--channel-id=0197c0de-0000-7000-8000-000000000009'])).toContain(
      'Channel not found',
    );
  });

  test('creates a workspace, a channel and keys of every scope', async () => {
    const { workspaceId } = await result(['create-workspace', '--name', 'Acme']);
    expect(workspaceId).toEqual(expect.any(Number));
    const { channelId } = await result([...channelArgs(workspaceId), '--messages-per-second', '20']);
    const channel = await findChannelById(database.pool, String(channelId));
    expect(channel).toMatchObject({ workspaceId, messagesPerSecond: 20 });
    const sealed = channel?.accessTokenEncrypted ?? Buffer.of();
    expect(createSecretBox([secretsKey]).decrypt(sealed, `channel ${channelId}`)).toBe('the token');
    for (const scope of ['channel', 'workspace', 'operator']) {
      const place = scope === 'channel' ? ['--channel-id', String(channelId)] : [];
      const { keyId, apiKey } = await result([
        'create-key',
        '--workspace-id',
        String(workspaceId),
        '--scope',
        scope,
        ...place,
      ]);
      const parts = parseApiKey(String(apiKey));
      const [stored] = await findApiKeys(database.pool, [String(keyId)]);
      expect(parts?.keyId).toBe(keyId);
      expect(stored).toMatchObject({ workspaceId, scope, channelId: scope === 'channel' ? channelId : null });
      expect(stored?.secretHash).toEqual(hashSecret(parts?.secret ?? '', pepper));
    }
  });

  test.each([
    ['phone-number-id', '+49 30 901820', 'phoneNumberId'],
    ['phone-number-id', 'https://example.com/1', 'phoneNumberId'],
    ['business-account-id', ' 102290129340398', 'businessAccountId'],
    ['display-phone-number', 'Acme', 'displayPhoneNumber'],
  ])('creates no channel with --%s %j', async (option, value, field) => {
    const { workspaceId } = await result(['create-workspace', '--name', 'Acme']);
    const args = channelArgs(workspaceId).filter((arg) => !arg.startsWith(`--${option}=`));
    expect(await problem([...args, `--${option}=${value}`])).toMatch(
      new RegExp(`^${field} must be .* such as `),
    );
  });

  test('revokes a key, twice if asked to', async () => {
    const { workspaceId } = await aChannel();
    const { keyId = '' } = await result([
      'create-key',
      '--workspace-id',
      workspaceId,
      '--scope',
      'workspace',
    ]);
    await result(['revoke-key', '--key-id', keyId]);
    expect(await result(['revoke-key', '--key-id', keyId])).toEqual({ keyId, revoked: true });
    expect(await findApiKeys(database.pool, [String(keyId)])).toEqual([]);
    expect(await problem(['revoke-key', '--key-id', 'unknown'])).toBe('API key not found\n');
  });

  test.each(['revoke-key', 'sign-in-link'])(
    '%s names the part of a whole key that it takes',
    async (command) => {
      const { apiKey } = mintApiKey(pepper);
      const [, keyId] = apiKey.split('_');
      expect(await problem([command, '--key-id', apiKey])).toBe(
        `--key-id takes the second part of the key alone: ${keyId}\n`,
      );
    },
  );

  test('recharges and adjusts a wallet, also by a negative amount', async () => {
    const { channelId } = await aChannel();
    expect(await result(['recharge', '--channel-id', channelId, '--amount', '12.5'])).toEqual({
      balance: '12.5',
    });
    const adjust = (amount: string) => [
      'adjust-wallet',
      '--channel-id',
      channelId,
      '--amount',
      amount,
      '--reason',
      'goodwill',
    ];
    expect(await result(adjust('-2.25'))).toEqual({ balance: '10.25' });
    expect(await problem(adjust('-11'))).toMatch(/balance/);
    expect(await problem(['recharge', '--channel-id', channelId, '--amount', '-1'])).toMatch(/amount/);
    for (const [command, ...more] of [['recharge'], ['adjust-wallet', '--reason', 'goodwill']] as const)
      expect(
        await problem([command, '--channel-id', channelId, '--amount', '1000000000001', ...more]),
      ).toContain('and not beyond 1000000000000\n');
  });

  test('sets features', async () => {
    const { workspaceId } = await aChannel();
    const set = (feature: string, value: string) => [
      'set-feature',
      '--workspace-id',
      workspaceId,
      '--feature',
      feature,
      '--value',
      value,
    ];
    expect(await result(set('broadcasts_per_month', '5'))).toEqual({
      workspaceId: Number(workspaceId),
      feature: 'broadcasts_per_month',
      value: 5,
    });
    expect(await result(set('targeted_segments', 'off'))).toMatchObject({ value: 'off' });
    expect(await problem(set('targeted_segments', 'maybe'))).toBe('targeted_segments must be on or off\n');
    expect(await problem(set('broadcasts_per_month', 'on'))).toBe(
      'broadcasts_per_month must be a whole number, at most 2147483647, or unlimited\n',
    );
  });

  test('applies no migration when the database has them all', async () => {
    const owner = { ...environment, DATABASE_OWNER_URL: database.ownerUrl };
    expect(await result(['migrate'], owner)).toEqual({ applied: [] });
  });

  async function aCampaign() {
    const { workspaceId, channelId } = await aChannel();
    const [id, template] = [randomUUID(), randomUUID()];
    await database.pool.query(sql.type(nothing)`
      INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category,
        status, components)
      SELECT ${template}::uuid, workspace_id, business_account_id, '1', 'offer', 'en', 'MARKETING', 'APPROVED', '[]'
      FROM channel WHERE id = ${channelId}`);
    await database.pool.query(sql.type(nothing)`
      INSERT INTO campaign (id, workspace_id, channel_id, template_id, name, contact_selection_type, audience,
        send_type, status, preparation_status, created_by)
      VALUES (${id}, ${workspaceId}, ${channelId}, ${template}, 'Spring', 'all_contacts', '{}', 'IMMEDIATE', 'DRAFT',
        'PREPARING', 'test')`);
    await database.pool.query(sql.type(nothing)`INSERT INTO campaign_counter (campaign_id) VALUES (${id})`);
    return { id, workspaceId };
  }

  test('shows a campaign with its counters', async () => {
    const { id } = await aCampaign();
    expect(await result(['show-campaign', '--campaign-id', id])).toMatchObject({
      id,
      name: 'Spring',
      status: 'DRAFT',
      counters: { pending: 0, sent: 0 },
    });
    expect(await problem(['show-campaign', '--campaign-id', randomUUID()])).toBe('Campaign not found\n');
    expect(await problem(['show-campaign', '--campaign-id', "'; --"])).toBe('--campaign-id must be a UUID\n');
  });

  test('releases nothing of a campaign that the workspace does not have', async () => {
    const [campaign, other] = [await aCampaign(), await aChannel()];
    const release = (id: string, ofWorkspace: string) => [
      'release-unknown',
      `--workspace-id=${ofWorkspace}`,
      `--campaign-id=${id}`,
      '--older-than-hours=1',
    ];
    expect(await result(release(campaign.id, campaign.workspaceId))).toEqual({ messages: 0, amount: '0' });
    expect(await problem(release(campaign.id, other.workspaceId))).toBe('Campaign not found\n');
    expect(await problem(release(randomUUID(), other.workspaceId))).toBe('Campaign not found\n');
  });

  test('finds the database and the secrets of the running stack', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'admin-test-'));
    try {
      await writeFile(join(folder, 'dev.json'), JSON.stringify({ databaseUrl: database.url, pids: {} }));
      await writeFile(
        join(folder, 'secrets.json'),
        JSON.stringify({ KEY_PEPPER: 'a pepper of the running stack', SECRETS_KEY: secretsKey }),
      );
      const { workspaceId } = await result(['create-workspace', '--name', 'Acme'], { DATA_DIR: folder });
      const { apiKey, keyId } = await result(
        ['create-key', '--workspace-id', String(workspaceId), '--scope', 'workspace'],
        { DATA_DIR: folder },
      );
      const [stored] = await findApiKeys(database.pool, [String(keyId)]);
      const parts = parseApiKey(String(apiKey));
      expect(stored?.secretHash).toEqual(hashSecret(parts?.secret ?? '', 'a pepper of the running stack'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('encrypts stored secrets again under a new key', async () => {
    const { channelId } = await aChannel();
    const newKey = 'the next secrets key of the tests';
    const rotation = { ...environment, SECRETS_KEY: newKey, SECRETS_KEY_PREVIOUS: secretsKey };
    const { rotated } = await result(['rotate-secrets'], rotation);
    expect(Number(rotated)).toBeGreaterThan(0);
    const channel = await findChannelById(database.pool, channelId);
    const sealed = channel?.accessTokenEncrypted ?? Buffer.of();
    expect(createSecretBox([newKey]).decrypt(sealed, `channel ${channelId}`)).toBe('the token');
    expect(await result(['rotate-secrets'], rotation)).toEqual({ rotated: 0 });
    // Back again: the other tests of this file use the first key.
    await result(['rotate-secrets'], { ...environment, SECRETS_KEY_PREVIOUS: newKey });
  });
});

test.each([
  ['npm run --silent admin --', { npm_lifecycle_event: 'admin' }],
  ['node dist/src/admin.js', {}],
])('--help speaks of %s to those who run it so', async (program, env) => {
  expect((await admin(['--help'], env)).out).toContain(`Usage: ${program} <command> [options]`);
  expect((await admin(['recharge', '--help'], env)).out).toContain(`Usage: ${program} recharge [options]`);
  expect(await problem(['recharge'], env)).toContain(`Usage: ${program} recharge [options]`);
});

describe('admin problems', () => {
  test.each(adminCommands.map(({ name }) => name))('%s explains itself', async (name) => {
    const { code, out, err } = await admin([name, '--help'], {});
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`admin.js ${name}`);
  });

  test('lists every command on --help and on standard error without a command', async () => {
    const { out } = await admin(['--help'], {});
    const err = await problem([]);
    for (const { name } of adminCommands) {
      expect(out).toContain(name);
      expect(err).toContain(name);
    }
  });

  test.each([
    [['teleport'], 'Unknown command: teleport'],
    [['create-workspace'], '--name missing'],
    [['create-workspace', '--name', 'a', '--colour', 'red'], "Unknown option '--colour'"],
    [['create-workspace', 'Acme'], 'Unexpected argument'],
    [['recharge', '--channel-id', 'x', '--amount', '1'], '--channel-id must be a UUID'],
    [['create-key', '--workspace-id', 'x', '--scope', 'workspace'], '--workspace-id must be a whole number'],
    [
      ['release-unknown', '--workspace-id', '1', '--older-than-hours', '2147483647'],
      '--older-than-hours must be a whole number, at most 876000',
    ],
    [['release-unknown', '--workspace-id', '1', '--older-than-hours', '-1'], 'must be a whole number'],
    [['create-key', '--workspace-id', '2000000000', '--scope', 'workspace'], 'Workspace not found'],
    [['create-key', '--workspace-id', '1', '--scope', 'channel'], 'channel id'],
    [['recharge', '--amount', '1', '--amount', '2'], '--amount was given twice'],
    [['find-campaigns', '--standing-still', '--standing-still'], '--standing-still was given twice'],
  ])('answers %j with 1 and the reason', async (args, reason) => {
    expect(await problem(args)).toContain(reason);
  });

  test.each([['--colour', 'red'], ['Acme'], ['--name'], ['--name', 'a', '--name', 'b'], []])(
    'lists the options of the command after %j',
    async (...args) => {
      expect(await problem(['create-workspace', ...args])).toContain('--name  name of the workspace');
    },
  );

  test('names DATABASE_URL and the data folder when there is no database', async () => {
    expect(await problem(['migrate'], { DATA_DIR: '/nonexistent' })).toMatch(/DATABASE_URL.*\/nonexistent/);
  });

  test('names the missing secret', async () => {
    const err = await problem(['create-key', '--workspace-id', '1', '--scope', 'workspace'], {
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
    });
    expect(err).toContain('KEY_PEPPER is required');
  });

  test('ends with 1 when the database does not answer', async () => {
    const err = await problem(['create-workspace', '--name', 'a'], {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
      DATA_DIR: dataDir,
    });
    expect(err).toBe('Postgres (DATABASE_URL): connect ECONNREFUSED 127.0.0.1:9\n');
  });

  test('says that the database was never migrated', async () => {
    const empty = new URL(database.ownerUrl);
    empty.pathname = '/postgres';
    const err = await problem(['list-channels'], { ...environment, DATABASE_URL: empty.href });
    expect(err).toBe(
      'The database lacks tables of this build (relation "channel" does not exist): run migrate\n',
    );
  });
});

test('trace-message joins a recipient with its statuses, events and deliveries', async () => {
  const { campaignId, workspaceId, channelId } = await seedCampaign(database.pool, { recipients: 2 });
  const ids = await database.pool.anyFirst(sql.type(row(t.type({ id: t.string })))`
    UPDATE recipient SET state = 'SENT', provider_message_id = 'wamid.' || position, accepted_at = now(), sent_at = now()
    WHERE campaign_id = ${campaignId} RETURNING id`);
  const [id = ''] = ids;
  const run = (statement: ReturnType<typeof sql.fragment>) =>
    database.owner.query(sql.type(nothing)`${statement}`);
  for (const messageId of ids) {
    const eventId = await database.owner.oneFirst(sql.type(row(t.type({ id: t.string })))`
      INSERT INTO event (workspace_id, key, body)
      VALUES (${workspaceId}, 'sent', ${JSON.stringify({ data: { messageId } })}) RETURNING id`);
    await run(sql.fragment`INSERT INTO webhook_delivery (workspace_id, webhook_id, event_id, event_key, state, error_code, attempted_at)
      VALUES (${workspaceId}, ${randomUUID()}, ${eventId}, 'sent', 'failed', 'timeout', now())`);
  }
  await run(sql.fragment`INSERT INTO unmatched_status (channel_id, provider_message_id, status, body)
    SELECT ${channelId}, provider_message_id, 'read', '{}' FROM recipient WHERE id = ${id}`);
  const { out } = await admin(['trace-message', '--message-id', id]);
  expect(JSON.parse(out)).toMatchObject({
    message: {
      id,
      campaign_id: campaignId,
      state: 'SENT',
      provider_message_id: expect.stringContaining('wamid.'),
    },
    workflow_id: `campaign-${campaignId}`,
    unmatched_statuses: [{ status: 'read' }],
    events: [{ key: 'sent', deliveries: [{ state: 'failed', error_code: 'timeout' }] }],
  });
  expect(out).not.toContain('+49');
  expect(out).not.toMatch(/"phone/);
  expect(await admin(['trace-message', '--message-id', randomUUID()])).toMatchObject({ code: 1 });
});
