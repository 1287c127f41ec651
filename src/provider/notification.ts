import { setImmediate as nextTurn } from 'node:timers/promises';
import { cleanText } from '../domain/clean-text.ts';
import { epochSeconds } from '../domain/epoch-seconds.ts';
import { messagingLimitOf } from './account-terms.ts';
import { isObject, type JsonObject } from './provider.ts';
import {
  type ChangeContext,
  ignored,
  read,
  readEchoesChange,
  readList,
  readMessagesChange,
  readPreferencesChange,
  readStandbyChange,
  readText,
  readUserIdChange,
  TemplateElement,
} from './notification-messages.ts';
import type { AccountItem, IgnoredItem, NotificationItem, TemplateStatusItem } from './notification-item.ts';

/** Deeper elements could not be serialized to JSON again. */
const maxDepth = 64;

/**
 * Reads a callback into its items, in order. Never throws: an unreadable element becomes `ignored` and does not affect the
 * others. The caller has verified the signature.
 */
export function readNotification(body: Uint8Array): readonly NotificationItem[] {
  return [...elementsOf(body)];
}

/** Elements read per turn of the event loop, which takes 5 ms. */
const elementsPerTurn = 1_000;

/** Reads several callbacks and yields to the event loop in between: a callback of 4 MiB has 30,000 elements. */
export async function readNotifications(bodies: readonly Uint8Array[]): Promise<readonly NotificationItem[]> {
  const items: NotificationItem[] = [];
  for (const body of bodies)
    for (const item of elementsOf(body)) if (items.push(item) % elementsPerTurn === 0) await nextTurn();
  return items;
}

function* elementsOf(body: Uint8Array): Generator<NotificationItem> {
  const notification = parse(body);
  if (!isObject(notification)) return yield ignoredBody('not a JSON object');
  const object = readText(notification['object']) ?? 'whatsapp_business_account';
  if (object !== 'whatsapp_business_account') return yield ignoredBody(`object ${object}`);
  if (!Array.isArray(notification['entry'])) return yield ignoredBody('no entries');
  for (const entry of notification['entry']) yield* readEntry(entry, object);
}

function* readEntry(entry: unknown, object: string): Generator<NotificationItem> {
  if (!isObject(entry) || !Array.isArray(entry['changes']))
    return yield { ...ignoredBody('no changes'), raw: entry };
  const businessAccountId = readText(entry['id']);
  const entryTime = readText(entry['time']);
  for (const change of entry['changes'] as unknown[]) {
    if (!isObject(change) || !isObject(change['value'])) {
      yield { ...ignoredBody('no value'), businessAccountId, raw: change };
      continue;
    }
    const value = change['value'];
    const metadata = value['metadata'];
    yield* readChange({
      object,
      businessAccountId,
      entryTime,
      field: readText(change['field']),
      phoneNumberId: isObject(metadata) ? readText(metadata['phone_number_id']) : null,
      value,
    });
  }
}

/** Dispatches by field, not by shape: values of `calls` have `statuses` too, but those are not message statuses. */
function readChange(context: ChangeContext): Iterable<NotificationItem> {
  if (isTooDeep(context.value, maxDepth)) return [ignored(context, 'nested too deep', null)];
  switch (context.field) {
    case 'messages':
      return readMessagesChange(context);
    case 'smb_message_echoes':
      return readEchoesChange(context);
    case 'standby':
      return readStandbyChange(context);
    case 'user_id_update':
      return readUserIdChange(context);
    case 'user_preferences':
      return readPreferencesChange(context);
    case 'message_template_status_update':
    case 'template_category_update':
    case 'message_template_quality_update':
    case 'message_template_components_update':
      return [readTemplateChange(context)];
    case 'account_update':
    case 'account_review_update':
    case 'account_alerts':
    case 'business_capability_update':
    case 'phone_number_name_update':
    case 'phone_number_quality_update':
    case 'security':
      return [readAccountChange(context)];
    default:
      return [ignored(context, 'field without meaning for us', context.value)];
  }
}

