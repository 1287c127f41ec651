/** Recent features of the provider, checked by a strict server: people without a number, marketing messages, media. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prepareCampaign } from '../../src/commands/audience/prepare-campaign.ts';
import { beginCampaign } from '../../src/commands/campaigns/begin-campaign.ts';
import { runSendStep } from '../../src/commands/sending/run-send-step.ts';
import { createApiKey } from '../../src/commands/workspaces/api-keys.ts';
import { createChannel, updateChannel } from '../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { startTestSimulator, type SimulatorClient } from '../local/simulator/client.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createApplier, deliver, messagesCallback, rowsOf, status } from '../support/callback-fixtures.ts';

let simulator: SimulatorClient;
let api: TestApi;
let key: string;
let workspaceId: number;
let channelId: string;
let phoneNumberId = '7000';

beforeAll(async () => {
  simulator = await startTestSimulator();
  api = await startTestApi({
    dependencies: {
      provider: createCloudProvider({ baseUrl: simulator.baseUrl, connections: 8, timeoutMs: 10_000 }),
    },
  });
});
beforeEach(async () => {
  phoneNumberId = String(Number(phoneNumberId) + 1);
  const businessAccountId = `1${phoneNumberId}`;
  ({ workspaceId } = await createWorkspace(api.dependencies, { name: 'Today' }));
  ({ channelId } = await createChannel(api.dependencies, {
    workspaceId,
    businessAccountId,
    phoneNumberId,
    displayPhoneNumber: '+49 30 1234567',
    accessToken: 'EAAtest',
  }));
  key = (await createApiKey(api.dependencies, { workspaceId, channelId, scope: 'channel' })).apiKey;
  await simulator.control('accounts', { businessAccountId, phoneNumberIds: [phoneNumberId] });
  await postLedgerEntry(api.dependencies.database, { channelId, kind: 'recharge', amount: 100_000_000n });
  await call('POST', '/api/templates/sync');
});
afterAll(async () => {
  await api.dependencies.provider.close();
  await api.close();
  await simulator.close();
});

const call = (method: string, path: string, body?: unknown) =>
  api.send(method, path, { key, ...(body !== undefined && { body }) });

const rows = <T>(statement: ReturnType<typeof sql.fragment>) =>
  rowsOf<T>(api.dependencies.database, statement);

async function templateIdOf(name: string): Promise<string> {
  const { body } = await call('GET', `/api/templates?limit=100&search=${name}`);
  return (
    (body.data as { id: string; language: string }[]).find(({ language }) => language === 'en_US')?.id ?? ''
  );
}

const sendTo = async (recipient: object, name = 'hello_campaign', rest: object = { variables: ['Ada'] }) =>
  call('POST', '/api/templates/external/message/send', {
    templateId: await templateIdOf(name),
    ...recipient,
    ...rest,
  });

interface SentMessage {
  readonly to: string;
  readonly marketing: boolean;
  readonly outcome: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Messages of the channel, newest last. */
async function sentMessages(): Promise<readonly SentMessage[]> {
  const { recent } = (await simulator.query('messages?limit=2000')) as {
    recent: (SentMessage & { phoneNumberId: string })[];
  };
  return recent.filter((message) => message.phoneNumberId === phoneNumberId);
}

const applied = (...callbacks: Parameters<typeof deliver>[1]) =>
  deliver(createApplier(api.dependencies.database, { secrets: api.dependencies.secrets }), callbacks);

/** A person who wrote to the channel with a hidden number. Returns the contact's id. */
async function seedHiddenSender(userId: string): Promise<string> {
  await applied(
    messagesCallback(phoneNumberId, {
      contacts: [{ profile: { name: 'Ada' }, user_id: userId }],
      messages: [
        {
          id: `wamid.${userId}`,
          from_user_id: userId,
          timestamp: '1749416383',
          type: 'text',
          text: { body: 'Hi' },
        },
      ],
    }),
  );
  const [contact] = await rows<{ id: string }>(
    sql.fragment`SELECT id FROM contact WHERE workspace_id = ${workspaceId} AND provider_user_id = ${userId}`,
  );
  return contact?.id ?? '';
}

