import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { isSendable } from '../../../src/domain/templates/definition.ts';
import {
  valuesFromMapping,
  valuesFromVariables,
  type TemplateInput,
} from '../../../src/domain/templates/input.ts';
import { buildTemplateComponents } from '../../../src/domain/templates/message.ts';
import { templateFixture } from '../../support/template-fixtures.ts';

const now = new Date('2026-11-21T09:00:00Z');
const later = now.getTime() + 60_000;

const definitionOf = (kind: string) => {
  const fixture = templateFixture(kind);
  return parseTemplate(fixture.components, fixture);
};

const fieldsOf = (read: TemplateInput): readonly string[] =>
  read.ok ? [] : read.problems.map(({ field }) => field);

const problemsOf = (kind: string, mapping: unknown): readonly string[] =>
  fieldsOf(valuesFromMapping(definitionOf(kind), mapping, { now }));

const build = (kind: string, mapping: unknown): readonly unknown[] => {
  const definition = definitionOf(kind);
  const read = valuesFromMapping(definition, mapping, { now });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return buildTemplateComponents(definition, read.values);
};

const textBody = { type: 'body', parameters: [{ type: 'text', text: 'a' }] };
const button = (subType: string, index: string, ...parameters: readonly object[]) => ({
  type: 'button',
  sub_type: subType,
  index,
  ...(parameters.length > 0 && { parameters }),
});

