import { cleanText } from '../domain/clean-text.ts';
import { epochSeconds } from '../domain/epoch-seconds.ts';
import { isObject, type JsonObject } from './json-value.ts';
import { read, readList, readText, WholeNumber } from './notification-codec.ts';
import type { AccountItem, NotificationItem } from './notification-item.ts';
import { ignored, type ChangeContext } from './notification-change.ts';

const stopping: ReadonlySet<string> = new Set(['ACCOUNT_DELETED', 'ACCOUNT_OFFBOARDED', 'DISABLED_UPDATE']);
const lifting: ReadonlySet<string> = new Set(['ACCOUNT_RECONNECTED']);

/** Reads a change of a business account or of its numbers, whichever field it arrives in. */
export function readAccountChange(context: ChangeContext): NotificationItem {
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
    messagingLimit: messagingLimitOf(event, value),
    quality: field === 'phone_number_quality_update' ? qualityOf(event, value) : null,
    facts: factsOf(value),
    errors: [],
    raw: value,
  };
}

const longestEvent = 64;

function eventOf(value: JsonObject): string | undefined {
  const alert = value['alert_info'];
  const alertType = isObject(alert) ? alert['alert_type'] : value['alert_type'];
  const event = readText(value['event'] ?? value['decision'] ?? alertType)?.toUpperCase();
  return event === undefined ? undefined : cleanText(event, longestEvent);
}

type Block = Pick<AccountItem, 'maySend' | 'blockedUntil'>;

const unchanged: Block = { maySend: null, blockedUntil: null };

function blockOf(event: string, value: JsonObject): Block {
  const ban = value['ban_info'];
  const state = isObject(ban) ? readText(ban['waba_ban_state'])?.toUpperCase() : undefined;
  if (state === 'REINSTATE' || lifting.has(event)) return { maySend: true, blockedUntil: null };
  // An announced ban; the ban itself is reported again when it begins.
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

/**
 * The messaging limit: `TIER_250`, `TIER_2K`, … `TIER_UNLIMITED`, or a number of which -1 means unlimited. Null: no limit;
 * undefined: not mentioned.
 */
function messagingLimitOf(event: string, value: JsonObject): number | null | undefined {
  const perDay = value['max_daily_conversations_per_business'] ?? value['max_daily_conversation_per_phone'];
  // In a THROUGHPUT_UPGRADE `current_limit` is the throughput, not the messaging limit.
  const tierText = perDay ?? (event === 'THROUGHPUT_UPGRADE' ? undefined : value['current_limit']);
  const tier = /^TIER_(?:(\d{1,7})(K?)|(UNLIMITED))$/.exec(readText(tierText) ?? '');
  if (tier !== null) return tier[3] === undefined ? Number(tier[1]) * (tier[2] === 'K' ? 1000 : 1) : null;
  const limit = read(WholeNumber, perDay);
  if (limit === -1) return null;
  return limit === null || limit < 1 || limit > 2_147_483_647 ? undefined : limit;
}

function qualityOf(event: string, value: JsonObject): AccountItem['quality'] {
  const number = readText(value['display_phone_number'])?.replaceAll(/\D/g, '');
  if (!number || (event !== 'FLAGGED' && event !== 'UNFLAGGED')) return null;
  return { number, is: event === 'FLAGGED' ? 'LOW' : 'GOOD' };
}

/** Fields left out of the facts: they name numbers or people; `event` is a field of the item itself. */
const withheld: ReadonlySet<string> = new Set(['display_phone_number', 'phone_number', 'requester', 'event']);
const longestFacts = 4096;

function factsOf(value: JsonObject): JsonObject {
  const text = JSON.stringify(value, (key, fact: unknown) => {
    if (withheld.has(key)) return undefined;
    return typeof fact === 'string' ? (readText(fact) ?? '') : fact;
  });
  return text.length > longestFacts ? {} : (JSON.parse(text) as JsonObject);
}
