import { isObject, type JsonObject } from './provider.ts';
import {
  type ChangeContext,
  ignored,
  MessageElement,
  read,
  readDigits,
  readErrors,
  readId,
  readList,
  readPricing,
  readText,
  StatusElement,
} from './notification-codec.ts';
import type { IgnoredItem, MessageItem, NotificationItem, StatusItem } from './notification-item.ts';

const messageStatuses: ReadonlySet<string> = new Set(['sent', 'delivered', 'read', 'failed']);

/** Field `messages`: inbound messages, statuses of outbound messages, and errors that belong to neither. */
export function* readMessagesChange(context: ChangeContext): Generator<NotificationItem> {
  const { value, businessAccountId, phoneNumberId, entryTime: timestamp } = context;
  const messages = readList(value['messages']);
  const statuses = readList(value['statuses']);
  const contactOf = createContactFinder(value['contacts']);
  for (const element of messages) yield readMessage(context, element, contactOf);
  for (const element of statuses) yield readStatus(context, element);
  const errors = readErrors(value['errors']);
  if (errors.length > 0) {
    const account = { kind: 'account', field: 'messages', event: 'ERRORS', facts: {} } as const;
    const silent = { maySend: null, blockedUntil: null, messagingLimit: undefined, quality: null };
    const raw = value['errors'];
    yield { ...account, ...silent, businessAccountId, phoneNumberId, timestamp, errors, raw };
  } else if (messages.length + statuses.length === 0) {
    yield ignored(context, 'no messages, statuses or errors', value);
  }
}

/** Field `user_preferences`: opt-outs from marketing messages and opt-ins. */
export function readPreferencesChange(context: ChangeContext): readonly NotificationItem[] {
  return readList(context.value['user_preferences']).map((raw) => {
    const preference = isObject(raw) ? raw : {};
    const decision = readText(preference['value'])?.toLowerCase();
    const waId = readDigits(preference['wa_id']);
    const userId = readId(preference['user_id']);
    const category = readText(preference['category'])?.toLowerCase() ?? 'marketing_messages';
    const known = decision === 'stop' || decision === 'resume' || decision === 'signup';
    if (!known || category !== 'marketing_messages' || (waId ?? userId) === null) {
      return ignored(context, 'preference without meaning for us', raw);
    }
    const { businessAccountId, phoneNumberId } = context;
    const subscribed = decision !== 'stop';
    const timestamp = readText(preference['timestamp']);
    return {
      kind: 'preferences',
      businessAccountId,
      phoneNumberId,
      waId,
      userId,
      subscribed,
      timestamp,
      raw,
    };
  });
}

/** Field `user_id_update`: a person's new user id; a list or a single change. */
export function readUserIdChange(context: ChangeContext): readonly NotificationItem[] {
  const { value, businessAccountId, phoneNumberId } = context;
  const list = readList(value['user_id_update']);
  return (list.length > 0 ? list : [value]).map((raw) => {
    const change = isObject(raw) ? raw : {};
    const ids = isObject(change['user_id']) ? change['user_id'] : {};
    const userId = readId(ids['current']);
    const previousUserId = readId(ids['previous']);
    const waId = readDigits(change['wa_id']);
    if (userId === null || (previousUserId ?? waId) === null) {
      return ignored(context, 'change of a user id that cannot be read', raw);
    }
    return { kind: 'identity', businessAccountId, phoneNumberId, waId, previousUserId, userId, raw };
  });
}

/** Field `smb_message_echoes`: messages sent from the provider's app on the same number. */
export function readEchoesChange(context: ChangeContext): readonly NotificationItem[] {
  return readList(context.value['message_echoes']).map((raw) => {
    const element = read(MessageElement, raw);
    if (!element) return ignored(context, 'message that cannot be read', raw);
    const fields = element as JsonObject;
    return {
      kind: 'echo',
      businessAccountId: context.businessAccountId,
      phoneNumberId: context.phoneNumberId,
      providerMessageId: element.id,
      to: readDigits(fields['to']),
      toUserId: readId(fields['to_user_id']),
      type: readText(fields['type'])?.toLowerCase() ?? 'unknown',
      timestamp: readText(fields['timestamp']),
      raw,
    };
  });
}