describe('what a mapping builds', () => {
  test.each<[string, string, unknown, readonly unknown[]]>([
    ['nothing for a static template', 'static text', {}, []],
    [
      'nothing from keys the template does not have',
      'static text',
      { body: { 7: 'x' }, footer: { 1: 'f' } },
      [],
    ],
    [
      'the names of named variables',
      'named variables',
      { header: { first_name: 'Ada' }, body: { day: 'd', first_name: 'Ada', order_id: 'o' } },
      [
        { type: 'header', parameters: [{ type: 'text', parameter_name: 'first_name', text: 'Ada' }] },
        {
          type: 'body',
          parameters: [
            { type: 'text', parameter_name: 'order_id', text: 'o' },
            { type: 'text', parameter_name: 'first_name', text: 'Ada' },
            { type: 'text', parameter_name: 'day', text: 'd' },
          ],
        },
      ],
    ],
    [
      'a document with its name',
      'document header',
      { header: { link: 'https://a.example/i.pdf', filename: 'i.pdf' }, body: { 1: 'a' } },
      [
        {
          type: 'header',
          parameters: [
            { type: 'document', document: { link: 'https://a.example/i.pdf', filename: 'i.pdf' } },
          ],
        },
        textBody,
      ],
    ],
    [
      'a media file by its id',
      'image header',
      { header: { id: '2871' }, body: { 1: 'a' } },
      [{ type: 'header', parameters: [{ type: 'image', image: { id: '2871' } }] }, textBody],
    ],
    [
      'only the part of a URL that replaces its variable',
      'static buttons before dynamic ones',
      {
        body: { 1: 'a' },
        buttons: { 3: { type: 'url', url_suffix: 'https://shop.example.com/track/77?a=b' }, 4: 'SALE' },
      },
      [
        textBody,
        button('url', '3', { type: 'text', text: '77?a=b' }),
        button('copy_code', '4', { type: 'coupon_code', coupon_code: 'SALE' }),
      ],
    ],
    [
      'a short list of buttons by their types',
      'static buttons before dynamic ones',
      {
        body: { 1: 'a' },
        buttons: [
          { type: 'url', url_suffix: '77' },
          { type: 'COPY_CODE', coupon_code: 'SALE' },
          { type: 'quick_reply', payload: 'no' },
        ],
      },
      [
        textBody,
        button('quick_reply', '0', { type: 'payload', payload: 'no' }),
        button('url', '3', { type: 'text', text: '77' }),
        button('copy_code', '4', { type: 'coupon_code', coupon_code: 'SALE' }),
      ],
    ],
    [
      'a full list of buttons in its order, null for none',
      'static buttons before dynamic ones',
      { body: { 1: 'a' }, buttons: [null, null, null, '77', 'SALE'] },
      [
        textBody,
        button('url', '3', { type: 'text', text: '77' }),
        button('copy_code', '4', { type: 'coupon_code', coupon_code: 'SALE' }),
      ],
    ],
    ['a flow button even without a token', 'flow', {}, [button('flow', '0')]],
    [
      'a flow button with its data',
      'flow',
      { buttons: [{ type: 'flow', flow_token: 't', flow_action_data: { seat: 4 } }] },
      [button('flow', '0', { type: 'action', action: { flow_token: 't', flow_action_data: { seat: 4 } } })],
    ],
    [
      'a catalog button without a thumbnail',
      'catalog',
      { body: { 1: 'a' } },
      [textBody, button('catalog', '0')],
    ],
    ['no voice call button without a value', 'voice call', {}, []],
    [
      'a voice call with its limit',
      'voice call',
      { buttons: [{ type: 'voice_call', ttl_minutes: 30, payload: 'p' }] },
      [
        button(
          'voice_call',
          '0',
          { type: 'ttl_minutes', ttl_minutes: 30 },
          { type: 'payload', payload: 'p' },
        ),
      ],
    ],
    [
      'the first product as the thumbnail of a list',
      'multi-product',
      {
        header: { 1: 'you' },
        buttons: [{ sections: [{ title: 's', more: 1, product_items: [{ product_retailer_id: 'p1' }] }] }],
      },
      [
        { type: 'header', parameters: [{ type: 'text', text: 'you' }] },
        button('mpm', '0', {
          type: 'action',
          action: {
            thumbnail_product_retailer_id: 'p1',
            sections: [{ title: 's', product_items: [{ product_retailer_id: 'p1' }] }],
          },
        }),
      ],
    ],
  ])('is %s', (_, kind, mapping, components) => {
    expect(build(kind, mapping)).toEqual(components);
  });

  test('may have more cards than the template when they are products', () => {
    const product = { product_retailer_id: 'p', catalog_id: 'c' };
    const carousel = Array.from({ length: 10 }, () => ({ header: { product } }));
    expect(build('product carousel', { body: { 1: 'a' }, carousel }).at(-1)).toMatchObject({
      cards: carousel.map((_, at) => ({
        card_index: at,
        components: [{ type: 'header', parameters: [{ type: 'product', product }] }],
      })),
    });
  });

  test('keeps variables named like properties of `Object.prototype`', () => {
    const definition = parseTemplate([{ type: 'BODY', text: '{{constructor}} {{__proto__}}' }], {
      parameterFormat: 'NAMED',
    });
    const mapping: unknown = JSON.parse('{"body":{"__proto__":"b"}}');
    expect(fieldsOf(valuesFromMapping(definition, mapping, { now }))).toEqual([
      'variableMapping.body.constructor',
    ]);
  });
});

const offer = { header: { link: 'https://a.example/i.jpg' }, body: { 1: 'a' }, buttons: ['CODE', 'x'] };
const offerUntil = (time: unknown) => ({ ...offer, limited_time_offer: { expiration_time_ms: time } });
const card = { header: { link: 'https://a.example/i.jpg' }, body: { 1: 'a' }, buttons: [null, 'x'] };
const sections = (count: number, items: number) => ({
  header: { 1: 'x' },
  buttons: [
    {
      sections: Array.from({ length: count }, () => ({
        title: 't',
        product_items: Array.from({ length: items }, () => ({ product_retailer_id: 'p' })),
      })),
    },
  ],
});