function ignoredBody(reason: string): IgnoredItem {
  return { kind: 'ignored', businessAccountId: null, field: null, reason, raw: null };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(withTextIds(new TextDecoder().decode(body))) as unknown;
  } catch {
    return undefined;
  }
}

/** Turns template ids into text: the provider writes them as integers, and those above 2^53 would lose their last digits. */
function withTextIds(text: string): string {
  return text.includes('message_template_id')
    ? text.replaceAll(/"message_template_id"(\s*:\s*)(\d{17,}|9\d{15})(?!\d)/g, '"message_template_id"$1"$2"')
    : text;
}

function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isTooDeep(member, depth - 1));
}

const stopping: ReadonlySet<string> = new Set(['ACCOUNT_DELETED', 'ACCOUNT_OFFBOARDED', 'DISABLED_UPDATE']);
const lifting: ReadonlySet<string> = new Set(['ACCOUNT_RECONNECTED']);

/** Reads a change of a business account or of its numbers, regardless of the field in which it arrives. */
function readAccountChange(context: ChangeContext): NotificationItem {
  const { value, businessAccountId, phoneNumberId, entryTime } = context;
  const field = context.field ?? 'account_update';
  const event = eventOf(value) ?? (field === 'account_update' ? undefined : field.toUpperCase());
  if (event === undefined) return ignored(context, 'account change that cannot be read', value);
  return {
    kind: 'account',
    businessAccountId,
    phoneNumberId,
    field,
    event,
    timestamp: entryTime,
    ...blockOf(event, value),
    messagingLimit: limitOfChange(event, value),
    quality: field === 'phone_number_quality_update' ? qualityOf(event, value) : null,
    facts: factsOf(value),
    errors: [],
    raw: value,
  };
}

/** Maximum length of a status, event, category or quality, in characters. */
const maxWord = 64;

function eventOf(value: JsonObject): string | undefined {
  const alert = value['alert_info'];
  const alertType = isObject(alert) ? alert['alert_type'] : value['alert_type'];
  const event = readText(value['event'] ?? value['decision'] ?? alertType)?.toUpperCase();
  return event === undefined ? undefined : cleanText(event, maxWord);
}

type Block = Pick<AccountItem, 'maySend' | 'blockedUntil'>;

const unchanged: Block = { maySend: null, blockedUntil: null };

function blockOf(event: string, value: JsonObject): Block {
  const ban = value['ban_info'];
  const state = isObject(ban) ? readText(ban['waba_ban_state'])?.toUpperCase() : undefined;
  if (state === 'REINSTATE' || lifting.has(event)) return { maySend: true, blockedUntil: null };
  // This announces a ban; the provider sends another callback when the ban begins.
  if (state === 'SCHEDULE_FOR_DISABLE') return unchanged;
  if (event === 'ACCOUNT_RESTRICTION') return restrictionOf(value);
  return stopping.has(event) ? { maySend: false, blockedUntil: null } : unchanged;
}

/** The one restriction that prevents sending templates; the others concern calls, replies and new numbers. */
const sendingRestriction = 'RESTRICTED_BIZ_INITIATED_MESSAGING';

function restrictionOf(value: JsonObject): Block {
  const info = value['restriction_info'];
  const restriction = (isObject(info) ? [info] : readList(info))
    .filter(isObject)
    .find(({ restriction_type: type }) => readText(type)?.toUpperCase() === sendingRestriction);
  if (restriction === undefined) return unchanged;
  return { maySend: false, blockedUntil: instantOf(restriction['expiration']) };
}

/** Epoch seconds in some callbacks, a date in others. */
function instantOf(value: unknown): Date | null {
  const text = readText(value);
  const seconds = epochSeconds(text);
  if (seconds !== null || text === null) return seconds;
  const parsed = new Date(text);
  return Number.isNaN(parsed.getTime()) ? null : parsed;
}