/** One element of `statuses`. */
export function readStatus(
  context: Pick<ChangeContext, 'businessAccountId' | 'phoneNumberId' | 'field'>,
  raw: unknown,
): StatusItem | IgnoredItem {
  const element = read(StatusElement, raw);
  if (!element) return ignored(context, 'status that cannot be read', raw);
  const status = element.status.toLowerCase();
  if (!isMessageStatus(status)) return ignored(context, `status ${status}`, raw);
  const fields = element as JsonObject;
  const [error] = readErrors(fields['errors']);
  // A failure without a reason gets no code: 0 is a code of the provider that has effects.
  const failure = error === undefined ? null : { code: error.code, details: error.details ?? error.title };
  return {
    kind: 'status',
    businessAccountId: context.businessAccountId,
    phoneNumberId: context.phoneNumberId,
    providerMessageId: element.id,
    status,
    timestamp: readText(fields['timestamp']),
    recipientId: readDigits(fields['recipient_id']),
    recipientUserId: readId(fields['recipient_user_id']),
    callbackData: readText(fields['biz_opaque_callback_data']),
    pricing: readPricing(fields['pricing']),
    failure: status === 'failed' ? failure : null,
    raw: raw as JsonObject,
  };
}

function isMessageStatus(status: string): status is StatusItem['status'] {
  return messageStatuses.has(status);
}

function readMessage(context: ChangeContext, raw: unknown, contactOf: ContactFinder): NotificationItem {
  const element = read(MessageElement, raw);
  if (!element) return ignored(context, 'message that cannot be read', raw);
  const fields = element as JsonObject;
  const contact = contactOf(fields);
  const profile = contact['profile'];
  const reply = fields['context'];
  return {
    kind: 'message',
    businessAccountId: context.businessAccountId,
    phoneNumberId: context.phoneNumberId,
    providerMessageId: element.id,
    from: readDigits(fields['from']) ?? readDigits(contact['wa_id']),
    fromUserId: readId(fields['from_user_id']) ?? readId(contact['user_id']),
    profileName: isObject(profile) ? readText(profile['name']) : null,
    type: readText(fields['type'])?.toLowerCase() ?? 'unknown',
    timestamp: readText(fields['timestamp']),
    texts: textsIn(fields),
    groupId: readText(fields['group_id']),
    repliesTo: isObject(reply) ? readId(reply['id']) : null,
    ...newIdsOf(fields),
    notification: notificationOf(context, { message: raw, contact }),
    raw,
  };
}

type ContactFinder = (message: JsonObject) => JsonObject;

/** Finds the sender's contact entry by number or user id; if there is only one entry, it is the sender's. */
function createContactFinder(given: unknown): ContactFinder {
  const contacts = readList(given).filter(isObject);
  const byId = (field: string) => {
    const found = new Map<string, JsonObject>();
    for (const contact of contacts) {
      const id = readText(contact[field]);
      if (id !== null && !found.has(id)) found.set(id, contact);
    }
    return found;
  };
  const byNumber = byId('wa_id');
  const byUserId = byId('user_id');
  const only = contacts.length === 1 ? contacts[0] : undefined;
  return (message) => {
    const from = readText(message['from']) ?? '';
    const userId = readText(message['from_user_id']) ?? '';
    return byNumber.get(from) ?? byUserId.get(userId) ?? only ?? {};
  };
}

const idChanges: ReadonlySet<string> = new Set([
  'user_changed_number',
  'customer_changed_number',
  'user_changed_user_id',
]);

function newIdsOf(message: JsonObject): Pick<MessageItem, 'newNumber' | 'newUserId'> {
  const system = message['system'];
  if (!isObject(system) || !idChanges.has(readText(system['type'])?.toLowerCase() ?? '')) {
    return { newNumber: null, newUserId: null };
  }
  return {
    newNumber: readDigits(system['wa_id']) ?? readDigits(system['new_wa_id']),
    newUserId: readId(system['user_id']),
  };
}

function textsIn(message: JsonObject): readonly string[] {
  const part = message[String(message['type'])];
  if (!isObject(part)) return [];
  const choice = part['button_reply'] ?? part['list_reply'];
  const { title, id } = isObject(choice) ? choice : {};
  return [part['body'], part['text'], part['payload'], part['caption'], title, id]
    .map((text) => (typeof text === 'string' ? readText(text) : null))
    .filter((text) => text !== null);
}

function notificationOf(
  context: ChangeContext,
  part: { readonly message: unknown; readonly contact: JsonObject },
): MessageItem['notification'] {
  const { object, businessAccountId, field, value } = context;
  const contacts = Object.keys(part.contact).length === 0 ? {} : { contacts: [part.contact] };
  const { statuses: _statuses, errors: _errors, contacts: _contacts, ...rest } = value;
  return {
    object,
    entry: [
      {
        id: businessAccountId ?? '',
        changes: [{ value: { ...rest, ...contacts, messages: [part.message] }, field: field ?? 'messages' }],
      },
    ],
  };
}