describe('what a mapping is refused for', () => {
  test.each<[string, string, unknown, readonly string[]]>([
    ['missing values', 'text header and body', { body: { 1: 'a' } }, ['header.1', 'body.2']],
    ['no mapping at all', 'text header and body', undefined, ['header.1', 'body.1', 'body.2']],
    ['an empty text', 'image header', { header: { id: '1' }, body: { 1: ' ' } }, ['body.1']],
    ['a number for a text', 'image header', { header: { id: '1' }, body: { 1: 5 } }, ['body.1']],
    ['a null', 'image header', { header: { id: '1' }, body: { 1: null } }, ['body.1']],
    ['a line break', 'image header', { header: { id: '1' }, body: { 1: 'a\nb' } }, ['body.1']],
    ['a tab', 'image header', { header: { id: '1' }, body: { 1: 'a\tb' } }, ['body.1']],
    ['four spaces', 'image header', { header: { id: '1' }, body: { 1: 'a    b' } }, ['body.1']],
    [
      'a filled body that is too long',
      'image header',
      { header: { id: '1' }, body: { 1: 'é'.repeat(1022) } },
      ['body'],
    ],
    [
      'a link that is none',
      'image header',
      { header: { link: 'file:///x' }, body: { 1: 'a' } },
      ['header.link'],
    ],
    ['a header that is a text', 'image header', { header: 'x', body: { 1: 'a' } }, ['header', 'header.link']],
    [
      'a place on no map',
      'location header',
      { header: { latitude: '91', longitude: 'east', name: 'n' } },
      ['header.latitude', 'header.longitude', 'header.address'],
    ],
    [
      'a product without its catalog',
      'single product',
      { header: { product: { product_retailer_id: 'p' } }, body: { 1: 'a' } },
      ['header.product.catalog_id'],
    ],
    [
      'the full URL and nothing more',
      'offer without a code or an expiry',
      { body: { 1: 'a' }, buttons: [{ type: 'url', url_suffix: 'https://shop.example.com/track/' }] },
      ['buttons.0.url_suffix'],
    ],
    [
      'a button of another type',
      'offer without a code or an expiry',
      { body: { 1: 'a' }, buttons: { 0: { type: 'copy_code', coupon_code: 'x' } } },
      ['buttons.0.type', 'buttons.0.url_suffix'],
    ],
    ['buttons that are a text', 'flow', { buttons: 'x' }, ['buttons']],
    ['a button that is a number', 'flow', { buttons: [5] }, ['buttons.0']],
    [
      'a coupon code above 20 characters',
      'static buttons before dynamic ones',
      { body: { 1: 'a' }, buttons: { 3: 'x', 4: 'x'.repeat(21) } },
      ['buttons.4.coupon_code'],
    ],
    [
      'a coupon code above 15 in an offer',
      'offer with a code',
      { ...offerUntil(later), buttons: ['x'.repeat(16), 'y'] },
      ['buttons.0.coupon_code'],
    ],
    ['an offer without expiry', 'offer with a code', offer, ['limited_time_offer.expiration_time_ms']],
    [
      'an expiry in seconds',
      'offer with a code',
      offerUntil(later / 1000),
      ['limited_time_offer.expiration_time_ms'],
    ],
    [
      'an expiry in the past',
      'offer with a code',
      offerUntil(now.getTime()),
      ['limited_time_offer.expiration_time_ms'],
    ],
    [
      'an expiry that is a text',
      'offer with a code',
      offerUntil(String(later)),
      ['limited_time_offer.expiration_time_ms'],
    ],
    ['no cards', 'media carousel', { body: { 1: 'a' } }, ['carousel']],
    ['one card of two', 'media carousel', { body: { 1: 'a' }, carousel: [card] }, ['carousel']],
    [
      'three cards of two',
      'media carousel',
      { body: { 1: 'a' }, carousel: [card, card, card] },
      ['carousel'],
    ],
    [
      'a missing value in a card',
      'media carousel',
      { body: { 1: 'a' }, carousel: [card, { ...card, body: {}, buttons: [] }] },
      ['carousel.1.body.1', 'carousel.1.buttons.1.url_suffix'],
    ],
    [
      'a card text above 160 characters',
      'media carousel',
      { body: { 1: 'a' }, carousel: [card, { ...card, body: { 1: 'x'.repeat(160) } }] },
      ['carousel.1.body'],
    ],
    [
      'eleven products',
      'product carousel',
      { body: { 1: 'a' }, carousel: Array.from({ length: 11 }, () => ({})) },
      ['carousel'],
    ],
    ['a list without sections', 'multi-product', { header: { 1: 'x' } }, ['buttons.0.sections']],
    ['eleven sections', 'multi-product', sections(11, 1), ['buttons.0.sections']],
    ['more than thirty products', 'multi-product', sections(4, 8), ['buttons.0.sections']],
    ['an empty section', 'multi-product', sections(1, 0), ['buttons.0.sections.0.product_items']],
    [
      'two different codes',
      'authentication COPY_CODE',
      { body: { 1: '123' }, buttons: [{ type: 'otp', otp: '124' }] },
      ['buttons.0.otp'],
    ],
    ['no code', 'authentication COPY_CODE', {}, ['body.1']],
  ])('is %s', (_, kind, mapping, fields) => {
    expect(problemsOf(kind, mapping)).toEqual(fields.map((field) => `variableMapping.${field}`));
  });
});

