import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlNames } from '../../../local/simulator/control-routes.ts';
import { readNotification } from '../../../src/provider/notification.ts';
import {
  businessAccountId,
  phoneNumberId,
  startCallbackReceiver,
  startTestSimulator,
  type CallbackReceiver,
  type SimulatorClient,
} from './client.ts';

let receiver: CallbackReceiver;
let simulator: SimulatorClient;
beforeEach(async () => {
  receiver = await startCallbackReceiver();
  simulator = await startTestSimulator({ callbackUrl: receiver.url });
});
afterEach(async () => {
  await simulator.close();
  await receiver.close();
});

const components = [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }];
const sendTo = async (to: string): Promise<string> => {
  const { body } = await simulator.send({
    to,
    template: 'hello_campaign',
    components,
    callbackData: `for-${to}`,
  });
  return (body as { messages: { id: string }[] }).messages[0]?.id ?? '';
};
const postedStatuses = (): readonly unknown[] => receiver.statuses().map(({ status }) => status);

describe('the statuses of a message', () => {
  it.each([
    ['491568000010', []],
    ['491568000011', ['sent']],
    ['491568000012', ['sent', 'delivered']],
    ['491568000013', ['sent', 'delivered', 'read']],
    ['491568000014', ['sent', 'read']],
    ['491568000015', ['read', 'delivered', 'sent']],
    ['491568000016', ['sent', 'sent', 'delivered', 'delivered', 'read', 'read']],
    ['491567131049', ['failed']],
  ])('are those that the number %s asks for', async (to, expected) => {
    await sendTo(to);

    expect(await simulator.control('flush')).toEqual({ flushed: true });

    expect(postedStatuses()).toEqual(expected);
    expect(receiver.badSignatures).toBe(0);
  });

  it('come after their delays without any control', async () => {
    await simulator.control('callbacks', {
      sentDelayMs: 30,
      deliveredDelayMs: 30,
      readDelayMs: 30,
      batchSize: 1,
    });
    await sendTo('491568000013');

    await expect.poll(postedStatuses).toEqual(['sent', 'delivered', 'read']);
  });

  it('are read by the product with ids, our own data and the price', async () => {
    const id = await sendTo('491568000012');
    await simulator.control('flush');

    const items = receiver.bodies.flatMap((body) => readNotification(Buffer.from(body)));

    expect(items).toMatchObject(
      ['sent', 'delivered'].map((status) => ({
        kind: 'status',
        status,
        providerMessageId: id,
        businessAccountId,
        phoneNumberId,
        recipientId: '491568000012',
        callbackData: 'for-491568000012',
        pricing: { billable: true, category: 'marketing' },
        failure: null,
      })),
    );
  });

  it('carry the code when the message failed', async () => {
    await sendTo('491567131049');
    await simulator.control('flush');

    expect(receiver.bodies.flatMap((body) => readNotification(Buffer.from(body)))).toMatchObject([
      { status: 'failed', failure: { code: 131049 }, pricing: null },
    ]);
  });

  it('fail for a media link that leads nowhere', async () => {
    const image = { link: 'https://files.example.invalid/a.jpg' };
    const text = (value: string) => ({ type: 'text', text: value });
    const sent = await simulator.send({
      to: '4915112345678',
      template: 'order_update',
      components: [
        { type: 'header', parameters: [{ type: 'image', image }] },
        { type: 'body', parameters: ['Ada', 'A-1', 'Friday'].map(text) },
        { type: 'button', sub_type: 'url', index: '0', parameters: [text('A-1')] },
      ],
    });
    expect(sent.status).toBe(200);
    await simulator.control('flush');
    expect(receiver.bodies.flatMap((body) => readNotification(Buffer.from(body)))).toMatchObject([
      { status: 'failed', failure: { code: 131053 } },
    ]);
  });

  it('are repeated until the receiver answers 200, and not after that', async () => {
    await simulator.control('callbacks', { retryDelayMs: 10 });
    receiver.answerWith(503);
    await sendTo('491568000011');
    await expect
      .poll(
        async () => ((await simulator.query('state'))['callbacks'] as { failedPosts: number }).failedPosts,
      )
      .toBeGreaterThan(1);
    receiver.answerWith(200);

    await simulator.control('flush');

    expect(postedStatuses()).toEqual(['sent']);
  });

  it('come twice and in any order when configured so', async () => {
    await simulator.control('callbacks', { duplicateRate: 1, shuffle: true });
    for (let index = 0; index < 30; index += 1) await sendTo('491568000011');

    await simulator.control('flush');

    const ids = receiver.statuses().map(({ id }) => id as string);
    expect(ids).toHaveLength(60);
    expect(new Set(ids).size).toBe(30);
    expect(ids).not.toEqual(ids.toSorted());
  });

  it('are batched', async () => {
    await simulator.control('callbacks', { batchSize: 1000, sentDelayMs: 60_000 });
    for (let index = 0; index < 50; index += 1) await sendTo('491568000011');

    await simulator.control('flush');

    expect(postedStatuses()).toHaveLength(50);
    expect(receiver.bodies.length).toBeLessThanOrEqual(2);
  });

  it('name the message by the provider’s id alone when configured so', async () => {
    await simulator.control('callbacks', { callbackData: false });
    const id = await sendTo('491568000011');
    await simulator.control('flush');

    expect(receiver.statuses()).toMatchObject([{ id, status: 'sent' }]);
    expect(receiver.statuses()[0]).not.toHaveProperty('biz_opaque_callback_data');
  });

  it('do not come while they are switched off', async () => {
    await simulator.control('callbacks', { enabled: false });
    await sendTo('491568000013');

    await simulator.control('flush');

    expect(postedStatuses()).toEqual([]);
  });

  it('spread over delivered, read and failed as the settings say', async () => {
    await simulator.control('callbacks', { readRate: 0.5, failedRate: 0.1, undeliveredRate: 0 });
    for (let index = 0; index < 300; index += 1) await sendTo(String(4915100000 + index));

    await simulator.control('flush');

    const count = (name: string): number => postedStatuses().filter((status) => status === name).length;
    expect(count('failed')).toBeGreaterThan(10);
    expect(count('failed')).toBeLessThan(60);
    expect(count('delivered')).toBe(300 - count('failed'));
    expect(count('read')).toBeGreaterThan(90);
    expect(count('read')).toBeLessThan(190);
  });
});

