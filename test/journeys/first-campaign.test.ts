import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestStack, type TestStack } from '../support/stack.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let stack: TestStack;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [stack, receiver] = await Promise.all([startTestStack(), startWebhookReceiver()]);
});
afterAll(async () => {
  await receiver?.close();
  await stack?.remove();
});

const secret = randomBytes(24).toString('hex');
const people = ['+4915112345671', '+14155552671', '+919876543210'];

async function call(method: 'GET' | 'POST', path: string, body?: unknown) {
  const answer = await request(`${stack.dev.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': stack.dev.apiKey, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions below say what is expected of it
  return { status: answer.statusCode, body: (await answer.body.json()) as any };
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
async function follow(id: string, done: (campaign: any) => boolean) {
  for (let waited = 0; waited < 60_000; waited += 200) {
    const { body } = await call('GET', `/api/campaigns/${id}`);
    if (done(body.data)) return body.data;
    await sleep(200);
  }
  throw new Error('The campaign did not come as far as expected');
}

const create = async (fields: object) => {
  const { status, body } = await call('POST', '/api/campaigns/auto-trigger', {
    name: 'Journey',
    template_id: stack.dev.templateIds['plain_notice'],
    contact_selection_type: 'quick_contacts',
    quick_contacts: people,
    send_type: 'IMMEDIATE',
    ...fields,
  });
  expect(status).toBe(201);
  return body.data.campaign.id as string;
};

it('creates a campaign by one call, sends it, and delivers its events with a valid signature', async () => {
  const webhook = await call('POST', '/api/external-webhooks', {
    title: 'Journey',
    url: receiver.url,
    events: ['sent', 'delivered'],
    secret,
  });
  expect(webhook.status).toBe(201);
  const id = await create({});
  const campaign = await follow(id, ({ counters }) => counters.delivered + counters.read === people.length);
  expect(campaign).toMatchObject({ status: 'COMPLETED', total_contacts: 3, preparation_status: 'READY' });

  for (let waited = 0; waited < 20_000 && receiver.received.length < 6; waited += 100) await sleep(100);
  const events = receiver.received.map(({ body }) => JSON.parse(body.toString()));
  expect(events.map(({ eventKey }) => eventKey).toSorted()).toEqual([
    ...Array.from({ length: 3 }, () => 'delivered'),
    ...Array.from({ length: 3 }, () => 'sent'),
  ]);
  expect(events[0]).toMatchObject({
    workspaceId: stack.dev.workspaceId,
    data: { messageSource: 'campaign' },
  });
  for (const { headers, body } of receiver.received) {
    const signed = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    expect(headers['x-webhook-signature-256']).toBe(signed);
    expect(headers['x-webhook-id']).toBe(webhook.body.data.id);
  }
});

it('finishes without help when worker, API, Temporal and Postgres are killed', async () => {
  const numbers = Array.from({ length: 300 }, (_, index) => `+49151${20_000_000 + index}`);
  const id = await create({ quick_contacts: numbers });
  await follow(id, ({ status }) => status === 'RUNNING' || status === 'COMPLETED');
  for (const victim of ['worker', 'temporal', 'postgres', 'api'] as const) {
    const pid = (await stack.readDev()).pids[victim];
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await sleep(1_500);
  }
  const answers = async () =>
    call('GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await answers())) await sleep(200);
  const campaign = await follow(id, ({ counters }) => counters.pending === 0);
  const { counters } = campaign;
  const origin = new URL(stack.dev.providerUrl).origin;
  const seen = (await (await request(`${origin}/_simulator/messages?limit=1`)).body.json()) as {
    readonly repeatedCallbackData: number;
  };
  expect(seen.repeatedCallbackData).toBe(0);
  const settled = counters.accepted + counters.sent + counters.delivered + counters.read + counters.failed;
  expect(settled + counters.claimed + counters.unknown).toBe(300);
});

it('keeps a sleeping campaign over a stop and a start, and logs no numbers or keys', async () => {
  const at = new Date(Date.now() + 15_000).toISOString();
  const id = await create({ send_type: 'SCHEDULED', scheduled_at: at });
  await follow(id, ({ preparation_status: prepared }) => prepared === 'READY');
  expect(await stack.stop()).toBe(0);
  const log = stack.output().slice(stack.output().indexOf('Ctrl-C'));
  for (const hidden of [...people.map((number) => number.slice(1)), stack.dev.apiKey, secret]) {
    expect(log).not.toContain(hidden);
  }
  stack = await startTestStack({ dataDir: stack.dataDir });
  const campaign = await follow(id, ({ status }) => status === 'COMPLETED');
  expect(Date.parse(campaign.started_at)).toBeGreaterThanOrEqual(Date.parse(at));
});
