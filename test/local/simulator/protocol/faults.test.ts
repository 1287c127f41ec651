import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createCloudProvider } from '../../../../src/provider/cloud-provider.ts';
import { providerErrorRule, providerErrorTable } from '../../../../src/domain/sending/provider-error.ts';
import type { MessagingProvider, ProviderTemplate, SendResult } from '../../../../src/provider/provider.ts';
import {
  accessToken,
  businessAccountId,
  phoneNumberId,
  startTestSimulator,
  type SimulatorClient,
} from '../client.ts';

let simulator: SimulatorClient;
let provider: MessagingProvider;
/** Gives up soon, for answers that never come. */
let hasty: MessagingProvider;
beforeAll(async () => {
  simulator = await startTestSimulator();
  provider = createCloudProvider({ baseUrl: simulator.baseUrl, connections: 8, timeoutMs: 10_000 });
  hasty = createCloudProvider({ baseUrl: simulator.baseUrl, connections: 1, timeoutMs: 300 });
});
afterEach(() => simulator.control('reset'));
afterAll(async () => {
  await Promise.all([provider.close(), hasty.close()]);
  await simulator.close();
});

function send(to: string, client = provider): Promise<SendResult> {
  return client.sendMessage({
    phoneNumberId,
    accessToken,
    to,
    template: {
      name: 'hello_campaign',
      language: 'en_US',
      components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
    },
    callbackData: `for-${to}`,
  });
}

/** On a connection that is open already: a slow machine cannot spend the 300 ms on connecting. */
async function sendHastily(to: string, faults: readonly object[]): Promise<SendResult> {
  while ((await send('4915100009', hasty)).kind !== 'accepted');
  await simulator.control('reset');
  await simulator.control('faults', { faults });
  return send(to, hasty);
}

describe('every row of the error table', () => {
  const rows = providerErrorTable.flatMap(({ codes, rule }) => codes.map((code) => ({ code, rule })));

  it.each(rows)('comes through the HTTP boundary with code $code', async ({ code, rule }) => {
    await simulator.control('faults', { faults: [{ kind: 'error', code }] });

    const result = await send('4915112345678');

    expect(result).toMatchObject({
      kind: 'rejected',
      code,
      message: expect.stringContaining(`#${code}`) as string,
    });
    expect(result.kind === 'rejected' && providerErrorRule(result)).toEqual(rule);
  });
});

describe('faults', () => {
  it('apply to a limited number of sends, or to some recipients, when configured so', async () => {
    await simulator.control('faults', {
      faults: [
        { kind: 'error', code: 130429, times: 2 },
        { kind: 'http', httpStatus: 503, endsWith: '99' },
      ],
    });

    const results = [
      await send('491511111'),
      await send('491511112'),
      await send('491511113'),
      await send('4915111199'),
    ];

    expect(results).toMatchObject([
      { code: 130429 },
      { code: 130429 },
      { kind: 'accepted' },
      { kind: 'unknown' },
    ]);
  });

  it('apply to about their share of the sends', async () => {
    await simulator.control('faults', { faults: [{ kind: 'error', code: 131000, rate: 0.3 }] });

    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => send(String(4915100000 + index))),
    );

    const refused = results.filter(({ kind }) => kind === 'rejected').length;
    expect(refused).toBeGreaterThan(30);
    expect(refused).toBeLessThan(90);
  });

  it('delay the answer by the latency', async () => {
    await simulator.control('faults', { latencyMs: 120 });
    const started = performance.now();

    await send('4915112345678');

    expect(performance.now() - started).toBeGreaterThanOrEqual(115);
  });

  it('refuse what exceeds the throughput of the number', async () => {
    await simulator.control('faults', { messagesPerSecond: 3 });
    const second = () => Math.floor(Date.now() / 1_000);
    const first = second();

    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) => send(String(4915100000 + index))),
    );

    const accepted = results.filter(({ kind }) => kind === 'accepted').length;
    expect(accepted).toBeGreaterThanOrEqual(3);
    expect(accepted).toBeLessThanOrEqual(3 * (second() - first + 1));
    expect(results.filter((result) => result.kind === 'rejected' && result.code === 130429)).toHaveLength(
      12 - accepted,
    );
  });

  it('are refused when their kind is unknown', async () => {
    expect(await simulator.control('faults', { faults: [{ kind: 'explode' }] })).toMatchObject({
      problem: expect.stringContaining('kind must be one of') as string,
    });
  });

  it.each([
    ['drop', 'unknown', 0],
    ['hang', 'unknown', 0],
    ['drop_after', 'unknown', 1],
    ['hang_after', 'unknown', 1],
    ['garbage', 'unknown', 1],
  ])('of kind %s leave the outcome %s to the sender', async (kind, outcome, taken) => {
    const result = await sendHastily('4915112345678', [{ kind }]);

    expect(result.kind).toBe(outcome);
    expect(await simulator.query('messages')).toMatchObject({ received: 1, accepted: taken });
  });
});