/** Like `messagingLimitOf`. A plain number in `current_limit` is a throughput, not the messaging limit. */
function limitOfChange(event: string, value: JsonObject): number | null | undefined {
  const perDay = value['max_daily_conversations_per_business'] ?? value['max_daily_conversation_per_phone'];
  if (perDay !== undefined) return messagingLimitOf(perDay);
  const tier = event === 'THROUGHPUT_UPGRADE' ? null : readText(value['current_limit']);
  return tier !== null && /[A-Z]/i.test(tier) ? messagingLimitOf(tier) : undefined;
}

function qualityOf(event: string, value: JsonObject): AccountItem['quality'] {
  const number = readText(value['display_phone_number'])?.replaceAll(/\D/g, '');
  if (!number || (event !== 'FLAGGED' && event !== 'UNFLAGGED')) return null;
  return { number, is: event === 'FLAGGED' ? 'LOW' : 'GOOD' };
}

/**
 * Fields left out of the facts because they name numbers or people. `event` is left out because the item has its own field
 * for it.
 */
const withheld: ReadonlySet<string> = new Set(['display_phone_number', 'phone_number', 'requester', 'event']);
const longestFacts = 4096;

function factsOf(value: JsonObject): JsonObject {
  const text = JSON.stringify(value, (key, fact: unknown) => {
    if (withheld.has(key)) return undefined;
    return typeof fact === 'string' ? (readText(fact) ?? '') : fact;
  });
  return text.length > longestFacts ? {} : (JSON.parse(text) as JsonObject);
}

/**
 * Reads a template change. The content of the value takes precedence over the field's name, because quality changes also
 * arrive in the field for status changes.
 */
function readTemplateChange(context: ChangeContext): NotificationItem {
  const { value, field } = context;
  const element = read(TemplateElement, value);
  if (!element) return ignored(context, 'template change without the template', value);
  const template = {
    businessAccountId: context.businessAccountId,
    providerTemplateId: element.message_template_id,
    timestamp: context.entryTime,
    raw: value,
  };
  const quality = upper(value['new_quality_score']);
  if (quality !== null) return { kind: 'template_quality', ...template, newQualityScore: quality };
  if (field === 'message_template_components_update') return { kind: 'template_components', ...template };
  if (field === 'template_category_update') {
    const newCategory = upper(value['new_category']);
    const upcomingCategory = upper(value['correct_category']);
    // The change is announced a day ahead; until then `new_category` is still the current category.
    if (upcomingCategory !== null) {
      const takesEffectAt = epochSeconds(readText(value['category_update_timestamp']));
      return { kind: 'template_announcement', ...template, upcomingCategory, takesEffectAt };
    }
    if (newCategory === null) return ignored(context, 'category change without a category', value);
    return { kind: 'template_category', ...template, newCategory };
  }
  const newStatus = upper(value['event']);
  if (newStatus === null) return ignored(context, 'template change that cannot be read', value);
  const reason = cut(readText(value['reason']), maxReason);
  return {
    kind: 'template_status',
    ...template,
    newStatus,
    reason: upper(reason) === 'NONE' ? null : reason,
    remarks: {
      ...remarkOf('otherInfo', value['other_info']),
      ...remarkOf('rejectionInfo', value['rejection_info']),
    },
  };
}

const maxRemark = 2000;
const maxReason = 1000;

const cut = (text: string | null, max: number): string | null =>
  text === null ? null : cleanText(text, max);

function remarkOf(name: keyof TemplateStatusItem['remarks'], value: unknown): TemplateStatusItem['remarks'] {
  if (!isObject(value)) return {};
  const texts = (['title', 'description', 'reason', 'recommendation'] as const).flatMap((key) => {
    const text = readText(value[key]);
    return text === null ? [] : [[key, cleanText(text, maxRemark)]];
  });
  return texts.length === 0 ? {} : { [name]: Object.fromEntries(texts) };
}

function upper(value: unknown): string | null {
  return cut(readText(value)?.toUpperCase() ?? null, maxWord);
}
