import type { IncomingData } from '../../codecs/event.ts';
import type { Dependencies } from '../../dependencies.ts';
import { storedJson } from '../../domain/callbacks/stored-json.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { createConsentReader, offersWord } from '../../domain/callbacks/consent-words.ts';
import { numberOfWaId } from '../../domain/callbacks/provider-number.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
import { asksToStop } from '../../domain/operations/notice.ts';
import type { NewEvent } from '../../domain/webhooks/new-event.ts';
import type { EchoItem, MessageItem } from '../../provider/notification-item.ts';
import type { CampaignAnswer } from '../../records/campaigns/answers.ts';
import { findAnsweredMessage } from '../../records/callbacks/identities.ts';
import {
  continueConversation,
  type CurrentConversation,
  insertAppMessage,
  insertInboundMessage,
  labelConversation,
  listKnownInboundIds,
  listRecentTexts,
  lockConversation,
  lockOrBeginConversation,
  lockProviderMessage,
  startResponderSession,
} from '../../records/callbacks/inbound-messages.ts';
import type { Connection } from '../../records/database/database.ts';
import { maxEvidenceText } from '../../domain/contacts/consent.ts';
import { noEvidence } from '../../records/contacts/consents.ts';
import { insertNotices } from '../../records/operations/notices.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import { changeIdentity } from './change-identity.ts';
import { changeConsents } from './change-subscription.ts';
import { recogniseSender, type Sender } from './recognise-sender.ts';
import type { InboundNotice, Routed } from './routed.ts';

type Receiver = Pick<Dependencies, 'config' | 'now' | 'secrets'>;

/**
 * Saves inbound messages of every type, each once, with contact, conversation, responder session, opt-out, and the events of
 * Spec 6.2. One person's messages keep their order; all workers lock people in the same order, so that they do not deadlock.
 * Returns what the people did, for the campaigns that reached them.
 */
export async function applyInboundMessages(
  dependencies: Receiver,
  connection: Connection,
  notices: readonly InboundNotice[],
): Promise<readonly CampaignAnswer[]> {
  if (notices.length === 0) return [];
  const known = await listKnownInboundIds(connection, notices.map(messageKey));
  const fresh = notices.filter((notice) => !known.has(keyText(messageKey(notice))));
  const consentOf = createConsentReader(dependencies.config);
  const answers: CampaignAnswer[] = [];
  for (const notice of fresh.toSorted(bySender)) {
    answers.push(...(await applyInboundMessage({ ...dependencies, consentOf }, connection, notice)));
  }
  return answers;
}

const messageKey = ({ item, channel }: InboundNotice) => ({
  channelId: channel.id,
  providerMessageId: item.providerMessageId,
});

const keyText = ({ channelId, providerMessageId }: ReturnType<typeof messageKey>): string =>
  `${channelId} ${providerMessageId}`;