async function runCampaign(audience: object, name = 'hello_campaign'): Promise<string> {
  const { body, text } = await call('POST', '/api/campaigns/auto-trigger', {
    name: 'Today',
    template_id: await templateIdOf(name),
    send_type: 'IMMEDIATE',
    variable_mapping: { body: { 1: 'Ada' } },
    ...audience,
  });
  const campaignId = body.data?.campaign.id as string | undefined;
  if (campaignId === undefined) throw new Error(text);
  const { dependencies } = api;
  const watched = { heartbeat: () => undefined, signal: new AbortController().signal };
  await prepareCampaign(dependencies, campaignId, watched);
  await beginCampaign(dependencies, campaignId);
  await runSendStep(dependencies, campaignId, { budgetMs: 5_000, draining: () => false });
  return campaignId;
}

const countsOf = async (campaignId: string) => (await call('GET', `/api/campaigns/${campaignId}`)).body.data;

describe('a person who is known by a user id alone', () => {
  const userId = 'DE.13491208655302741918';

  it('gets a single message at the price of the country, whose record names the contact', async () => {
    const contactId = await seedHiddenSender(userId);
    const before = (await call('GET', '/api/wallet')).body.data;
    const answer = await sendTo({ recipientUserId: userId });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { recipientPhoneNumber: null, phoneNumberId } },
    });
    const [message] = await sentMessages();
    expect(message?.body).toMatchObject({ recipient: userId, type: 'template' });
    expect(message?.body).not.toHaveProperty('to');
    const [kept] =
      await rows(sql.fragment`SELECT contact_id, phone_number, country, state, settlement FROM message
      WHERE workspace_id = ${workspaceId} AND direction = 'outbound'`);
    expect(kept).toEqual({
      contact_id: contactId,
      phone_number: null,
      country: 'DE',
      state: 'ACCEPTED',
      settlement: 'charged',
    });
    const after = (await call('GET', '/api/wallet')).body.data;
    expect(Number(before.balance) - Number(after.balance)).toBeCloseTo(0.1365, 6);
  });

  it('is sent to by number where there is one, otherwise by the newest user id', async () => {
    await seedHiddenSender(userId);
    await applied(
      messagesCallback(phoneNumberId, {
        messages: [
          {
            id: 'wamid.changed',
            from_user_id: userId,
            timestamp: '1',
            type: 'system',
            system: {
              type: 'user_changed_user_id',
              user_id: 'DE.2',
              body: 'changed',
            },
          },
        ],
      }),
    );
    await sendTo({ recipientUserId: userId });
    expect((await sentMessages()).map(({ to }) => to)).toEqual(['DE.2']);
    await call('POST', '/api/contacts', { phoneNumber: '+4915112345678' });
    await applied(
      messagesCallback(phoneNumberId, {
        statuses: [],
        contacts: [{ profile: { name: 'Bo' }, wa_id: '4915112345678', user_id: 'DE.3' }],
        messages: [
          {
            id: 'wamid.bo',
            from: '4915112345678',
            from_user_id: 'DE.3',
            timestamp: '1',
            type: 'text',
            text: { body: 'Hi' },
          },
        ],
      }),
    );
    expect(await sendTo({ recipientUserId: 'DE.3' })).toMatchObject({
      body: { data: { recipientPhoneNumber: '4915112345678' } },
    });
    expect((await sentMessages()).at(-1)?.body).toMatchObject({ to: '+4915112345678' });
  });

  it.each([
    [{ recipientUserId: 'US.404' }, 'recipientUserId must be the user id of a contact'],
    [{ recipientUserId: 'me' }, 'recipientUserId must be a user id of the provider'],
    [
      { recipientUserId: 'US.404', recipientPhoneNumber: '4915112345678' },
      'Provide either recipientPhoneNumber or recipientUserId, not both',
    ],
    [{}, 'recipientPhoneNumber is required'],
    [{ recipientPhoneNumber: '4915112345678' }, 'countryCode is required, such as +49'],
  ])('is not found by %j', async (recipient, message) => {
    expect(await sendTo(recipient)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message) },
    });
    expect(await sentMessages()).toEqual([]);
  });

  it('gets no code of an authentication template', async () => {
    await seedHiddenSender(userId);
    const answer = await sendTo({ recipientUserId: userId }, 'login_code', {
      variables: ['123456', '123456'],
    });
    expect(answer).toMatchObject({ status: 400, body: { error: { providerCode: 131062 } } });
  });

  it('is in campaigns to all contacts: counted, priced, reported and settled by receipts', async () => {
    const contactId = await seedHiddenSender(userId);
    await call('POST', '/api/contacts', { phoneNumber: '+4915112345678' });
    const campaignId = await runCampaign({ contact_selection_type: 'all_contacts' });
    expect(await countsOf(campaignId)).toMatchObject({ total_contacts: 2, total_contacts_skipped: 0 });
    expect((await sentMessages()).map(({ to }) => to).toSorted()).toEqual(
      ['4915112345678', userId].toSorted(),
    );
    const listed = (await call('GET', `/api/campaigns/${campaignId}/recipients`)).body.data;
    const own = listed.find((one: { contact_id: string }) => one.contact_id === contactId);
    expect(own).toMatchObject({ phone_number: null, state: 'ACCEPTED' });
    const [row] = await rows<{ id: string }>(sql.fragment`SELECT country, price, settlement FROM recipient
      WHERE campaign_id = ${campaignId} AND contact_id = ${contactId}`);
    expect(row).toEqual({ country: 'DE', price: 136_500, settlement: 'charged' });
    await applied(
      messagesCallback(phoneNumberId, {
        statuses: [
          {
            ...status({
              status: 'delivered',
              providerMessageId: own.provider_message_id,
            }),
            recipient_id: '',
            recipient_user_id: userId,
          },
        ],
      }),
    );
    const { body } = await call('GET', `/api/campaigns/${campaignId}/recipients?state=DELIVERED`);
    expect(body.data).toMatchObject([{ contact_id: contactId }]);
  });

  it('is written to again by a campaign to those that failed, and skipped once erased', async () => {
    const contactId = await seedHiddenSender(userId);
    await simulator.control('faults', { faults: [{ kind: 'error', code: 131047, times: 1 }] });
    const failed = await runCampaign({ contact_selection_type: 'all_contacts' });
    expect(await countsOf(failed)).toMatchObject({ counters: { failed: 1 } });
    const again = await runCampaign({
      contact_selection_type: 'failed_contacts',
      failed_campaign_id: failed,
      variable_mapping: undefined,
    });
    expect(await countsOf(again)).toMatchObject({ counters: { accepted: 1 } });
    await api.send('DELETE', `/api/contacts/${contactId}?erase=true`, { key });
    const [kept] = await rows(sql.fragment`SELECT variables, provider_message_id FROM recipient
      WHERE campaign_id = ${again}`);
    expect(kept).toEqual({ variables: null, provider_message_id: null });
    const problem = runCampaign({
      contact_selection_type: 'failed_contacts',
      failed_campaign_id: failed,
      variable_mapping: undefined,
    });
    await expect(problem).resolves.toEqual(expect.any(String));
    expect(await countsOf(await problem)).toMatchObject({ preparation_status: 'FAILED' });
  });
});