describe('a list of variables', () => {
  const read = (kind: string, variables: readonly string[]) =>
    valuesFromVariables(definitionOf(kind), variables, { now });

  test.each([
    ['too few', 'text header and body', ['a', 'b']],
    ['too many', 'text header and body', ['a', 'b', 'c', 'd']],
    ['any for a static template', 'static text', ['a']],
  ])('is refused when it has %s', (_, kind, variables) => {
    expect(fieldsOf(read(kind, variables))).toEqual(['variables']);
  });

  test.each([
    ['the second when it is empty', 'text header and body', ['a', '', 'c'], 'variables.1'],
    ['the link when it is none', 'image header', ['picture', 'b'], 'variables.0'],
    ['the code that differs', 'authentication ZERO_TAP', ['1', '2'], 'variables.1'],
    ['the latitude', 'location header', ['north', '1', 'n', 'a'], 'variables.0'],
    ['the catalog', 'single product', ['p', ' ', 'b'], 'variables.1'],
  ])('names %s', (_, kind, variables, field) => {
    expect(fieldsOf(read(kind, variables))).toEqual([field]);
  });

  test('may be empty for a template without variables', () => {
    expect(read('static text', [])).toMatchObject({ ok: true });
  });

  test('fills header, body and buttons in this order', () => {
    const definition = definitionOf('static buttons before dynamic ones');
    const filled = valuesFromVariables(definition, ['Ada', '77', 'SALE'], { now });
    expect(filled.ok && filled.values).toMatchObject({
      body: ['Ada'],
      buttons: [
        { index: 3, text: '77' },
        { index: 4, code: 'SALE' },
      ],
    });
  });
});

test.each([
  ['APPROVED', true],
  ['approved', true],
  ['Reinstated', true],
  ['LOCKED', true],
  ['FLAGGED', true],
  ['UNARCHIVED', true],
  ['ARCHIVED', false],
  ['PENDING_DELETION', false],
  ['LIMIT_EXCEEDED', false],
  ['PENDING', false],
  ['PAUSED', false],
  ['something new', false],
])('a template that is %s is sendable: %s', (status, sendable) => {
  expect(isSendable(status)).toBe(sendable);
});

test.each([undefined, null, 'x', {}, [null, 5, { type: 7 }, { type: 'BUTTONS', buttons: [null, 'x'] }]])(
  'keeps a template it cannot read: %j',
  (components) => {
    expect(() => parseTemplate(components, {})).not.toThrow();
  },
);
