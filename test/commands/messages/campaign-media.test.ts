/** Media links of campaigns are fetched and uploaded once, and sent by the provider's id. */
import { createServer, type Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import { checkCampaignMedia } from '../../../src/commands/messages/campaign-media.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { nothing, nullable, row } from '../../../src/records/database/row.ts';
import { createFolderStorage } from '../../../src/storage/folder-storage.ts';
import { aCampaignToPrepare, aSender, type Sender } from '../../support/audience-campaign.ts';
import {
  createApplier,
  deliver,
  messagesCallback,
  status as callbackStatus,
} from '../../support/callback-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
let server: Server;
let origin: string;
let folder: string;
let requests: string[];
let uploads: {
  readonly phoneNumberId: string;
  readonly mimeType: string;
  readonly fileName: string;
  readonly size: number;
}[];
let sent: unknown[];
let isUp: boolean;
/** The id of a file that the provider no longer knows. */
let forgotten: string;
let onSend: () => Promise<unknown>;

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const answers: Readonly<Record<string, readonly [number, Record<string, string>, Buffer?]>> = {
  '/a.png': [200, { 'content-type': 'image/png' }, png],
  '/copy.png': [200, { 'content-type': 'image/png; charset=binary' }, png],
  '/untyped.png': [200, {}, png],
  '/moved.png': [302, { location: '/a.png' }],
  '/gone.png': [404, { 'content-type': 'text/html' }],
  '/page.png': [200, { 'content-type': 'text/html' }, Buffer.from('<html>')],
  '/large.png': [200, { 'content-type': 'image/png' }, Buffer.alloc(6 * 1024 * 1024)],
};

beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
  folder = await mkdtemp(join(tmpdir(), 'media-test-'));
  server = createServer((request, response) => {
    requests.push(request.url ?? '');
    const [status, headers, body] = answers[request.url ?? ''] ?? [404, {}];
    response.writeHead(isUp ? status : 503, headers).end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  [requests, uploads, sent, isUp, forgotten] = [[], [], [], true, 'none'];
  onSend = () => Promise.resolve();
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
  await test.drop();
});

const run = (statement: ReturnType<typeof sql.fragment>) => test.pool.query(sql.type(nothing)`${statement}`);

async function imageSender(): Promise<Sender> {
  const sender = await aSender(test.pool);
  const { channelId, workspaceId } = sender;
  const components = [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Look' },
  ];
  await run(
    sql.fragment`UPDATE template SET components = ${JSON.stringify(components)}::jsonb WHERE id = ${sender.templateId}`,
  );
  await run(sql.fragment`UPDATE wallet SET balance = 1000000 WHERE channel_id = ${channelId}`);
  await run(sql.fragment`INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
    VALUES (${channelId}, ${workspaceId}, 'recharge', 1000000)`);
  await run(sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
    VALUES (${workspaceId}, 'MARKETING', '', 1000), (${workspaceId}, 'MARKETING', 'DE', 1000)`);
  return sender;
}

function dependencies(): Dependencies {
  const provider = {
    uploadMedia: async ({
      content,
      ...file
    }: Parameters<Dependencies['provider']['uploadMedia']>[0]): Promise<string> => {
      let size = 0;
      for await (const chunk of content) size += chunk.length;
      expect(size).toBe(file.size);
      uploads.push(file);
      return `media-${uploads.length}`;
    },
    sendMessage: async (message: Parameters<Dependencies['provider']['sendMessage']>[0]) => {
      sent.push(message.template.components);
      await onSend();
      if (JSON.stringify(message.template.components).includes(forgotten)) {
        return {
          kind: 'rejected',
          code: 131009,
          httpStatus: 400,
          message: 'Parameter value is not valid',
          details: 'header: image id is not the id of an uploaded file',
          isTransient: false,
        } as const;
      }
      return {
        kind: 'accepted',
        providerMessageId: `wamid.${message.callbackData}`,
        messageStatus: 'accepted',
        otherIds: [],
      } as const;
    },
  };
  return {
    ...sendingDependencies({ database: test.pool, provider, config: { databaseUrl: test.url } }),
    outbound: createOutbound({ outboundAllowCidrs: ['127.0.0.0/8'], outboundDnsServers: [] }),
    storage: createFolderStorage(folder),
  };
}

async function prepared(sender: Sender, link: string): Promise<string> {
  const campaignId = await aCampaignToPrepare(test.pool, sender, {
    selectionType: 'quick_contacts',
    content: JSON.stringify(['+4915112345678']),
    variableMapping: { header: { link } },
  });
  const signal = new AbortController().signal;
  await prepareCampaign(dependencies(), campaignId, { heartbeat: () => undefined, signal });
  return campaignId;
}

async function send(campaignId: string): Promise<unknown> {
  await run(sql.fragment`UPDATE campaign SET status = 'RUNNING' WHERE id = ${campaignId}`);
  await runSendStep(dependencies(), campaignId, { budgetMs: 20_000, draining: () => false });
  return sent.at(-1);
}

const header = (image: object) => [{ type: 'header', parameters: [{ type: 'image', image }] }];

const Outcome = row(t.type({ status: t.string, code: nullable(t.string), message: nullable(t.string) }));
const outcomeOf = (campaignId: string) =>
  test.pool.one(sql.type(Outcome)`
    SELECT status, preparation_error_code AS code, preparation_error_message AS message
    FROM campaign WHERE id = ${campaignId}`);

describe('a media link that is the same for all recipients', () => {
  it('is fetched once, uploaded once for a channel, and sent by id although its server is away', async () => {
    const sender = await imageSender();
    const first = await prepared(sender, `${origin}/a.png`);
    const second = await prepared(sender, `${origin}/copy.png`);
    const other = await prepared(await imageSender(), `${origin}/untyped.png`);
    expect(requests).toEqual(['/a.png', '/copy.png', '/untyped.png']);
    expect(uploads).toMatchObject([
      { mimeType: 'image/png', fileName: 'file.png', size: png.length },
      { mimeType: 'image/png' },
    ]);
    expect(uploads[1]?.phoneNumberId).not.toBe(uploads[0]?.phoneNumberId);
    isUp = false;
    expect(await send(first)).toEqual(header({ id: 'media-1' }));
    expect(await send(second)).toEqual(header({ id: 'media-1' }));
    expect(await send(other)).toEqual(header({ id: 'media-2' }));
    expect(requests).toHaveLength(3);
  });

  it('is uploaded again after 25 days, and sent as a link if that fails', async () => {
    const sender = await imageSender();
    const [first, second] = [
      await prepared(sender, `${origin}/a.png`),
      await prepared(sender, `${origin}/a.png`),
    ];
    const age = () =>
      run(
        sql.fragment`UPDATE provider_media SET uploaded_at = now() - interval '26 days' WHERE channel_id = ${sender.channelId}`,
      );
    await age();
    expect(await send(first)).toEqual(header({ id: 'media-2' }));
    await age();
    isUp = false;
    expect(await send(second)).toEqual(header({ link: `${origin}/a.png` }));
  });

  it('is uploaded again at once when the provider refuses the id, and the message follows', async () => {
    const sender = await imageSender();
    const campaignId = await prepared(sender, `${origin}/a.png`);
    const makeOld = (age: string) =>
      run(
        sql.fragment`UPDATE provider_media SET uploaded_at = now() - ${age}::interval WHERE channel_id = ${sender.channelId}`,
      );
    const State = row(t.type({ state: t.string, reason: nullable(t.string) }));
    const state = () =>
      test.pool.one(sql.type(State)`SELECT state, reason FROM recipient WHERE campaign_id = ${campaignId}`);
    await makeOld('3 days');
    forgotten = 'media-1';
    expect(await send(campaignId)).toEqual(header({ id: 'media-1' }));
    expect(await state()).toEqual({ state: 'PENDING', reason: null });
    expect(await send(campaignId)).toEqual(header({ id: 'media-2' }));
    expect(await state()).toEqual({ state: 'ACCEPTED', reason: null });

    // A new id that is refused is not the reason: the message fails.
    const next = await prepared(sender, `${origin}/a.png`);
    forgotten = 'media-2';
    await send(next);
    expect(uploads).toHaveLength(2);
    expect(
      await test.pool.one(sql.type(State)`SELECT state, reason FROM recipient WHERE campaign_id = ${next}`),
    ).toEqual({ state: 'FAILED', reason: 'PROVIDER_131009' });
  });

  it('is sent again by a step that still had the old id when another step renewed it', async () => {
    const sender = await imageSender();
    const campaignId = await prepared(sender, `${origin}/a.png`);
    const State = row(t.type({ state: t.string, attempts: t.number }));
    const state = () =>
      test.pool.one(sql.type(State)`SELECT state, attempts FROM recipient WHERE campaign_id = ${campaignId}`);
    forgotten = 'media-1';
    onSend = () =>
      run(sql.fragment`UPDATE provider_media SET media_id = 'media-2', uploaded_at = now()
        WHERE channel_id = ${sender.channelId}`);
    expect(await send(campaignId)).toEqual(header({ id: 'media-1' }));
    expect(await state()).toEqual({ state: 'PENDING', attempts: 0 });
    expect(await send(campaignId)).toEqual(header({ id: 'media-2' }));
    expect(await state()).toEqual({ state: 'ACCEPTED', attempts: 1 });
  });

  it('is uploaded again when a status says that an accepted message failed for its file', async () => {
    const sender = await imageSender();
    const campaignId = await prepared(sender, `${origin}/a.png`);
    const next = await prepared(sender, `${origin}/a.png`);
    const { workspaceId, channelId } = sender;
    await run(
      sql.fragment`UPDATE provider_media SET uploaded_at = now() - interval '3 days' WHERE channel_id = ${channelId}`,
    );
    await send(campaignId);
    const Sent = row(t.type({ id: t.string, number: t.string }));
    const { id, number } = await test.pool.one(sql.type(Sent)`
      SELECT recipient.id, channel.phone_number_id AS number FROM recipient, channel
      WHERE campaign_id = ${campaignId} AND channel.id = ${channelId} AND channel.workspace_id = ${workspaceId}`);
    const failed = { status: 'failed', providerMessageId: `wamid.${id}`, callbackData: id };
    await deliver(createApplier(test.pool), [
      messagesCallback(number, { statuses: [callbackStatus({ ...failed, code: 131053 })] }),
    ]);
    expect(await send(next)).toEqual(header({ id: 'media-2' }));
    expect(uploads).toHaveLength(2);
  });

  it.each([
    [
      '/moved.png',
      'MEDIA_UNREACHABLE',
      'variable_mapping.header.link cannot be fetched: The file URL answers with a redirect',
    ],
    [
      '/gone.png',
      'MEDIA_UNREACHABLE',
      'variable_mapping.header.link cannot be fetched: The file URL answers with status 404',
    ],
    [
      '/page.png',
      'MEDIA_TYPE',
      'The file of variable_mapping.header.link is text/html; an image must be one of image/jpeg, image/png',
    ],
    [
      '/large.png',
      'MEDIA_TOO_LARGE',
      'The file of variable_mapping.header.link is larger than 5242880 bytes, the limit for an image',
    ],
  ])('fails the preparation if it is %s', async (path, code, message) => {
    const campaignId = await prepared(await imageSender(), `${origin}${path}`);
    expect(await outcomeOf(campaignId)).toEqual({ status: 'FAILED', code, message });
    expect(uploads).toEqual([]);
    const plan = { components: header({ link: `${origin}${path}` }), holes: [] };
    await expect(checkCampaignMedia(dependencies(), plan)).rejects.toThrow(message);
  });
});
