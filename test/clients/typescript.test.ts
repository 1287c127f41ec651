/** The published client against the API itself. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ApiError,
  CampaignTimeoutError,
  createCampaign,
  createClient,
  createTag,
  followCampaign,
  followEvents,
  listTags,
  pages,
  putEventFeed,
  sendTemplateMessage,
  testWebhook,
  uploadCampaignCsv,
  verifyWebhook,
  waitForCampaign,
  type CampaignProgress,
  type Client,
} from '../../clients/typescript/src/index.ts';
import { signatureHeaders } from '../../src/domain/webhooks/signature.ts';
import { contactEvent } from '../support/webhook-fixtures.ts';
import { emitEvents, fanOutEvents } from '../../src/records/webhooks/events.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
let apiKey: string;
let client: Client;

beforeAll(async () => {
  api = await startTestApi();
  apiKey = (await api.seedWorkspace()).channelKey;
  client = createClient({ baseUrl: api.baseUrl, apiKey });
});
afterAll(() => api.close());

it('is generated from the present document: run `npm run openapi`', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'typescript-client-'));
  try {
    execFileSync(process.execPath, ['tools/generate-typescript-client.mjs', '--into', folder]);
    for (const name of ['schemas.ts', 'operations.ts']) {
      const committed = await readFile(join('clients/typescript/src', name), 'utf8');
      expect(committed).toBe(await readFile(join(folder, name), 'utf8'));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('walks over the pages of a list', async () => {
  for (const name of ['a', 'b', 'c']) await createTag(client, { name });
  const names: string[] = [];
  for await (const tag of pages((place) => listTags(client, { limit: 2, ...place }))) names.push(tag.name);
  expect(names).toEqual(['a', 'b', 'c']);
});

it('throws an error with code, message, problems and request id', async () => {
  const refused = createTag(client, { name: '' });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({
    code: 'validation_failed',
    status: 400,
    message: 'name must not be empty',
    problems: [{ field: 'name', message: 'name must not be empty' }],
    requestId: expect.stringMatching(/./),
  });
});

describe('an upload', () => {
  const csv = 'phone,country\n15112345691,49\n';
  it.each([
    ['of a Blob', async () => new Blob([csv])],
    ['of a stream', async () => new Blob([csv]).stream()],
    [
      'of a path',
      async () => {
        const path = join(api.dependencies.config.dataDir, 'contacts.csv');
        await writeFile(path, csv);
        return path;
      },
    ],
  ])('%s is stored', async (_, file) => {
    const { data } = await uploadCampaignCsv(client, await file());
    expect(data).toMatchObject({ headers: ['phone', 'country'], size: csv.length });
  });
});

describe('a request that fails for a moment', () => {
  const answer =
    (status: number, headers = {}) =>
    () =>
      Response.json({ status: 'success', message: 'busy' }, { status, headers });
  const cut = () => {
    throw new TypeError('fetch failed');
  };

  /** Runs the call against these answers. Resolves to the `Idempotency-Key` of every request that arrived, and how the call ended. */
  async function arrivals(answers: readonly (() => Response)[], call: (client: Client) => Promise<unknown>) {
    const keys: (string | null)[] = [];
    const send = (_: string, init: RequestInit) => {
      keys.push(new Headers(init.headers).get('Idempotency-Key'));
      return Promise.resolve().then(() => answers[keys.length - 1]?.() ?? answer(200)());
    };
    const made = createClient({ baseUrl: api.baseUrl, apiKey, fetch: send as typeof fetch });
    const outcome = await call(made).then(
      () => 'done',
      (error: Error) => error.message,
    );
    return { outcome, keys };
  }

  it.each([
    ['a cut connection', cut],
    ['429', answer(429, { 'Retry-After': '0.01' })],
    ['502', answer(502)],
    ['503', answer(503)],
  ])('that ends with %s is tried again', async (_, failure) => {
    expect(await arrivals([failure], (made) => listTags(made))).toMatchObject({
      outcome: 'done',
      keys: [null, null],
    });
  });

  it('is retried after an answer that is cut off', async () => {
    const half = () => new Response(new Blob(['{"data":[']).stream(), { status: 200 });
    expect(await arrivals([half], (made) => listTags(made))).toMatchObject({ outcome: 'done' });
  });

  it('is retried after a 409 only while its earlier attempt still runs', async () => {
    const underWay = answer(409);
    const body = { templateId: 'x', recipientPhoneNumber: 'x', countryCode: 'x' };
    const again = await arrivals([cut, underWay], (made) => sendTemplateMessage(made, body));
    expect(again).toMatchObject({ outcome: 'done', keys: { length: 3 } });
    const first = await arrivals([underWay], (made) => sendTemplateMessage(made, body));
    expect(first).toMatchObject({ outcome: 'busy', keys: { length: 1 } });
  });

  it('is retried with the same Idempotency-Key where the operation takes one', async () => {
    const body = {
      name: 'x',
      template_id: crypto.randomUUID(),
      contact_selection_type: 'all_contacts',
      send_type: 'IMMEDIATE',
    } as const;
    const { outcome, keys } = await arrivals([cut, answer(503)], (made) => createCampaign(made, body));
    expect(outcome).toBe('done');
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).not.toBeNull();
  });

  it('is not retried where a second execution would have a second effect', async () => {
    const sendTest = (made: Client) => testWebhook(made, 'x', { eventKey: 'sent' });
    expect(await arrivals([cut], sendTest)).toEqual({ outcome: 'fetch failed', keys: [null] });
    expect(await arrivals([answer(503)], sendTest)).toEqual({
      outcome: 'busy',
      keys: [null],
    });
  });

  it('is retried after a 429 even then, because nothing was done', async () => {
    const limited = answer(429, { 'Retry-After': '0.01' });
    expect(await arrivals([limited], (made) => testWebhook(made, 'x', { eventKey: 'sent' }))).toMatchObject({
      outcome: 'done',
      keys: { length: 2 },
    });
  });

  it('waits as long as Retry-After says, and leaves more than a minute to the caller', async () => {
    const from = performance.now();
    await arrivals([answer(429, { 'Retry-After': '0.6' })], (made) => listTags(made));
    expect(performance.now() - from).toBeGreaterThan(590);
    const long = createClient({
      baseUrl: api.baseUrl,
      apiKey,
      fetch: (async () => answer(429, { 'Retry-After': '3600' })()) as typeof fetch,
    });
    await expect(listTags(long)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3600 });
  });

  it('is not retried after a 502 that the service stored', async () => {
    const body = { templateId: 'x', recipientPhoneNumber: 'x', countryCode: 'x' };
    const stored = () =>
      Response.json({ error_code: 'outcome_unknown', message: 'unknown' }, { status: 502 });
    expect(await arrivals([stored], (made) => sendTemplateMessage(made, body))).toMatchObject({
      outcome: 'unknown',
      keys: { length: 1 },
    });
  });
});