describe('the endpoint for marketing messages', () => {
  const number = { recipientPhoneNumber: '4915112345678', countryCode: '+49' };

  it('is used only for marketing templates, and only of channels with marketing_endpoint', async () => {
    await sendTo(number);
    await updateChannel(api.dependencies, { channelId, marketingEndpoint: true });
    expect((await call('GET', `/api/channels/${channelId}`)).body.data).toMatchObject({
      marketing_endpoint: true,
    });
    expect(await sendTo(number)).toMatchObject({ status: 200 });
    expect(await sendTo(number, 'plain_notice', {})).toMatchObject({ status: 200 });
    expect((await sentMessages()).map(({ marketing }) => marketing)).toEqual([false, true, false]);
  });

  it('is used by campaigns, with the same states and receipts', async () => {
    await updateChannel(api.dependencies, { channelId, marketingEndpoint: true });
    const campaignId = await runCampaign({
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678', '+4915112345679'],
    });
    expect(await sentMessages()).toMatchObject([{ marketing: true }, { marketing: true }]);
    const [first] = (await call('GET', `/api/campaigns/${campaignId}/recipients`)).body.data;
    await applied(
      messagesCallback(phoneNumberId, {
        statuses: [status({ status: 'read', providerMessageId: first.provider_message_id })],
      }),
    );
    expect(await countsOf(campaignId)).toMatchObject({ counters: { accepted: 1, read: 1 } });
  });
});

