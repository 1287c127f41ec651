/** Checks the logs of a full run, and the traces that a collector receives. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FormData, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestStack, type TestStack } from '../support/stack.ts';
import { startTraceReceiver, type ReceivedSpan, type TraceReceiver } from '../support/trace-receiver.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

type Line = Readonly<Record<string, unknown>>;

const campaignRequest = 'request-of-the-campaign';
const singleRequest = 'request-of-the-single-send';
const phones = ['4915112340001', '4915112340002', '4915112340003'];
const single = '4915112340009';
const sender = '4915112340777';
const personal = [
  'Hildegard Quietname',
  'hildegard@private.example',
  'Secretville',
  'a confidential question',
];
const webhookSecret = randomBytes(24).toString('hex');

let stack: TestStack;
let receiver: WebhookReceiver;
let collector: TraceReceiver;
let campaignId: string;
let uploadedId: string;
let output: string;
let lines: readonly Line[];
let forbidden: readonly string[];

beforeAll(async () => {
  [receiver, collector] = await Promise.all([startWebhookReceiver(), startTraceReceiver()]);
  stack = await startTestStack({
    environment: { LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
  });
  const secrets = JSON.parse(await readFile(join(stack.dataDir, 'secrets.json'), 'utf8')) as object;
  const { dev } = stack;
  forbidden = [
    ...phones,
    single,
    sender,
    ...personal,
    webhookSecret,
    dev.apiKey,
    dev.workspaceKey,
    dev.operatorKey,
    new URL(dev.databaseUrl).password,
    ...Object.values(secrets).map(String),
  ].filter((text) => text !== '');
  await drive();
  await stack.stop();
  output = stack.output();
  // The first lines are the banner; log lines begin with a brace.
  lines = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
});
afterAll(async () => {
  await stack?.remove();
  await Promise.all([receiver?.close(), collector?.close()]);
});

interface Call {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the assertions below say what is expected of the answers
async function post(path: string, { body = {}, headers = {} }: Call = {}): Promise<any> {
  const answer = await request(`${stack.dev.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': stack.dev.apiKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return answer.body.json();
}

async function createCampaign(fields: object, requestId: string): Promise<string> {
  const answer = await post('/api/campaigns/auto-trigger', {
    body: campaignOf(fields),
    headers: { 'x-request-id': requestId },
  });
  expect(answer).toMatchObject({ code: 201 });
  return answer.data.campaign.id;
}

const csv = `Name,E-mail,Country,Phone,City\n${phones
  .map((phone) => `${personal[0]},${personal[1]},49,+${phone},${personal[2]}`)
  .join('\n')}\n${personal[0]},,49,not-a-number-${single},\n`;

const campaignOf = (fields: object) => ({
  name: 'Logs',
  template_id: stack.dev.templateIds['hello_campaign:en_US'],
  contact_selection_type: 'csv_contacts',
  csv_mapping: { name_column: 0, email_column: 1, country_code_column: 2, phone_column: 3 },
  variable_mapping: { body: { '1': 'name_column' } },
  send_type: 'IMMEDIATE',
  ...fields,
});

async function simulator(control: string, body: object): Promise<void> {
  const { statusCode } = await request(`${new URL(stack.dev.providerUrl).origin}/_simulator/${control}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(statusCode).toBe(200);
}

async function drive(): Promise<void> {
  // By default one message in a hundred gets the status `failed`, and no event `sent`.
  await simulator('callbacks', { failedRate: 0 });
  await post('/api/external-webhooks', {
    body: {
      title: 'Logs',
      url: receiver.url,
      events: ['sent', 'incoming', 'contact.created'],
      secret: webhookSecret,
    },
  });
  campaignId = await createCampaign({ csv_contacts_string: csv }, campaignRequest);

  const form = new FormData();
  form.append('file', new Blob([csv]), 'people.csv');
  const uploaded = await request(`${stack.dev.baseUrl}/api/campaigns/csv-files`, {
    method: 'POST',
    headers: { 'x-api-key': stack.dev.apiKey },
    body: form,
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  const { csv_file_key } = ((await uploaded.body.json()) as any).data;
  uploadedId = await createCampaign({ csv_file_key }, 'request-of-the-upload');

  await post('/api/templates/external/message/send', {
    body: {
      templateId: campaignOf({}).template_id,
      recipientPhoneNumber: single,
      countryCode: '+49',
      variables: [personal[3]],
    },
    headers: { 'x-request-id': singleRequest },
  });
  await post('/api/templates/external/message/send', {
    body: { recipientPhoneNumber: `+${single}`, variables: [personal[3]], countryCode: sender },
  });
  await post('/api/campaigns/auto-trigger', {
    body: {
      ...campaignOf({}),
      contact_selection_type: 'quick_contacts',
      quick_contacts: [`+${phones[0]}x${sender}`],
    },
  });
  await post(`/api/contacts?search=${single}`, { headers: { 'x-api-key': `${stack.dev.apiKey}x` } });
  await post(`/api/${single}`);
  await simulator('inbound', {
    from: sender,
    text: personal[3],
    profileName: personal[0],
    phoneNumberId: stack.dev.phoneNumberId,
  });
  // `sent` of both campaigns and of the single send, and the inbound message.
  const keys = () => receiver.received.map(({ headers }) => headers['x-event-key']);
  const complete = () =>
    keys().filter((key) => key === 'sent').length === 2 * phones.length + 1 && keys().includes('incoming');
  for (let waited = 0; waited < 30_000 && !complete(); waited += 100) await sleep(100);
  expect(complete()).toBe(true);
  // Waits for the spans of the last steps: the exporter sends them in batches.
  await sleep(1_500);
}

const named = (message: string) => lines.filter(({ msg }) => msg === message);

describe('the logs of a full run', () => {
  it('hold no phone number, key, secret, name or text', () => {
    const said = lines.map((line) => JSON.stringify(line));
    for (const text of forbidden) expect(said.filter((line) => line.includes(text))).toEqual([]);
    // The one key that is printed is the one of the banner's curl.
    expect(output.split(stack.dev.apiKey).length - 1).toBeLessThanOrEqual(1);
  });

  it('have one line for every request, with its id', () => {
    const [line, ...more] = named('request').filter(({ requestId }) => requestId === campaignRequest);
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      service: 'api',
      method: 'POST',
      route: '/api/campaigns/auto-trigger',
      status: 201,
    });
  });

  it.each(['campaign prepared', 'campaign begins', 'outcomes recorded', 'campaign completed'])(
    'name the request and the workflow in "%s"',
    (message) => {
      const ofCampaign = named(message).filter((line) => line['campaignId'] === campaignId);
      expect(ofCampaign.length).toBeGreaterThan(0);
      for (const line of ofCampaign)
        expect(line).toMatchObject({
          service: 'worker',
          requestId: campaignRequest,
          workflowId: `campaign-${campaignId}`,
        });
    },
  );

  it('name the request in the API’s lines about the campaign', () => {
    expect(named('campaign created').find((line) => line['campaignId'] === campaignId)).toMatchObject({
      requestId: campaignRequest,
      status: 'DRAFT',
    });
    expect(named('campaign created').some((line) => line['campaignId'] === uploadedId)).toBe(true);
  });

  it('name request and workflow at every call of the provider', () => {
    const calls = named('provider call');
    const ofCampaign = calls.filter(({ workflowId }) => workflowId === `campaign-${campaignId}`);
    expect(ofCampaign).toHaveLength(phones.length);
    for (const call of ofCampaign)
      expect(call).toMatchObject({ requestId: campaignRequest, outcome: 'accepted' });
    expect(calls.filter(({ requestId }) => requestId === singleRequest)).toMatchObject([
      { service: 'api', outcome: 'accepted' },
    ]);
  });

  it('have one line for every delivery', () => {
    const deliveries = named('delivery');
    expect(deliveries).toHaveLength(receiver.received.length);
    for (const line of deliveries)
      expect(line).toMatchObject({
        state: 'delivered',
        responseStatus: 200,
        workflowId: `webhook-delivery-${String(line['deliveryId'])}`,
      });
  });
});

describe('the traces of a full run', () => {
  const textOf = ({ attributes }: ReceivedSpan, key: string) =>
    attributes.find((attribute) => attribute.key === key)?.value['stringValue'];

  function traceOf(requestId: string): readonly ReceivedSpan[] {
    const root = collector.spans.find((span) => textOf(span, 'requestId') === requestId);
    return collector.spans.filter(({ traceId }) => traceId === root?.traceId);
  }

  function parentOf(trace: readonly ReceivedSpan[], name: string): string | undefined {
    const span = trace.find((candidate) => candidate.name === name);
    return trace.find(({ spanId }) => spanId === span?.parentSpanId)?.name;
  }

  it('join request, workflow, activity and call of the provider', () => {
    const trace = traceOf(campaignRequest);
    expect(parentOf(trace, 'workflow campaign')).toBe('request');
    // A small campaign is sent by the step that prepares it.
    expect(parentOf(trace, 'activity prepareCampaign')).toBe('workflow campaign');
    expect(parentOf(trace, 'provider send')).toBe('activity prepareCampaign');
    expect(trace.filter(({ name }) => name === 'provider send')).toHaveLength(phones.length);
    expect(new Set(trace.map(({ service }) => service))).toEqual(
      new Set(['messaging-campaigns-api', 'messaging-campaigns-worker']),
    );
  });

  it('join a single send and its call of the provider', () => {
    expect(parentOf(traceOf(singleRequest), 'provider send')).toBe('request');
  });

  it('hold no phone number, key, secret, name or text', () => {
    const spansText = JSON.stringify(collector.spans);
    for (const text of forbidden) expect(spansText.includes(text)).toBe(false);
  });
});
