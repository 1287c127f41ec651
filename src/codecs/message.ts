/** Messages on the wire: single sends, test messages of campaigns, and replies. */
import * as t from 'io-ts';
import { recipientReasonPattern, serviceReasons } from '../domain/campaigns/reasons.ts';
import { recipientStates } from '../domain/campaigns/recipient.ts';
import { messageSources } from './event.ts';
import { describe, named } from './json-schema.ts';
import { cursorOf, Integer, IsoDateTime, Uuid } from './scalars.ts';
import { nullish, oneOf, struct } from './struct.ts';

export const MessageState = oneOf([...recipientStates, 'RECEIVED'], 'MessageState');

const about = <C extends t.Mixed>(codec: C, description: string): C => describe(codec, { description });

/** Why a recipient was skipped, why a message failed, or why its outcome is unknown. */
export const RecipientReason = named(
  'RecipientReason',
  // Not `anyOf` of an enum and a pattern: the Java client of openapi-generator then fails on null.
  describe(new t.StringType(), {
    pattern: recipientReasonPattern,
    'x-extensible-enum': serviceReasons,
  }),
);

/** A reason in a request, where any text is accepted. */
export const AskedReason = describe(t.string, {}, RecipientReason);

/** Numbers of recipients by reason. */
export const countsBy = (reason: 'SkipReason' | 'RecipientReason') =>
  describe(t.record(t.string, Integer), {
    propertyNames: { $ref: `#/components/schemas/${reason}` },
  });

export const Message = named(
  'Message',
  struct({
    id: about(Uuid, 'Id of the message in this service; its events call it `messageId`.'),
    direction: about(
      oneOf(['outbound', 'inbound'], 'MessageDirection'),
      '`inbound`: from the contact; `outbound`: to it.',
    ),
    source: about(
      oneOf([...messageSources, 'contact'], 'MessageOrigin'),
      'Sender of the message; `contact` for inbound messages.',
    ),
    state: MessageState,
    reason: about(nullish(RecipientReason), 'Reason of a failure or an unknown outcome; null otherwise.'),
    reasonDetail: about(nullish(t.string), 'Provider’s explanation of the reason; null without one.'),
    channelId: Uuid,
    phoneNumberId: t.string,
    phoneNumber: about(
      nullish(t.string),
      'Number of the contact: digits with country calling code; null if the provider hides it.',
    ),
    contactId: about(nullish(Uuid), 'Id of the contact; null if the number belongs to none.'),
    conversationId: about(nullish(Uuid), 'Id of the message’s conversation; null without one.'),
    campaignId: about(
      nullish(Uuid),
      'Id of the campaign that sent the message, that it tests, or that it answers; null without one.',
    ),
    templateId: about(nullish(Uuid), 'Id of the template that was sent; null for other messages.'),
    type: about(t.string, 'Provider’s kind of message, such as `template`, `text` or `image`.'),
    text: about(nullish(t.string), 'Text or caption; null for templates and for media without a caption.'),
    providerMessageId: about(
      nullish(t.string),
      'Provider’s id of the message; null until the provider accepts it.',
    ),
    createdAt: IsoDateTime,
    updatedAt: IsoDateTime,
  }),
);

export const MessageCursor = cursorOf(struct({ id: Uuid }));

// A message as its reader will see it.

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