describe('a number that requests a result', () => {
  it.each([
    ['491566131026', { kind: 'rejected', code: 131026 }, 0],
    ['491566000190', { kind: 'rejected', code: 190 }, 0],
    ['491567131049', { kind: 'accepted' }, 1],
    ['491568000001', { kind: 'unknown' }, 0],
    ['491568000002', { kind: 'unknown' }, 1],
    ['491568000003', { kind: 'unknown', cause: 'timeout' }, 1],
    ['491568000004', { kind: 'unknown' }, 1],
    ['491568000005', { kind: 'unknown' }, 0],
    ['491568000006', { kind: 'unknown' }, 0],
    ['491568000007', { kind: 'unknown' }, 0],
    ['491568000010', { kind: 'accepted', messageStatus: 'accepted' }, 1],
    ['491568000020', { kind: 'accepted', messageStatus: 'held_for_quality_assessment' }, 1],
  ])('gets it: %s', async (to, expected, taken) => {
    const result = await ('cause' in expected ? sendHastily(to, []) : send(to));

    expect(result).toMatchObject(expected);
    expect(await simulator.query(`messages?to=${to}`)).toMatchObject({ toCount: taken });
  });

  it('is rejected once and then accepted when it begins with 69', async () => {
    const results = [await send('491569131000'), await send('491569131000')];

    expect(results).toMatchObject([{ kind: 'rejected', code: 131000 }, { kind: 'accepted' }]);
  });
});

describe('the record of received messages', () => {
  it('is counted by recipient, by our own data and by outcome', async () => {
    await send('4915100001');
    await send('4915100001');
    await send('4915100002');
    await send('491566131026');

    const messages = await simulator.query('messages?limit=2&to=4915100001');

    expect(messages).toMatchObject({
      received: 4,
      accepted: 3,
      outcomes: { accepted: 3, '131026': 1 },
      distinctRecipients: 2,
      repeatedRecipients: 1,
      distinctCallbackData: 2,
      repeatedCallbackData: 1,
      toCount: 2,
      recent: [
        { to: '4915100001', callbackData: 'for-4915100001', outcome: 'accepted' },
        { body: { template: { name: 'hello_campaign' } } },
      ],
    });
  });

  it('is counted by time', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(String(4915100000 + index))));

    const rate = (await simulator.query('rate?bucketMs=100')) as {
      busiestSecond: number;
      buckets: { count: number }[];
    };

    expect(rate.busiestSecond).toBeGreaterThan(0);
    expect(rate.busiestSecond).toBeLessThanOrEqual(20);
    expect(rate.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(20);
  });

  it('is forgotten by a reset', async () => {
    await send('4915100001');
    await simulator.control('reset');

    expect(await simulator.query('messages')).toMatchObject({
      received: 0,
      accepted: 0,
      distinctRecipients: 0,
    });
  });
});

describe('the template list', () => {
  it('is read whole, page by page', async () => {
    const pages = [];
    for await (const page of provider.listTemplates({ businessAccountId, accessToken, pageSize: 4 }))
      pages.push(page);

    const templates = pages.flatMap((page) => page.templates);
    expect(pages.length).toBe(Math.ceil(templates.length / 4));
    expect(new Set(templates.map(({ id }) => id)).size).toBe(templates.length);
    expect(new Set(templates.map(({ status }) => status))).toEqual(
      new Set(['APPROVED', 'PAUSED', 'PENDING', 'REJECTED']),
    );
    expect(templates.filter(({ name }) => name === 'hello_campaign').map(({ language }) => language)).toEqual(
      ['en_US', 'de'],
    );
    expect(pages.every(({ unreadable }) => unreadable === 0)).toBe(true);
  });

  it('can be filtered, and refuses a cursor it does not know', async () => {
    const paused = await simulator.get(
      `/${businessAccountId}/message_templates?status=PAUSED&fields=name,status`,
    );
    const lost = await simulator.get(`/${businessAccountId}/message_templates?after=lost`);

    expect(paused.body['data']).toEqual([
      { id: expect.any(String) as string, name: 'paused_offer', status: 'PAUSED' },
    ]);
    expect(lost.body).toMatchObject({ error: { code: 131059 } });
  });

  it('begins again when a cursor is lost between two pages', async () => {
    const seen: string[] = [];
    const query = { businessAccountId, accessToken, pageSize: 20 };
    for await (const page of provider.listTemplates(query)) {
      seen.push(...page.templates.map(({ id }) => id));
      const last = page.templates.at(-1);
      if (page.nextCursor !== null && seen.length === 20) {
        await simulator.control('template', { id: last?.id, remove: true });
      }
    }

    expect(new Set(seen).size).toBe(21);
  });

  it('gives one template by its id', async () => {
    const listed: ProviderTemplate[] = [];
    for await (const page of provider.listTemplates({ businessAccountId, accessToken }))
      listed.push(...page.templates);
    const { id, name } = listed[0] as ProviderTemplate;

    const headers = { authorization: `Bearer ${accessToken}` };
    const found = await fetch(`${simulator.baseUrl}/${id}?fields=id,name`, { headers });

    expect(await found.json()).toEqual({ id, name });
  });
});
