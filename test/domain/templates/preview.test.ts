import { expect, it } from 'vitest';
import { previewMessage } from '../../../src/domain/templates/preview.ts';

const components = [
  { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
  { type: 'BODY', text: 'Hi {{2}}, {{1}} left.' },
  { type: 'FOOTER', text: 'Reply STOP' },
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'QUICK_REPLY', text: 'Thanks' },
      { type: 'URL', text: 'Follow', url: 'https://example.com/{{1}}' },
      { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+4930123' },
    ],
  },
];
const text = (...values: readonly string[]) => values.map((value) => ({ type: 'text', text: value }));

it('fills texts and buttons, and leaves a value that looks like a variable as it is', () => {
  const sent = [
    { type: 'header', parameters: text('A-17') },
    { type: 'body', parameters: text('the parcel', '{{1}} $& Ada') },
    { type: 'button', sub_type: 'url', index: '1', parameters: text('a$&b') },
  ];
  expect(previewMessage({ components }, sent)).toEqual({
    headerFormat: 'TEXT',
    header: 'Order A-17',
    body: 'Hi {{1}} $& Ada, the parcel left.',
    footer: 'Reply STOP',
    buttons: [
      { type: 'QUICK_REPLY', text: 'Thanks', target: null },
      { type: 'URL', text: 'Follow', target: 'https://example.com/a$&b' },
      { type: 'PHONE_NUMBER', text: 'Call', target: '+4930123' },
    ],
    cards: [],
  });
});

it('shows the products of a header and of as many cards as are sent', () => {
  const card = { components: [{ type: 'HEADER', format: 'PRODUCT' }] };
  const product = (id: string) => ({
    type: 'header',
    parameters: [{ type: 'product', product: { product_retailer_id: id, catalog_id: 'C' } }],
  });
  const template = [
    { type: 'HEADER', format: 'PRODUCT' },
    { type: 'CAROUSEL', cards: [card, card] },
  ];
  const cards = ['P1', 'P2', 'P3'].map((id) => ({ components: [product(id)] }));
  const sent = [product('P0'), { type: 'carousel', cards }];
  const shown = previewMessage({ components: template }, sent);
  expect([shown.header, ...shown.cards.map(({ header }) => header)]).toEqual(['P0', 'P1', 'P2', 'P3']);
  expect(previewMessage({ components: template }, []).cards).toHaveLength(2);
});

it('leaves variables without a value as they stand', () => {
  expect(previewMessage({ components }, [])).toMatchObject({
    header: 'Order {{1}}',
    body: 'Hi {{2}}, {{1}} left.',
  });
});

it('fills the cards of a carousel, and variables that have names instead of numbers', () => {
  const template = {
    parameterFormat: 'NAMED',
    components: [
      { type: 'BODY', text: 'Hi {{name}}' },
      {
        type: 'CAROUSEL',
        cards: [
          {
            components: [
              { type: 'HEADER', format: 'IMAGE' },
              { type: 'BODY', text: 'Shoes {{size}}' },
            ],
          },
        ],
      },
    ],
  };
  const sent = [
    { type: 'body', parameters: [{ type: 'text', parameter_name: 'name', text: 'Ada' }] },
    {
      type: 'carousel',
      cards: [
        {
          components: [
            { type: 'header', parameters: [{ type: 'image', image: { link: 'https://example.com/1.png' } }] },
            { type: 'body', parameters: [{ type: 'text', parameter_name: 'size', text: '42' }] },
          ],
        },
      ],
    },
  ];
  expect(previewMessage(template, sent)).toMatchObject({
    body: 'Hi Ada',
    cards: [{ headerFormat: 'IMAGE', header: 'https://example.com/1.png', body: 'Shoes 42' }],
  });
});
