/** A message as its reader will see it. */
import * as t from 'io-ts';
import { describe, named } from './json-schema.ts';
import { nullish, struct } from './struct.ts';

const Card = {
  headerFormat: describe(nullish(t.string), {
    description:
      '`TEXT`, `IMAGE`, `VIDEO`, `DOCUMENT` or another format of the provider; null without a header.',
  }),
  header: describe(nullish(t.string), {
    description: 'Header text, media address, or product id; null without a header.',
  }),
  body: nullish(t.string),
  buttons: t.readonlyArray(
    named('PreviewButton', struct({ type: t.string, text: t.string, target: nullish(t.string) })),
  ),
};

export const MessagePreview = named(
  'MessagePreview',
  struct({
    ...Card,
    footer: nullish(t.string),
    cards: t.readonlyArray(named('PreviewCard', struct(Card))),
  }),
);

export const messagePreviewExample = {
  headerFormat: 'TEXT',
  header: 'Your order',
  body: 'Hi Ada, your order A-17 has left us.',
  buttons: [{ type: 'URL', text: 'Follow it', target: 'https://example.com/orders/A-17' }],
  footer: 'Reply STOP to hear no more',
  cards: [],
};