describe('POST /api/media', () => {
  interface Form {
    readonly field?: string;
    readonly type?: string;
    readonly chunks: Iterable<Buffer>;
    readonly end?: boolean;
  }

  /** Without a Content-Length; the form ends unless `end` is false. */
  function upload({ field = 'file', type = 'image/png', chunks, end = true }: Form) {
    const outgoing = request(`${api.baseUrl}/api/media`, {
      method: 'POST',
      agent: false,
      headers: { 'X-API-Key': key, 'Content-Type': 'multipart/form-data; boundary=media' },
    });
    const answer = new Promise<{ status: number; body: Record<string, unknown> }>((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      });
    });
    outgoing.write(
      `--media\r\nContent-Disposition: form-data; name="${field}"; filename="a"\r\nContent-Type: ${type}\r\n\r\n`,
    );
    for (const chunk of chunks) outgoing.write(chunk);
    if (end) outgoing.end('\r\n--media--\r\n');
    return { answer, outgoing };
  }

  const mebibyte = randomBytes(1024 * 1024);
  const imageTo = (id: string) =>
    sendTo({ recipientPhoneNumber: '4915112345678', countryCode: '+49' }, 'order_update', {
      variableMapping: {
        header: { id },
        body: { 1: 'Ada', 2: 'A-1', 3: 'Friday' },
        buttons: [{ type: 'url', url_suffix: 'A-1' }],
      },
    });

  it('hands the file to the provider and answers with the id, which a header takes while the file is there', async () => {
    const { status: code, body } = await upload({ chunks: [mebibyte, mebibyte] }).answer;
    expect([code, body]).toMatchObject([
      201,
      { data: { mime_type: 'image/png', size: 2 * mebibyte.length } },
    ]);
    const { id } = body['data'] as { id: string };
    expect((await imageTo(id)).status).toBe(200);
    expect((await sentMessages()).at(-1)?.body).toMatchObject({
      template: { components: [{ type: 'header', parameters: [{ image: { id } }] }, {}, {}] },
    });
    await fetch(`${simulator.baseUrl}/${id}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer EAAtest' },
    });
    expect(await imageTo(id)).toMatchObject({
      status: 400,
      body: {
        message: expect.stringContaining('is not the id of an uploaded file'),
        error: { providerCode: 131009 },
      },
    });
  });

  it.each([
    [
      'a type that no header takes',
      { type: 'image/bmp', chunks: [mebibyte] },
      400,
      /^file must be of one of/,
    ],
    [
      'an image of more than 5 MiB',
      { chunks: [...Array.from({ length: 5 }, () => mebibyte), Buffer.from('x')] },
      413,
      /^A file of type image\/png must not be larger than 5242880 bytes$/,
    ],
    [
      'a form without a file',
      { field: 'picture', chunks: [mebibyte] },
      400,
      /^file is required: a part with a filename$/,
    ],
  ] as const)('refuses %s', async (_, form, code, message) => {
    const { answer, outgoing } = upload(form);
    expect(await answer).toMatchObject({
      status: code,
      body: { message: expect.stringMatching(message) as string },
    });
    outgoing.destroy();
  });

  it('passes the provider’s error on', async () => {
    await simulator.control('accounts', {
      businessAccountId: `1${phoneNumberId}`,
      phoneNumberIds: [phoneNumberId],
      accessToken: 'EAAother',
    });
    const { answer } = upload({ chunks: [mebibyte] });
    expect(await answer).toMatchObject({ status: 400, body: { error: { providerCode: 190 } } });
  });

  it('does not delay uploads of other numbers behind slow ones', async () => {
    const slow = Array.from({ length: 9 }, () => upload({ chunks: [mebibyte], end: false }));
    for (const { answer } of slow) answer.catch(() => undefined);
    await expect.poll(() => slow.every(({ outgoing }) => outgoing.writableLength === 0)).toBe(true);
    const ninth = slow.at(-1);
    const other = `9${phoneNumberId}`;
    const { workspaceId: neighbour } = await createWorkspace(api.dependencies, { name: 'Neighbour' });
    const place = { workspaceId: neighbour, businessAccountId: `1${other}`, phoneNumberId: other };
    const { channelId: theirs } = await createChannel(api.dependencies, {
      ...place,
      displayPhoneNumber: '+49 30 1234568',
      accessToken: 'EAAtest',
    });
    await simulator.control('accounts', {
      businessAccountId: place.businessAccountId,
      phoneNumberIds: [other],
    });
    const own = key;
    key = (
      await createApiKey(api.dependencies, { workspaceId: neighbour, channelId: theirs, scope: 'channel' })
    ).apiKey;
    expect((await upload({ chunks: [mebibyte] }).answer).status).toBe(201);
    key = own;
    // The number may upload again once one of its eight uploads has ended.
    ninth?.outgoing.end('\r\n--media--\r\n');
    slow[0]?.outgoing.destroy();
    expect((await ninth?.answer)?.status).toBe(201);
    for (const { outgoing } of slow) outgoing.destroy();
  });

  it('leaves nothing open when the caller goes', async () => {
    const { answer, outgoing } = upload({ chunks: [mebibyte], end: false });
    answer.catch(() => undefined);
    await sleep(50);
    outgoing.destroy();
    // The next one is not held up.
    expect((await upload({ chunks: [mebibyte] }).answer).status).toBe(201);
  });

  it('needs a channel', async () => {
    const workspaceKey = (await createApiKey(api.dependencies, { workspaceId, scope: 'workspace' })).apiKey;
    [key] = [workspaceKey];
    expect((await upload({ chunks: [mebibyte] }).answer).status).toBe(400);
  });
});

describe('what the provider says about a number and a template', () => {
  const blocked = {
    can_send_message: 'BLOCKED',
    entities: [
      {
        entity_type: 'WABA',
        id: '1',
        errors: [{ error_code: 141006, error_description: 'No payment method.' }],
      },
    ],
  };

  it('is an obstacle in a check and of a start, with its text', async () => {
    const campaignId = await runCampaign({
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678'],
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
      send_type: 'SCHEDULED',
    });
    await call('POST', `/api/campaigns/${campaignId}/pause`);
    await simulator.control('number', {
      phoneNumberId,
      fields: { health_status: blocked, quality_rating: 'RED' },
    });
    const check = async () =>
      (
        await call('POST', '/api/campaigns/check', {
          name: 'Blocked',
          template_id: await templateIdOf('hello_campaign'),
          contact_selection_type: 'quick_contacts',
          quick_contacts: ['+4915112345678'],
          variable_mapping: { body: { 1: 'Ada' } },
          send_type: 'IMMEDIATE',
        })
      ).body.data.problems;
    const words = expect.stringContaining('No payment method. (141006)');
    expect(await check()).toEqual([{ field: 'channel_id', message: words }]);
    const start = await call('POST', `/api/campaigns/${campaignId}/start`);
    expect([start.status, start.body.message]).toEqual([409, words]);
    expect((await call('GET', '/api/channels')).body.data).toMatchObject([
      { can_send: 'BLOCKED', can_send_details: 'No payment method. (141006)', quality: 'LOW' },
    ]);
    expect((await call('GET', '/api/notices?kind=channel_quality')).body.data).toHaveLength(1);

    await simulator.control('number', {
      phoneNumberId,
      fields: { health_status: { can_send_message: 'AVAILABLE' }, quality_rating: 'GREEN' },
    });
    expect(await check()).toEqual([]);
    expect((await call('POST', `/api/campaigns/${campaignId}/start`)).body.data.status).toBe('SCHEDULED');
  });

  it('lets a paused template be unpaused', async () => {
    const businessAccountId = `1${phoneNumberId}`;
    const id = await templateIdOf('hello_campaign');
    const unpause = () => call('POST', `/api/templates/${id}/unpause`);
    expect(await unpause()).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('APPROVED') },
    });
    await simulator.control('template', {
      businessAccountId,
      name: 'hello_campaign',
      status: 'PAUSED',
      notify: false,
    });
    await call('POST', '/api/templates/sync');
    expect((await call('GET', `/api/templates/${id}`)).body.data.status).toBe('PAUSED');
    expect(await unpause()).toMatchObject({
      status: 200,
      body: { message: 'Template unpaused successfully' },
    });
    await call('POST', '/api/templates/sync');
    expect((await call('GET', `/api/templates/${id}`)).body.data.status).toBe('APPROVED');
  });

  it('hides templates that the provider made for itself', async () => {
    await simulator.control('templates', {
      businessAccountId: `1${phoneNumberId}`,
      template: { name: 'made_by_itself', language: 'en_US', source: 'AUTO_GENERATED', components: [] },
    });
    await call('POST', '/api/templates/sync');
    expect(await templateIdOf('made_by_itself')).toBe('');
  });
});
