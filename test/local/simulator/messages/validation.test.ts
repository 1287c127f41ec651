import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestSimulator, type SimulatorClient } from '../client.ts';

const text = (value: unknown): object => ({ type: 'text', text: value });
const named = (name: string, value: string): object => ({ type: 'text', parameter_name: name, text: value });
const header = (...parameters: readonly object[]): object => ({ type: 'header', parameters });
const body = (...values: readonly unknown[]): object => ({ type: 'body', parameters: values.map(text) });
const button = (sub_type: string, index: number | string, parameter?: object): object => ({
  type: 'button',
  sub_type,
  index,
  ...(parameter ? { parameters: [parameter] } : {}),
});
const url = (index: number | string, suffix: string): object => button('url', index, text(suffix));
const code = (index: number, coupon_code: string): object =>
  button('copy_code', index, { type: 'coupon_code', coupon_code });
const image = { type: 'image', image: { link: 'https://media.example.com/a.jpg' } };
const place = { latitude: '37.44', longitude: '-122.16', name: 'Store', address: 'Street 1' };
const location = (value: object): object => ({ type: 'location', location: value });
const product = { type: 'product', product: { product_retailer_id: 'p1', catalog_id: 'c1' } };
const offer = (expiration_time_ms: unknown): object => ({
  type: 'limited_time_offer',
  parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms } }],
});
const action = (value: object): object => ({ type: 'action', action: value });
const sections = [{ title: 'All', product_items: [{ product_retailer_id: 'p1' }] }];
const carousel = (...cards: readonly (readonly object[])[]): object => ({
  type: 'carousel',
  cards: cards.map((components, card_index) => ({ card_index, components })),
});
const mediaCard = [
  header(image),
  body('20%'),
  button('quick_reply', '0', { type: 'payload', payload: 'p' }),
  url('1', 'fern'),
];
const tomorrow = Date.now() + 86_400_000;

const accepted: ReadonlyArray<readonly [string, readonly object[] | undefined]> = [
  ['plain_notice', undefined],
  ['plain_notice', []],
  ['hello_campaign', [body('Ada')]],
  ['order_update', [header(image), body('Ada', 'A-1', 'Friday'), url('0', 'A-1')]],
  [
    'order_update',
    [
      header({ type: 'image', image: { link: 'https://example.com/a.jpg' } }),
      body('Ada', 'A-1', 'Friday'),
      url(0, 'A-1'),
    ],
  ],
  [
    'reservation_confirmation',
    [
      header(named('first_name', 'Ada')),
      {
        type: 'BODY',
        parameters: [named('date', 'May'), named('first_name', 'Ada'), named('party_size', '4')],
      },
      button('QUICK_REPLY', 1, { type: 'payload', payload: 'cancel' }),
    ],
  ],
  ['season_sale', [header(text('Sale')), body('May', '25OFF', '25%'), code(1, '25OFF')]],
  ['product_video', [header({ type: 'video', video: { link: 'https://m.example.com/a.mp4' } }), body('Ada')]],
  [
    'invoice_ready',
    [
      header({ type: 'document', document: { link: 'https://m.example.com/a.pdf', filename: 'a.pdf' } }),
      body('A', 'B'),
    ],
  ],
  ['store_location', [header(location(place)), body('Ada')]],
  ['login_code', [body('123456'), url('0', '123456')]],
  ['login_code_one_tap', [body('123456'), url('0', '123456')]],
  ['feedback_flow', [body('Ada'), button('flow', '0', action({ flow_token: 't' }))]],
  ['feedback_flow', [body('Ada')]],
  ['catalog_intro', [body('Ada'), button('CATALOG', 0, action({ thumbnail_product_retailer_id: 'p1' }))]],
  ['abandoned_cart', [header(text('Ada')), body('10OFF'), button('mpm', '0', action({ sections }))]],
  ['single_product_offer', [header(product), body('25OFF', '25%')]],
  [
    'limited_time_trip',
    [header(image), offer(tomorrow), body('Ada', 'TRIP25'), code(0, 'TRIP25'), url(1, 'x')],
  ],
  ['media_carousel', [body('Ada', '20OFF'), carousel(mediaCard, mediaCard)]],
  ['product_carousel', [body('Ada'), carousel([header(product)], [header(product)], [header(product)])]],
];