it('ends an attempt that has no answer', async () => {
  const silent = (_: string, { signal }: RequestInit) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const made = createClient({
    baseUrl: api.baseUrl,
    apiKey,
    timeoutMs: 20,
    retries: 0,
    fetch: silent as typeof fetch,
  });
  await expect(listTags(made)).rejects.toMatchObject({ name: 'TimeoutError' });
});

describe('a campaign', () => {
  /** A client whose campaign takes the given states one after the other: a status and a pause reason for each poll. */
  const campaignThatIs = (...states: readonly (readonly [string, (string | null)?])[]): Client => {
    let polls = 0;
    const fetch = async () => {
      const [status, pauseReason = null] = states[Math.min(polls, states.length - 1)] ?? [];
      polls += 1;
      return Response.json({ status: 'success', data: { status, pause_reason: pauseReason } });
    };
    return createClient({ baseUrl: api.baseUrl, fetch: fetch as typeof globalThis.fetch });
  };

  it.each([
    ['COMPLETED', null],
    ['FAILED', null],
    ['CANCELLED', null],
    ['PAUSED', 'INSUFFICIENT_BALANCE'],
  ])('that is %s ends the wait', async (status, reason) => {
    const found = await waitForCampaign(campaignThatIs(['RUNNING'], [status, reason]), 'x');
    expect(found).toMatchObject({ status, pause_reason: reason });
  });

  it('that does not end in time throws with the last record', async () => {
    const waiting = waitForCampaign(campaignThatIs(['SCHEDULED']), 'x', { timeoutMs: 30 });
    await expect(waiting).rejects.toBeInstanceOf(CampaignTimeoutError);
    await expect(waiting).rejects.toMatchObject({ campaign: { status: 'SCHEDULED' } });
  });

  it('is followed across a cut connection until its end', async () => {
    const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    const connections = [
      `retry: 1000\n\n${event('progress', { status: 'RUNNING' })}event: prog`,
      `:\n\n${event('progress', { status: 'COMPLETED' })}${event('end', {})}`,
    ];
    const fetch = async () => new Response(connections.shift());
    const followed = createClient({ baseUrl: api.baseUrl, fetch: fetch as typeof globalThis.fetch });
    const seen: CampaignProgress['status'][] = [];
    for await (const { status } of followCampaign(followed, 'x')) seen.push(status);
    expect(seen).toEqual(['RUNNING', 'COMPLETED']);
  });

  it('that is unknown cannot be followed', async () => {
    const following = followCampaign(client, crypto.randomUUID()).next();
    await expect(following).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a webhook', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = JSON.stringify({
    eventKey: 'sent',
    workspaceId: 1,
    timestamp: '2026-11-21T09:00:00.000Z',
    data: {},
  });
  const request = (sentAt: Date, one = secret) =>
    signatureHeaders({ id: 'event', sentAt, body: Buffer.from(body), secrets: [one] });

  it.each([secret, 'a text of any kind'])('signed with %s is its event', async (one) => {
    const event = await verifyWebhook({ body, headers: request(new Date(), one), secret: one });
    expect(event.eventKey).toBe('sent');
  });

  it('of another secret, another body or another day is refused', async () => {
    const headers = request(new Date());
    await expect(verifyWebhook({ body, headers, secret: 'another' })).rejects.toThrow('not signed');
    await expect(verifyWebhook({ body: `${body} `, headers, secret })).rejects.toThrow('not signed');
    await expect(verifyWebhook({ body, headers: request(new Date(0)), secret })).rejects.toThrow('too old');
  });
});

