/** Published client libraries of the provider's protocol read the simulator's responses. */
import { createHmac } from 'node:crypto';
import { normalizeWebhook, verifySignature } from '@kapso/whatsapp-cloud-api/server';
import { WhatsAppAPI } from 'whatsapp-api-js';
import type { PostData } from 'whatsapp-api-js/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  appSecret,
  phoneNumberId,
  startCallbackReceiver,
  startTestSimulator,
  type CallbackReceiver,
  type SimulatorClient,
} from './client.ts';

let receiver: CallbackReceiver;
let simulator: SimulatorClient;
beforeAll(async () => {
  receiver = await startCallbackReceiver();
  simulator = await startTestSimulator({ callbackUrl: receiver.url });
  await simulator.control('callbacks', { batchSize: 1 });
});
afterAll(async () => {
  await simulator.close();
  await receiver.close();
});

const components = [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }];
const userId = 'US.13491208655302741918';

/** Returns the callbacks that `act` causes. */
async function callbacksOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  const before = receiver.bodies.length;
  await act();
  await simulator.control('flush');
  return receiver.bodies.slice(before);
}

const signatureOf = (body: string): string =>
  `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;

const messages: Readonly<Record<string, object>> = {
  text: { from: '5215512345678', text: 'Grüße / 😀', profileName: 'Zoë' },
  'text of somebody without a number': { userId, text: 'Hello' },
  button: {
    from: '16505551234',
    message: { type: 'button', button: { text: 'Stop promotions', payload: 'STOP' } },
  },
  reaction: {
    from: '16505551234',
    message: { type: 'reaction', reaction: { message_id: 'wamid.1', emoji: '👍' } },
  },
};

const notices: Readonly<Record<string, () => Promise<unknown>>> = {
  smbMessageEchoes: () => simulator.control('echo', { to: '16505551234', text: 'By hand' }),
  userPreferences: () => simulator.control('preference', { from: '16505551234', value: 'stop' }),
  businessCapabilityUpdate: () => simulator.control('capability', { messagingLimit: 2000 }),
  accountUpdate: () =>
    simulator.control('account', {
      event: 'ACCOUNT_RESTRICTION',
      restriction: 'RESTRICTED_BIZ_INITIATED_MESSAGING',
    }),
  messageTemplateStatusUpdate: () =>
    simulator.control('template', { name: 'plain_notice', status: 'PAUSED', reason: 'LOW_QUALITY' }),
  templateCategoryUpdate: () =>
    simulator.control('template', { name: 'plain_notice', category: 'MARKETING' }),
  messageTemplateQualityUpdate: () => simulator.control('template', { name: 'plain_notice', quality: 'red' }),
  messageTemplateComponentsUpdate: () =>
    simulator.control('template', { name: 'plain_notice', components: [{ type: 'BODY', text: 'Closed.' }] }),
};

const statuses: Readonly<Record<string, readonly [to: string, expected: readonly string[]]>> = {
  'sent, delivered and read': ['491568000013', ['sent', 'delivered', 'read']],
  failed: ['491567131049', ['failed']],
  'of a Mexican number': ['525568000011', ['sent']],
};

describe('@kapso/whatsapp-cloud-api', () => {
  it.each(Object.entries(messages))('reads a message: %s', async (_, input) => {
    const [body = ''] = await callbacksOf(() => simulator.control('inbound', input));

    expect(verifySignature({ appSecret, rawBody: body, signatureHeader: signatureOf(body) })).toBe(true);
    const read = normalizeWebhook(JSON.parse(body));
    expect(read).toMatchObject({ object: 'whatsapp_business_account', phoneNumberId });
    expect(read.messages).toMatchObject([
      {
        id: expect.stringMatching(/^wamid\./),
        timestamp: expect.stringMatching(/^\d+$/),
        fromUserId: expect.stringMatching(/^US\./),
        kapso: { direction: 'inbound' },
      },
    ]);
    expect(read.contacts).toMatchObject([
      { userId: read.messages[0]?.['fromUserId' as never], profile: { name: expect.any(String) } },
    ]);
  });

  it.each(Object.entries(statuses))('reads statuses: %s', async (_, [to, expected]) => {
    const bodies = await callbacksOf(() => simulator.send({ to, template: 'hello_campaign', components }));

    const read = bodies.map((body) => normalizeWebhook(JSON.parse(body)));
    expect(read.flatMap((one) => one.statuses.map(({ status }) => status))).toEqual(expected);
    for (const one of read) {
      const [status] = one.statuses;
      expect(status).toMatchObject({
        id: expect.stringMatching(/^wamid\./),
        recipientId: expect.stringMatching(/^\d+$/),
        recipientUserId: expect.stringMatching(/^US\./),
        ...(status?.status === 'failed' && {
          errors: [{ code: 131049, title: expect.any(String), errorData: { details: expect.any(String) } }],
        }),
        // The status `read` carries no price: the message has been paid for.
        ...((status?.status === 'sent' || status?.status === 'delivered') && {
          pricing: { billable: true, pricingModel: 'PMP', category: 'marketing', type: 'regular' },
        }),
      });
      expect(one.contacts).toMatchObject([{ waId: status?.recipientId, userId: status?.recipientUserId }]);
    }
  });

  it.each(Object.entries(notices))('reads the field %s', async (field, act) => {
    const [body = ''] = await callbacksOf(act);

    const [value = {}] = normalizeWebhook(JSON.parse(body)).raw[field] ?? [];
    expect(Object.keys(value).length).toBeGreaterThan(1);
  });
});

describe('whatsapp-api-js', () => {
  const read = async (body: string): Promise<Record<string, unknown>> => {
    const api = new WhatsAppAPI<Record<string, unknown>>({ token: 'EAAtest', appSecret, v: 'v25.0' });
    api.on.message = ({ phoneID, contact, message }) => ({ phoneID, contact, message });
    api.on.status = ({ phoneID, contact, id, status, pricing, error, biz_opaque_callback_data: data }) => ({
      phoneID,
      contact,
      id,
      status,
      pricing,
      error,
      data,
    });
    return (await api.post(JSON.parse(body) as PostData, body, signatureOf(body))) ?? {};
  };

  it.each(Object.entries(messages))('reads a message: %s', async (_, input) => {
    const [body = ''] = await callbacksOf(() => simulator.control('inbound', input));

    expect(await read(body)).toMatchObject({
      phoneID: phoneNumberId,
      contact: {
        ...('from' in input && { wa_id: input.from }),
        user_id: expect.stringMatching(/^US\./),
        profile: { name: expect.any(String) },
      },
      message: { id: expect.stringMatching(/^wamid\./), type: expect.any(String) },
    });
  });

  it.each(Object.entries(statuses))('reads statuses: %s', async (_, [to, expected]) => {
    const bodies = await callbacksOf(() => simulator.send({ to, template: 'hello_campaign', components }));

    const all = await Promise.all(bodies.map(read));
    expect(all.map(({ status }) => status)).toEqual(expected);
    for (const one of all) {
      expect(one).toMatchObject({
        phoneID: phoneNumberId,
        contact: { wa_id: expect.stringMatching(/^\d+$/), user_id: expect.stringMatching(/^US\./) },
        id: expect.stringMatching(/^wamid\./),
        data: 'data',
        ...(one['status'] === 'failed' && { error: { code: 131049 } }),
        // The status `read` carries no price: the message has been paid for.
        ...((one['status'] === 'sent' || one['status'] === 'delivered') && { pricing: { billable: true } }),
      });
    }
  });
});