const refused: ReadonlyArray<readonly [string, number, string, readonly unknown[] | object]> = [
  ['a missing body', 132000, 'hello_campaign', []],
  ['one value too many', 132000, 'hello_campaign', [body('Ada', 'Bob')]],
  ['values for a template without any', 132000, 'plain_notice', [body('Ada')]],
  ['an empty value', 131008, 'hello_campaign', [body('')]],
  ['a value that is no text', 131008, 'hello_campaign', [body(7)]],
  ['a value with a line break', 132018, 'hello_campaign', [body('a\nb')]],
  ['a text that gets too long', 132005, 'hello_campaign', [body('x'.repeat(1000))]],
  [
    'a text header that gets too long',
    132005,
    'season_sale',
    [header(text('x'.repeat(52))), body('May', '25OFF', '25%'), code(1, '25OFF')],
  ],
  ['a login code that is too long', 132005, 'login_code', [body('1'.repeat(16)), url('0', '1'.repeat(16))]],
  [
    'the text of an offer that gets too long',
    132005,
    'limited_time_trip',
    [header(image), offer(tomorrow), body('x'.repeat(600), 'TRIP25'), code(0, 'TRIP25'), url(1, 'x')],
  ],
  [
    'an address that gets too long',
    131009,
    'order_update',
    [header(image), body('Ada', 'A-1', 'Friday'), url('0', 'x'.repeat(1970))],
  ],
  [
    'a coupon code with other characters',
    131009,
    'season_sale',
    [header(text('Sale')), body('May', '25OFF', '25%'), code(1, '25-OFF')],
  ],
  [
    'a section title that is too long',
    131009,
    'abandoned_cart',
    [
      header(text('Ada')),
      body('10OFF'),
      button('mpm', '0', action({ sections: [{ ...sections[0], title: 'x'.repeat(25) }] })),
    ],
  ],
  ['two bodies', 100, 'hello_campaign', [body('Ada'), body('Ada')]],
  ['a footer', 100, 'hello_campaign', [body('Ada'), { type: 'footer', parameters: [text('x')] }]],
  ['components that are no list', 100, 'hello_campaign', { body: 'Ada' }],
  ['a header without media', 132012, 'order_update', [body('A', 'B', 'C'), url(0, 'x')]],
  [
    'another kind of media',
    132012,
    'order_update',
    [
      header({ type: 'video', video: { link: 'https://example.com/a.mp4' } }),
      body('A', 'B', 'C'),
      url(0, 'x'),
    ],
  ],
  [
    'media without link or id',
    131008,
    'order_update',
    [header({ type: 'image', image: {} }), body('A', 'B', 'C'), url(0, 'x')],
  ],
  [
    'a link that is none',
    131009,
    'order_update',
    [header({ type: 'image', image: { link: 'a.jpg' } }), body('A', 'B', 'C'), url(0, 'x')],
  ],
  ['a URL button without its value', 131008, 'order_update', [header(image), body('A', 'B', 'C')]],
  [
    'a value for a phone button',
    100,
    'order_update',
    [header(image), body('A', 'B', 'C'), url(0, 'x'), button('phone_number', 1)],
  ],
  ['another kind of button', 132012, 'order_update', [header(image), body('A', 'B', 'C'), code(0, 'x')]],
  ['a button that does not exist', 131009, 'order_update', [header(image), body('A', 'B', 'C'), url(5, 'x')]],
  [
    'a value without a name',
    132012,
    'reservation_confirmation',
    [header(text('Ada')), body('4', 'May', 'Ada')],
  ],
  [
    'a location without an address',
    131008,
    'store_location',
    [header(location({ ...place, address: '' })), body('Ada')],
  ],
  [
    'a code that is too long',
    131009,
    'season_sale',
    [header(text('S')), body('a', 'b', 'c'), code(1, 'X'.repeat(21))],
  ],
  ['a login code without its button', 131008, 'login_code_one_tap', [body('123456')]],
  [
    'products without a section',
    131009,
    'abandoned_cart',
    [header(text('A')), body('1'), button('mpm', 0, action({ sections: [] }))],
  ],
  [
    'an offer without an end',
    131008,
    'limited_time_trip',
    [header(image), body('A', 'B'), code(0, 'X'), url(1, 'x')],
  ],
  [
    'an offer that ended',
    131009,
    'limited_time_trip',
    [header(image), offer(1_209_600_000), body('A', 'B'), code(0, 'X'), url(1, 'x')],
  ],
  ['an offer for another template', 132012, 'hello_campaign', [body('Ada'), offer(tomorrow)]],
  ['a card too few', 132012, 'media_carousel', [body('A', 'B'), carousel(mediaCard)]],
  [
    'a card without its picture',
    132012,
    'media_carousel',
    [body('A', 'B'), carousel(mediaCard, mediaCard.slice(1))],
  ],
  ['no carousel', 132012, 'media_carousel', [body('A', 'B')]],
  [
    'eleven products',
    132012,
    'product_carousel',
    [body('A'), carousel(...Array.from({ length: 11 }, () => [header(product)]))],
  ],
  ['a carousel for another template', 132012, 'hello_campaign', [body('Ada'), carousel(mediaCard)]],
  ['a paused template', 132015, 'paused_offer', [body('Ada')]],
  ['a pending template', 132001, 'pending_news', [body('Ada')]],
  ['a rejected template', 132001, 'rejected_prize', []],
  ['an unknown template', 132001, 'no_such_template', []],
];

