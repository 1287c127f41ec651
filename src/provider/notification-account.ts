import { isObject, type JsonObject } from './json-value.ts';
import { readText } from './notification-codec.ts';
import type { NotificationItem } from './notification-item.ts';
import { ignored, type ChangeContext } from './notification-change.ts';

const stopping: ReadonlySet<string> = new Set([
  'ACCOUNT_DELETED',
  'ACCOUNT_RESTRICTION',
  'ACCOUNT_VIOLATION',
  'DISABLED_UPDATE',
]);

/** What happened to the business account, or to the quality of one of its numbers. */
export function readAccountChange(context: ChangeContext): NotificationItem {
  const { value, businessAccountId, phoneNumberId, field } = context;
  const event = readText(value['event'])?.toUpperCase();
  if (event === undefined) return ignored(context, 'account change that cannot be read', value);
  if (field === 'phone_number_quality_update') {
    const displayPhoneNumber = readText(value['display_phone_number']);
    const limit = readText(value['max_daily_conversations_per_business']) ?? readText(value['current_limit']);
    return { kind: 'phone_quality', businessAccountId, displayPhoneNumber, event, limit, raw: value };
  }
  const maySend = maySendAfter(event, value);
  return { kind: 'account', businessAccountId, phoneNumberId, event, maySend, errors: [], raw: value };
}

function maySendAfter(event: string, value: JsonObject): boolean | null {
  const ban = value['ban_info'];
  const state = isObject(ban) ? readText(ban['waba_ban_state'])?.toUpperCase() : undefined;
  if (state === 'REINSTATE') return true;
  // A ban that is announced for a later day; the ban itself is told again.
  if (state === 'SCHEDULE_FOR_DISABLE') return null;
  return stopping.has(event) ? false : null;
}