describe('pushed callbacks', () => {
  const items = (): readonly object[] =>
    receiver.bodies.flatMap((body) => readNotification(Buffer.from(body)));

  it('bring a text with characters escaped as the provider escapes them', async () => {
    const answer = await simulator.control('inbound', {
      from: '16505551234',
      text: 'Grüße / 😀',
      profileName: 'Zoë',
    });

    expect(answer).toMatchObject({ receiverStatus: 200 });
    expect(receiver.bodies[0]).toContain(String.raw`Gr\u00fc\u00dfe \/ \ud83d\ude00`);
    expect(items()).toMatchObject([
      { kind: 'message', from: '16505551234', texts: ['Grüße / 😀'], profileName: 'Zoë', phoneNumberId },
    ]);
    expect(receiver.badSignatures).toBe(0);
  });

  it('bring any message, also of a person without a number', async () => {
    const message = { type: 'button', button: { text: 'Stop', payload: 'stop' } };

    await simulator.control('inbound', { userId: 'US.1349', message });

    expect(items()).toMatchObject([
      { kind: 'message', from: null, fromUserId: 'US.1349', type: 'button', texts: ['Stop', 'stop'] },
    ]);
  });

  it('stop marketing messages', async () => {
    await simulator.control('preference', { from: '16505551234', value: 'stop' });

    expect(items()).toMatchObject([{ kind: 'preferences', waId: '16505551234', subscribed: false }]);
  });

  it('change the ids of a person', async () => {
    await simulator.control('identity', { userId: 'DE.2', previousUserId: 'DE.1', from: '' });
    await simulator.control('identity', { userId: 'DE.2', waId: '4915112345678', from: '16505551234' });

    expect(items()).toMatchObject([
      { from: null, fromUserId: null, change: { previous: ['DE.1'], newUserId: 'DE.2', newNumber: null } },
      { change: { previous: ['16505551234'], newUserId: 'DE.2', newNumber: '4915112345678' } },
    ]);
  });

  it('tell of a conversation that another app holds', async () => {
    await simulator.control('standby', { from: '16505551234', text: 'STOP', username: 'ada' });
    await simulator.control('standby', { to: '16505551234', text: 'Hello' });
    await simulator.control('standby', { id: 'wamid.S', to: '16505551234', status: 'sent' });

    expect(items()).toMatchObject([
      { kind: 'message', standby: true, from: '16505551234', username: 'ada', texts: ['STOP'] },
      { kind: 'echo', to: '16505551234', type: 'text' },
      { kind: 'status', status: 'sent', providerMessageId: 'wamid.S' },
    ]);
  });

  it('change a template, for the list and by callback', async () => {
    await simulator.control('template', { name: 'hello_campaign', status: 'PAUSED', reason: 'LOW_QUALITY' });
    await simulator.control('template', { name: 'hello_campaign', category: 'UTILITY' });

    expect(items()).toMatchObject([
      {
        kind: 'template_status',
        raw: { message_template_name: 'hello_campaign' },
        newStatus: 'PAUSED',
        reason: 'LOW_QUALITY',
      },
      { kind: 'template_category', raw: { previous_category: 'MARKETING' }, newCategory: 'UTILITY' },
    ]);
    const refused = await simulator.send({ template: 'hello_campaign', components });
    expect(refused.body).toMatchObject({ error: { code: 132015 } });
  });

  it('change quality and definition of a template', async () => {
    const changed = [{ type: 'BODY', text: 'Hello {{1}} and {{2}}' }];
    await simulator.control('template', { name: 'hello_campaign', quality: 'red' });
    await simulator.control('template', { name: 'hello_campaign', components: changed });

    expect(items()).toMatchObject([
      { kind: 'template_quality', raw: { message_template_name: 'hello_campaign' }, newQualityScore: 'RED' },
      { kind: 'template_components', raw: { message_template_name: 'hello_campaign' } },
    ]);
    const { body } = await simulator.get(
      `/${businessAccountId}/message_templates?name=hello_campaign&language=en_US&fields=components,quality_score`,
    );
    expect(body['data']).toMatchObject([{ components: changed, quality_score: { score: 'RED' } }]);
  });

  it('bring a message that was written in the app', async () => {
    const { id } = await simulator.control('echo', { to: '16505551234', text: 'By hand' });

    expect(items()).toMatchObject([
      { kind: 'echo', providerMessageId: id, to: '16505551234', phoneNumberId },
    ]);
  });

  it('ban the account and lift the ban', async () => {
    await simulator.control('account', { event: 'DISABLED_UPDATE', banState: 'DISABLE' });
    await simulator.control('account', { event: 'DISABLED_UPDATE', banState: 'REINSTATE' });

    expect(items()).toMatchObject([
      { kind: 'account', businessAccountId, maySend: false },
      { kind: 'account', businessAccountId, maySend: true },
    ]);
  });

  it('add a template that can be sent at once', async () => {
    const template = { name: 'fresh', language: 'en_US', components: [{ type: 'BODY', text: 'Hi {{1}}' }] };

    await simulator.control('templates', { template });

    expect((await simulator.send({ template: 'fresh', components })).status).toBe(200);
  });

  it('can be signed wrongly, or not at all', async () => {
    await simulator.control('callback', { body: { object: 'x' }, signing: 'wrong' });
    await simulator.control('callback', { body: '{"raw":true}', signing: 'none' });
    await simulator.control('callback', { body: '{"raw":true}' });

    expect(receiver.badSignatures).toBe(2);
    expect(receiver.bodies).toEqual(['{"object":"x"}', '{"raw":true}', '{"raw":true}']);
  });

  it('verify the address', async () => {
    expect(await simulator.control('verify')).toEqual({ verified: true });
  });
});