describe('the simulator as the provider', () => {
  let simulator: SimulatorClient;
  beforeAll(async () => {
    simulator = await startTestSimulator();
  });
  afterAll(() => simulator.close());

  it.each(accepted)('takes %s when every slot is filled', async (template, components) => {
    const { status, body: answer } = await simulator.send({ template, components });

    expect(answer).toMatchObject({
      messaging_product: 'whatsapp',
      contacts: [{ wa_id: '4915112345678' }],
      messages: [{ id: expect.stringMatching(/^wamid\./) as string, message_status: 'accepted' }],
    });
    expect(status).toBe(200);
  });

  it.each(refused)('refuses %s with code %i', async (_name, expected, template, components) => {
    const { status, body: answer } = await simulator.send({ template, components });

    expect(answer).toMatchObject({
      error: {
        code: expected,
        type: 'OAuthException',
        message: expect.stringContaining(`(#${expected})`) as string,
        error_data: { messaging_product: 'whatsapp', details: expect.any(String) as string },
      },
    });
    expect(status).toBeGreaterThanOrEqual(400);
  });

  it('knows a template by name and language', async () => {
    const components = [body('Ada')];

    const german = await simulator.send({ template: 'hello_campaign', language: 'de', components });
    const french = await simulator.send({ template: 'hello_campaign', language: 'fr', components });

    expect(german.status).toBe(200);
    expect(french).toMatchObject({ status: 404, body: { error: { code: 132001 } } });
  });

  it.each([
    ['not JSON', '{"messaging_product"', 100],
    ['a list', [], 100],
    ['nothing of the protocol', {}, 100],
    ['no recipient', { messaging_product: 'whatsapp', type: 'template' }, 100],
    ['a recipient that is no number', { messaging_product: 'whatsapp', to: 'Ada', type: 'template' }, 131009],
    ['no template', { messaging_product: 'whatsapp', to: '+4915112345678', type: 'template' }, 131008],
    ['a free text', { messaging_product: 'whatsapp', to: '+4915112345678', type: 'text' }, 131047],
    [
      'callback data that is too long',
      {
        messaging_product: 'whatsapp',
        to: '+4915112345678',
        type: 'template',
        biz_opaque_callback_data: 'x'.repeat(513),
      },
      100,
    ],
  ])('refuses a body that holds %s', async (_name, given, expected) => {
    const answer = await simulator.post('/106540352242922/messages', given);

    expect(answer.body).toMatchObject({ error: { code: expected } });
  });

  it('refuses a wrong token and an unknown number', async () => {
    const wrongToken = await simulator.get('/106540352242922', 'EAAwrong');
    const unknownNumber = await simulator.post('/999/messages', {});

    expect(wrongToken).toMatchObject({ status: 401, body: { error: { code: 190 } } });
    expect(unknownNumber).toMatchObject({ status: 400, body: { error: { code: 100, error_subcode: 33 } } });
  });

  it('takes media, and messages with the id of an uploaded file only', async () => {
    const formOf = (type: string) =>
      '--x\r\nContent-Disposition: form-data; name="messaging_product"\r\n\r\nwhatsapp\r\n' +
      `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: ${type}\r\n\r\nb`;
    const form = formOf('image/jpeg');
    const uploaded = await simulator.post('/106540352242922/media', form);
    const id = String(uploaded.body['id']);
    expect(await simulator.get(`/${id}`)).toMatchObject({
      status: 200,
      body: { id, mime_type: 'image/jpeg', url: expect.stringContaining(id) as string },
    });
    const withImage = (value: object) =>
      simulator.send({
        template: 'order_update',
        components: [header({ type: 'image', image: value }), body('Ada', 'A-1', 'Friday'), url(0, 'A-1')],
      });
    expect(await withImage({ id })).toMatchObject({ status: 200 });
    expect(await withImage({ id: '77' })).toMatchObject({ status: 400, body: { error: { code: 131009 } } });
    for (const [upload, expected] of [
      ['bytes', 131008],
      [form.replace('whatsapp', 'telegram'), 100],
      [form.replace('\r\nContent-Type: image/jpeg', ''), 100],
      [formOf('image/bmp'), 131053],
    ] as const) {
      const answer = await simulator.post('/106540352242922/media', upload);
      expect(answer).toMatchObject({ status: 400, body: { error: { code: expected } } });
    }
  });

  it('accepts a message to a person who is known by a user id alone', async () => {
    const to = (rest: object) =>
      simulator.post('/106540352242922/messages', {
        messaging_product: 'whatsapp',
        type: 'template',
        template: { name: 'plain_notice', language: { code: 'en_US' } },
        ...rest,
      });
    expect(await to({ recipient: 'US.13491208655302741918' })).toMatchObject({
      status: 200,
      body: { contacts: [{ input: 'US.13491208655302741918', user_id: 'US.13491208655302741918' }] },
    });
    for (const rest of [
      { recipient: 'somebody' },
      {},
      { to: '+12345678901234567890' },
      { to: '+4915112345678', recipient_type: 'crowd' },
    ]) {
      expect(await to(rest)).toMatchObject({ status: 400 });
    }
  });

  it.each([
    ['+525512345678', '5215512345678'],
    ['+5511987654321', '551187654321'],
    ['+4915112345678', '4915112345678'],
  ])('answers with its own form of the number %s', async (to, waId) => {
    expect(await simulator.send({ to: to.slice(1), template: 'plain_notice' })).toMatchObject({
      body: { contacts: [{ input: to, wa_id: waId }] },
    });
  });

  it('takes only marketing templates at the marketing endpoint, and answers the other requests of an app', async () => {
    const send = (edge: string, name: string, components: unknown) =>
      simulator.post(`/106540352242922/${edge}`, {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: '+4915112345678',
        type: 'template',
        template: { name, language: { code: 'en_US' }, components },
      });
    expect(await send('marketing_messages', 'hello_campaign', [body('Ada')])).toMatchObject({ status: 200 });
    expect(await send('marketing_messages', 'plain_notice', [])).toMatchObject({
      status: 400,
      body: { error: { code: 131055 } },
    });
    const read = { messaging_product: 'whatsapp', status: 'read', message_id: 'wamid.x' };
    expect(await simulator.post('/106540352242922/messages', read)).toMatchObject({
      body: { success: true },
    });
    expect(await simulator.get('/102290129340398/phone_numbers')).toMatchObject({
      body: { data: [{ id: '106540352242922' }] },
    });
    const list = await simulator.get(
      '/102290129340398/message_templates?summary=total_count,message_template_count&status=PAUSED,PENDING&fields=status',
    );
    expect(list.body).toMatchObject({ summary: { total_count: 2 } });
  });

  it('refuses names for positional parameters', async () => {
    const component = { type: 'body', parameters: [{ type: 'text', text: 'Ada', parameter_name: 'name' }] };
    expect(await simulator.send({ template: 'hello_campaign', components: [component] })).toMatchObject({
      status: 400,
      body: { error: { code: 132012 } },
    });
  });
});