describe('followEvents', () => {
  it('hands over every event once, resumes after a cursor, and reports a gap', async () => {
    const { workspaceId, operatorKey } = await api.seedWorkspace();
    const operator = createClient({ baseUrl: api.baseUrl, apiKey: operatorKey });
    const { pool } = api.database;
    const write = async (count: number): Promise<void> => {
      await emitEvents(pool, workspaceId, Array.from({ length: count }, contactEvent));
      await fanOutEvents(pool, 100);
    };
    const follow = async (count: number, after?: string) => {
      const end = new AbortController();
      const seen: { id: string; cursor: string }[] = [];
      const gaps: string[] = [];
      await followEvents(operator, {
        after,
        pollMs: 10,
        signal: end.signal,
        onGap: (cursor) => void gaps.push(cursor),
        onEvent: async (event) => {
          expect(event.body.eventKey).toBe('contact.created');
          seen.push(event);
          if (seen.length === count) end.abort();
        },
      });
      return { seen, gaps };
    };
    await putEventFeed(operator, { enabled: true });
    await write(3);
    const first = await follow(2);
    await write(2);
    const rest = await follow(3, first.seen[1]?.cursor);
    const ids = [...first.seen, ...rest.seen].map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(rest.gaps).toEqual([]);

    await putEventFeed(operator, { enabled: false });
    await putEventFeed(operator, { enabled: true });
    await write(1);
    const afterGap = await follow(1, rest.seen[2]?.cursor);
    expect(afterGap.gaps).toHaveLength(1);
    expect(ids).not.toContain(afterGap.seen[0]?.id);

    const failing = followEvents(operator, {
      onEvent: () => {
        throw new Error('cannot store it');
      },
    });
    await expect(failing).rejects.toThrow('cannot store it');
    await expect(
      followEvents(operator, { after: rest.seen[2]?.cursor, onEvent: () => undefined }),
    ).rejects.toMatchObject({ code: 'cursor_expired', oldestCursor: afterGap.gaps[0] });
  });
});