function bySender(one: InboundNotice, other: InboundNotice): number {
  const keys = [one, other].map(
    ({ item, channel }) => `${channel.workspaceId} ${item.from ?? item.fromUserId ?? ''}`,
  );
  const [first = '', second = ''] = keys;
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

interface InboundContext {
  readonly consentOf: ReturnType<typeof createConsentReader>;
}

async function applyInboundMessage(
  dependencies: Receiver & InboundContext,
  connection: Connection,
  notice: InboundNotice,
): Promise<readonly CampaignAnswer[]> {
  const { item, channel } = notice;
  if (item.change !== null && !(await isFirstAnnouncement(connection, notice))) return [];
  const answered =
    item.repliesTo === null
      ? undefined
      : await findAnsweredMessage(connection, {
          channelId: channel.id,
          providerMessageId: item.repliesTo,
        });
  const campaignId = answered?.campaignId ?? null;
  const { workspaceId } = channel;
  const sender =
    item.change === null
      ? await recogniseSender(dependencies, connection, { notice, answered })
      : await changeIdentity(dependencies, connection, { workspaceId, change: item.change });
  const conversation =
    sender === undefined
      ? undefined
      : await findConversation(connection, { notice, sender, now: dependencies.now() });
  const messageId = await insertInboundMessage(connection, {
    workspaceId: channel.workspaceId,
    channelId: channel.id,
    contactId: sender?.contactId ?? null,
    conversationId: conversation?.id ?? null,
    campaignId,
    phoneNumber: sender?.phoneNumber ?? null,
    country: sender?.country ?? '',
    type: item.type.slice(0, 64),
    content: storedJson(item.raw, { id: item.providerMessageId }),
    providerMessageId: item.providerMessageId,
    sentAt: epochSeconds(item.timestamp),
  });
  // Another callback saved the message while this one waited for the contact.
  if (messageId === undefined) return [];

  const occurredAt = dependencies.now();
  const events: NewEvent[] = [
    {
      eventKey: 'incoming',
      occurredAt,
      data: incomingData(notice, { messageId, campaignId, sender, conversation }),
    },
  ];
  if (sender !== undefined && conversation?.status === 'resolved') {
    events.push({
      eventKey: 'conversation.status_changed',
      occurredAt,
      data: reopened(notice, conversation, sender),
    });
  }
  await emitEvents(connection, channel.workspaceId, events);
  if (sender === undefined) return [];
  const stops = await applyWish(dependencies, connection, { notice, sender, conversation });
  return item.change === null ? answersOf(notice, sender, { campaignId, stops }) : [];
}

function answersOf(
  { item, channel }: InboundNotice,
  { contactIds }: Sender,
  { campaignId, stops }: { readonly campaignId: string | null; readonly stops: boolean },
): readonly CampaignAnswer[] {
  // The texts of the system, notes on earlier messages and what is said in a group answer no campaign.
  if (remarks.has(item.type) || item.groupId !== null) return [];
  const button =
    item.type === 'button' ? readButtonText(item.raw as Readonly<Record<string, unknown>>) : null;
  return contactIds.flatMap((contactId) => {
    const answer = { contactId, channelId: channel.id, campaignId: null, text: null };
    return [
      { ...answer, kind: 'replied' as const },
      ...(stops ? [{ ...answer, kind: 'opted_out' as const }] : []),
      ...(button === null || campaignId === null
        ? []
        : [{ ...answer, kind: 'button' as const, campaignId, text: button }]),
    ];
  });
}

/** The text of a tapped button of a template. */
function readButtonText(raw: Readonly<Record<string, unknown>>): string | null {
  const button = raw['button'];
  if (typeof button !== 'object' || button === null || !('text' in button)) return null;
  return typeof button.text === 'string' ? cleanText(button.text, maxButtonText) : null;
}

const maxButtonText = 255;

/** How the reader of consent words sees a message. A caption or the text of a reply is not typed alone. */
export const consentTextOf = ({ texts, type }: MessageItem) => ({ texts, isTyped: type === 'text' });

/**
 * Stops or allows messages if that is what the message asks for; a sentence that may ask for it is left to people. Returns whether
 * it stops them.
 */
async function applyWish(
  dependencies: Receiver & InboundContext,
  connection: Connection,
  {
    notice: { item, channel },
    sender,
    conversation,
  }: {
    readonly notice: InboundNotice;
    readonly sender: Sender;
    readonly conversation: CurrentConversation | undefined;
  },
): Promise<boolean> {
  const { workspaceId } = channel;
  // A word in a group is not addressed to us, and the system's texts are not the person's.
  const isTheirs = item.groupId === null && item.type !== 'system';
  const wish = isTheirs ? dependencies.consentOf(consentTextOf(item)) : undefined;
  if (wish === undefined) return false;
  if (wish.kind === 'asks_to_stop') {
    if (conversation === undefined) return false;
    if (await labelConversation(connection, conversation.id, 'asks_to_stop'))
      await insertNotices(connection, [asksToStop(workspaceId, conversation.id)]);
    return false;
  }
  const { category, allows, doubleWord } = wish;
  if (doubleWord !== undefined) {
    const { contactId } = sender;
    const offers = await listRecentTexts(connection, { workspaceId, contactId, channelId: channel.id });
    if (offers.some((text) => offersWord(text, doubleWord))) return false;
  }
  const text = cleanText(item.texts.join(' '), maxEvidenceText);
  await changeConsents(
    dependencies,
    connection,
    sender.contactIds.map((contactId) => ({
      workspaceId,
      contactId,
      decision: { category, allows },
      at: epochSeconds(item.timestamp),
      evidence: { ...noEvidence, text },
    })),
  );
  return !allows;
}

/**
 * True for the first item that announces this number change. These items are applied one at a time, before contacts are looked
 * up: after the change the old number identifies no contact, and a concurrent transaction would create a second one.
 */
async function isFirstAnnouncement(connection: Connection, notice: InboundNotice): Promise<boolean> {
  const key = messageKey(notice);
  await lockProviderMessage(connection, key);
  return (await listKnownInboundIds(connection, [key])).size === 0;
}

/** Reactions, edits and similar notices refer to an earlier message: they belong to its conversation and do not start one. */
const remarks: ReadonlySet<string> = new Set(['reaction', 'revoke', 'edit', 'system']);

async function findConversation(
  connection: Connection,
  {
    notice: { item, channel },
    sender,
    now,
  }: { readonly notice: InboundNotice; readonly sender: Sender; readonly now: Date },
): Promise<CurrentConversation | undefined> {
  const { id: channelId, workspaceId, responder } = channel;
  const place = { workspaceId, channelId, contactId: sender.contactId };
  const conversation = await (remarks.has(item.type)
    ? lockConversation(connection, place)
    : lockOrBeginConversation(connection, place));
  if (conversation === undefined) return undefined;
  await continueConversation(connection, conversation, {
    writtenAt: remarks.has(item.type) ? null : (epochSeconds(item.timestamp) ?? now),
  });
  // A conversation assigned to a person or a team gets no automatic reply.
  const attended = conversation.assignment_type === 'user' || conversation.assignment_type === 'team';
  // In standby another app answers.
  if (responder !== 'none' && !attended && !item.standby) {
    await startResponderSession(connection, { workspaceId, conversationId: conversation.id, responder });
  }
  return conversation;
}

/** Spec 6.3. `data.message` is the provider's object, plus any field that the contract promises and the object lacks. */
function incomingData(
  { item, channel }: InboundNotice,
  saved: {
    readonly messageId: string;
    readonly campaignId: string | null;
    readonly sender: Sender | undefined;
    readonly conversation: CurrentConversation | undefined;
  },
): IncomingData {
  const raw = item.raw as Readonly<Record<string, unknown>>;
  const message = {
    ...raw,
    id: item.providerMessageId,
    from: typeof raw['from'] === 'string' ? raw['from'] : (item.from ?? item.fromUserId ?? ''),
    timestamp: item.timestamp ?? '',
    type: item.type,
  };
  return {
    message,
    phoneNumberId: channel.phoneNumberId,
    messageId: saved.messageId,
    campaignId: saved.campaignId,
    contactId: saved.sender?.contactId ?? null,
    conversationId: saved.conversation?.id ?? null,
    ...(item.standby && { standby: true as const }),
    providerEvent: item.notification,
  };
}

function reopened({ channel }: InboundNotice, { id, status }: CurrentConversation, { contactId }: Sender) {
  return {
    conversationId: id,
    channelId: channel.id,
    phoneNumberId: channel.phoneNumberId,
    contactId,
    previousStatus: status,
    newStatus: 'open',
    closedAt: null,
    changedBy: null,
  } as const;
}

/** Saves messages that the business sent from the provider's app, so that their statuses have messageSource `app`. */
export async function applyAppMessages(
  connection: Connection,
  notices: readonly Routed<EchoItem>[],
): Promise<void> {
  const inOneOrder = notices.toSorted((one, other) =>
    one.item.providerMessageId < other.item.providerMessageId ? -1 : 1,
  );
  for (const { item, channel } of inOneOrder) {
    const { providerMessageId } = item;
    await lockProviderMessage(connection, { channelId: channel.id, providerMessageId });
    const { phoneNumber, country } = numberOfWaId(item.to);
    await insertAppMessage(connection, {
      workspaceId: channel.workspaceId,
      channelId: channel.id,
      phoneNumber,
      country,
      waId: item.to,
      providerUserId: item.toUserId,
      type: item.type.slice(0, 64),
      content: storedJson(item.raw, { id: providerMessageId }),
      providerMessageId,
      sentAt: epochSeconds(item.timestamp),
    });
  }
}
