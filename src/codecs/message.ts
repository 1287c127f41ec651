/** Messages on the wire: single sends, test messages of campaigns, and replies. */
import * as t from 'io-ts';
import { messageSources } from './event.ts';
import { describe, named } from './json-schema.ts';
import { cursorOf, IsoDateTime, Uuid } from './scalars.ts';
import { nullish, oneOf, struct } from './struct.ts';
import { recipientReasonPattern } from '../domain/campaigns/reasons.ts';
import { recipientStates } from '../domain/campaigns/recipient.ts';

export const MessageState = oneOf([...recipientStates, 'RECEIVED'], 'MessageState');

const about = <C extends t.Mixed>(codec: C, description: string): C => describe(codec, { description });

/** Why a recipient was skipped, or why a message failed or is of unknown outcome. */
export const RecipientReason = named(
  'RecipientReason',
  describe(new t.StringType(), { pattern: recipientReasonPattern }),
);

export const Message = named(
  'Message',
  struct({
    id: about(Uuid, 'Our id of the message; `messageId` of its events.'),
    direction: about(oneOf(['outbound', 'inbound'], 'MessageDirection'), '`inbound`: written by the person.'),
    source: about(
      oneOf([...messageSources, 'contact'], 'MessageOrigin'),
      'Who sent it; `contact` is the person.',
    ),
    state: MessageState,
    reason: about(nullish(RecipientReason), 'Why it failed or its outcome is unknown; null otherwise.'),
    reasonDetail: about(nullish(t.string), 'The provider’s words beside the reason; null without.'),
    channelId: Uuid,
    phoneNumberId: t.string,
    phoneNumber: about(
      nullish(t.string),
      'Digits of the other side with calling code; null of a person without a number.',
    ),
    contactId: about(nullish(Uuid), 'The contact on the other side; null for a number that is no contact.'),
    conversationId: about(nullish(Uuid), 'The conversation it belongs to; null where there was none.'),
    campaignId: about(
      nullish(Uuid),
      'The campaign that it belongs to, that it tests, or whose message it answers; null without.',
    ),
    templateId: about(nullish(Uuid), 'The template that was sent; null for other messages.'),
    type: about(t.string, 'The provider’s kind of message, such as `template`, `text` or `image`.'),
    text: about(
      nullish(t.string),
      'The text of a message of people; null for templates and for media without a caption.',
    ),
    providerMessageId: about(nullish(t.string), 'The provider’s id of the message; null when it gave none.'),
    createdAt: IsoDateTime,
    updatedAt: IsoDateTime,
  }),
);

export const MessageCursor = cursorOf(struct({ id: Uuid }));
