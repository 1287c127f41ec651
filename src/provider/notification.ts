import { setImmediate as nextTurn } from 'node:timers/promises';
import { readAccountChange } from './notification-account.ts';
import { ignored, type ChangeContext } from './notification-change.ts';
import { readText } from './notification-codec.ts';
import type { IgnoredItem, NotificationItem } from './notification-item.ts';
import {
  readEchoesChange,
  readMessagesChange,
  readPreferencesChange,
  readUserIdChange,
} from './notification-messages.ts';
import { readTemplateChange } from './notification-template.ts';
import { isObject } from './json-value.ts';

/** Deeper elements could not be written as JSON again. */
const maxDepth = 64;

/**
 * Reads a callback into its items, in order. Never throws: an unreadable element becomes `ignored` and does not affect the
 * others. The caller has verified the signature.
 */
export function readNotification(body: Uint8Array): readonly NotificationItem[] {
  return [...elementsOf(body)];
}

/** Elements read in one turn of the event loop: 5 ms of work. */
const elementsPerTurn = 1_000;

/** The same for several callbacks, with turns of the event loop between: one of 4 MiB has 30,000 elements. */
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

/** Dispatches by field, not by shape: values of `calls` have `statuses` too, which are not message statuses. */
function readChange(context: ChangeContext): Iterable<NotificationItem> {
  if (isTooDeep(context.value, maxDepth)) return [ignored(context, 'nested too deep', null)];
  switch (context.field) {
    case 'messages':
      return readMessagesChange(context);
    case 'smb_message_echoes':
      return readEchoesChange(context);
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

/** Template ids are written as integers, which lose their last digits beyond 2^53. */
function withTextIds(text: string): string {
  return text.includes('message_template_id')
    ? text.replaceAll(/"message_template_id"(\s*:\s*)(\d{17,}|9\d{15})(?!\d)/g, '"message_template_id"$1"$2"')
    : text;
}

function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isTooDeep(member, depth - 1));
}