describe('accounts', () => {
  it('have their own numbers, templates and tokens', async () => {
    await simulator.control('accounts', {
      businessAccountId: '777',
      phoneNumberIds: ['888'],
      accessToken: 'EAAother',
    });

    const own = await simulator.get('/777/message_templates?limit=1', 'EAAother');
    const foreign = await simulator.get('/777/message_templates', 'EAAtest');
    const first = await simulator.get(`/${businessAccountId}/message_templates?limit=1`);

    expect(own.status).toBe(200);
    expect(foreign.status).toBe(401);
    const idOf = (body: Record<string, unknown>): unknown => (body['data'] as { id: string }[])[0]?.id;
    expect(idOf(own.body)).not.toBe(idOf(first.body));
  });
});

describe('controls', () => {
  it('are documented, every one', () => {
    const page = readFileSync(new URL('../../../docs/provider-simulator.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `(?:GET \/_simulator\/)?([a-z]+)(?:\?[^`]*)?` \|/gm)].map(
      ([, name]) => name,
    );

    expect(documented.toSorted()).toEqual([...controlNames].toSorted());
  });

  it('answer 400 or 404 with the problem when they cannot be carried out', async () => {
    expect(await simulator.control('template', { name: 'nobody' })).toEqual({
      problem: 'There is no template nobody in en_US',
    });
    expect(await simulator.control('dance')).toEqual({ problem: 'There is no POST /_simulator/dance' });
  });
});
