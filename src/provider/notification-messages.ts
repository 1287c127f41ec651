import { either, isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { billableOf, type ReportedPricing } from '../domain/callbacks/message-status.ts';
import { cleanId } from '../domain/clean-text.ts';
import type {
  IdentityChange,
  IgnoredItem,
  MessageItem,
  NotificationError,
  NotificationItem,
  StatusItem,
} from './notification-item.ts';
import { isObject, type JsonObject } from './provider.ts';

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
    // In `standby` it is the request of the app that sent it.
    const sent = isObject(fields['message']) ? fields['message'] : {};
    return {
      kind: 'echo',
      businessAccountId: context.businessAccountId,
      phoneNumberId: context.phoneNumberId,
      providerMessageId: element.id,
      to: readDigits(fields['to']) ?? readDigits(sent['to']),
      toUserId: readId(fields['to_user_id']) ?? readId(sent['recipient']),
      type: readText(fields['type'] ?? sent['type'])?.toLowerCase() ?? 'unknown',
      timestamp: readText(fields['timestamp']),
      raw,
    };
  });
}

/**
 * Field `standby`: what happens in conversations that another app holds. One level deeper than in the fields of its own: messages,
 * messages of that app, or their statuses.
 */
export function* readStandbyChange(context: ChangeContext): Generator<NotificationItem> {
  const given = context.value['standby'];
  const parts = (Array.isArray(given) ? given : [given]).filter(isObject);
  for (const part of parts) {
    const { standby: _, ...envelope } = context.value;
    const inner = { ...context, value: { ...envelope, ...part } };
    const metadata = part['metadata'];
    const phoneNumberId = isObject(metadata) ? readText(metadata['phone_number_id']) : null;
    const from = { ...inner, phoneNumberId: phoneNumberId ?? context.phoneNumberId };
    yield* readEchoesChange(from);
    if (part['messages'] === undefined && part['statuses'] === undefined) continue;
    // The other app's `biz_opaque_callback_data` is not a message id of ours.
    for (const item of readMessagesChange(from))
      yield item.kind === 'status' ? { ...item, callbackData: null } : item;
  }
  if (parts.length === 0) yield ignored(context, 'standby that cannot be read', context.value);
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
    recipientParentUserId: readId(fields['recipient_parent_user_id']),
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
  const profile = isObject(contact['profile']) ? contact['profile'] : {};
  const reply = fields['context'];
  const from = readDigits(fields['from']) ?? readDigits(contact['wa_id']);
  const fromUserId = readId(fields['from_user_id']) ?? readId(contact['user_id']);
  return {
    kind: 'message',
    businessAccountId: context.businessAccountId,
    phoneNumberId: context.phoneNumberId,
    providerMessageId: element.id,
    from,
    fromUserId,
    fromParentUserId: readId(fields['from_parent_user_id']) ?? readId(contact['parent_user_id']),
    profileName: readText(profile['name']),
    username: readText(profile['username']) ?? readText(contact['username']),
    country: readCountry(contact['country_code'] ?? profile['country_code']),
    type: readText(fields['type'])?.toLowerCase() ?? 'unknown',
    timestamp: readText(fields['timestamp']),
    texts: textsIn(fields),
    groupId: readText(fields['group_id']),
    repliesTo: isObject(reply) ? readId(reply['id']) : null,
    change: changeIn(fields, { from, fromUserId }),
    standby: context.field === 'standby',
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

/**
 * Reads a change of ids in any of the shapes that are known. The provider's documents name the previous ids; other receivers
 * report `from_user_id` as the old id or as the new one, and some find both only in the text.
 */
function changeIn(
  message: JsonObject,
  { from, fromUserId }: Pick<MessageItem, 'from' | 'fromUserId'>,
): IdentityChange | null {
  const system = message['system'];
  if (!isObject(system) || !idChanges.has(readText(system['type'])?.toLowerCase() ?? '')) return null;
  const newNumber = readDigits(system['wa_id']) ?? readDigits(system['new_wa_id']);
  const newUserId = readId(system['user_id']);
  const newParentUserId = readId(system['parent_user_id']);
  const previous = [
    readId(system['previous_user_id']),
    readId(system['previous_parent_user_id']),
    from,
    fromUserId === newUserId ? null : fromUserId,
    previousIdInText(system['body'], [newNumber, newUserId]),
  ];
  return {
    previous: [...new Set(previous)].filter((id) => id !== null),
    newNumber,
    newUserId,
    newParentUserId,
  };
}

/** Longer texts are none of the provider's. */
const longestChangeText = 1_000;

/** Returns A of `… changed from A to B` if B is one of the new ids. */
function previousIdInText(body: unknown, current: readonly (string | null)[]): string | null {
  const text = readText(body);
  if (text === null || text.length > longestChangeText) return null;
  // A name before it may contain the same words, so the last match counts.
  const [, before, after] = /^.*\bfrom\s+(\S+)\s+to\s+(\S+)/su.exec(text) ?? [];
  const [previous, next] = [before, after].map(
    (id) => /^[^.,;:!]+(?:\.[^.,;:!]+)*/u.exec(id ?? '')?.[0] ?? '',
  );
  const known = [readDigits(next), readId(next)].some((id) => id !== null && current.includes(id));
  return known ? (readDigits(previous) ?? readId(previous)) : null;
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

// Codecs for callbacks: strict about identifying fields, tolerant of all others.

/** What an element's entry and change say about it. */
export interface ChangeContext {
  readonly object: string;
  readonly businessAccountId: string | null;
  /** Epoch seconds of the entry; only template and account entries carry it. */
  readonly entryTime: string | null;
  readonly field: string | null;
  readonly phoneNumberId: string | null;
  readonly value: JsonObject;
}

/** Builds the item for an element that has no effect. */
export function ignored(
  context: Pick<ChangeContext, 'businessAccountId' | 'field'>,
  reason: string,
  raw: unknown,
): IgnoredItem {
  const { businessAccountId, field } = context;
  return { kind: 'ignored', businessAccountId, field, reason, raw };
}

/**
 * Text that the provider sometimes writes as a number. Replaces NUL and lone surrogates, because text columns cannot store
 * them. Empty text counts as absent.
 */
const Text = new t.Type<string, string, unknown>(
  'Text',
  t.string.is,
  (input, context) => {
    const text = typeof input === 'number' && Number.isFinite(input) ? String(input) : input;
    if (typeof text !== 'string' || text === '') return t.failure(input, context);
    return t.success(text.replaceAll('\u0000', '\uFFFD').toWellFormed());
  },
  t.identity,
);

/** An id of a message or a person. */
const Id = new t.Type<string, string, unknown>(
  'Id',
  t.string.is,
  (input, context) => either.map(Text.validate(input, context), cleanId),
  t.identity,
);

/** A number that the provider sometimes writes as text. */
export const WholeNumber = new t.Type<number, number, unknown>(
  'WholeNumber',
  t.number.is,
  (input, context) => {
    const code = typeof input === 'string' && input !== '' ? Number(input) : input;
    return typeof code === 'number' && Number.isSafeInteger(code)
      ? t.success(code)
      : t.failure(input, context);
  },
  t.identity,
);

/** Returns null if the value is absent or has another shape. */
export function read<A>(codec: t.Type<A, unknown>, value: unknown): A | null {
  const decoded = codec.decode(value);
  return isRight(decoded) ? decoded.right : null;
}

export function readText(value: unknown): string | null {
  return read(Text, value);
}

function readId(value: unknown): string | null {
  return read(Id, value);
}

/** Returns the digits of a phone number in any notation; null for anything else, including a user id. */
function readDigits(value: unknown): string | null {
  const text = readText(value);
  return text !== null && /^\+?[\d ().-]{4,31}$/.test(text) ? text.replaceAll(/\D/g, '') : null;
}

/** ISO 3166 alpha-2. */
function readCountry(value: unknown): string | null {
  const code = readText(value)?.toUpperCase();
  return code !== undefined && /^[A-Z]{2}$/.test(code) ? code : null;
}

export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const StatusElement = t.type({ id: Id, status: Text });
const MessageElement = t.type({ id: Id });
export const TemplateElement = t.type({ message_template_id: Id });

const PricingElement = t.type({ category: Text });
const ErrorElement = t.type({ code: WholeNumber });

function readPricing(value: unknown): ReportedPricing | null {
  const pricing = read(PricingElement, value);
  if (!pricing) return null;
  const billable = billableOf(pricing as Record<string, unknown>);
  return billable === undefined ? null : { billable, category: pricing.category.toLowerCase() };
}

function readErrors(value: unknown): readonly NotificationError[] {
  return readList(value).flatMap((element) => {
    const error = read(ErrorElement, element);
    if (!error) return [];
    const { title, message, error_data } = error as Record<string, unknown>;
    const details = read(t.type({ details: Text }), error_data)?.details ?? readText(error_data);
    return [{ code: error.code, title: readText(title), details: details ?? readText(message) }];
  });
}
