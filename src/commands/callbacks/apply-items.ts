import type { Dependencies } from '../../dependencies.ts';
import { storedJson } from '../../domain/callbacks/stored-json.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
import type { NotificationItem, PreferenceItem } from '../../provider/notification-item.ts';
import { slowDown } from '../../records/sending/channel-rate.ts';
import type { Transaction } from '../../records/database/database.ts';
import { findNotifiedChannels, type NotifiedChannel } from '../../records/workspaces/notified-channels.ts';
import { countAnswers } from '../../records/campaigns/answers.ts';
import { learnIdentities, type Identity } from '../../records/callbacks/identities.ts';
import { insertUnmatchedStatuses } from '../../records/callbacks/message-statuses.ts';
import type { AfterCommit } from './after-commit.ts';
import { applyAccountNotification } from '../workspaces/apply-account-notification.ts';
import { applyAppMessages, applyInboundMessages } from './apply-inbound-message.ts';
import { applyIdentityItem } from './change-identity.ts';
import type { Routed } from './routed.ts';
import { applyStatuses } from './apply-statuses.ts';
import { applyTemplateNotification } from '../templates/apply-template-notification.ts';
import { applyChoices, applyOptOuts, type PersonChoice } from './change-subscription.ts';
import { matchStatuses, type StatusMatch, type RoutedStatus } from './match-statuses.ts';
import { personOf } from './recognise-sender.ts';
import { applyStatusEffects, type Consequences } from './status-effects.ts';

export type CallbackDependencies = Pick<
  Dependencies,
  'config' | 'database' | 'logger' | 'metrics' | 'now' | 'orchestrator' | 'secrets'
>;

type ItemOf<K extends NotificationItem['kind']> = Extract<NotificationItem, { readonly kind: K }>;

export interface AppliedItems extends AfterCommit {
  /** Texts that identify the callbacks that name erased people. */
  readonly erased: readonly string[];
}

/**
 * Applies callback elements in one transaction, taking the most contended locks last: templates and campaigns, then contacts
 * and conversations, then messages, wallets and counters.
 */
export async function applyItems(
  dependencies: CallbackDependencies,
  transaction: Transaction,
  items: readonly NotificationItem[],
): Promise<AppliedItems> {
  const { logger, now } = dependencies;
  const channels = await findNotifiedChannels(transaction, phoneNumberIdsOf(items));
  const routed = <I extends { readonly phoneNumberId: string | null }>(group: readonly I[]) =>
    group.flatMap((item) => {
      const channel = channels.get(item.phoneNumberId ?? '');
      return channel === undefined ? [] : [{ item, channel }];
    });
  const statuses = itemsOf(items, 'status');
  const messages = itemsOf(items, 'message');
  const preferences = itemsOf(items, 'preferences');

  const echoes = itemsOf(items, 'echo');

  const accounts = await applyAccounts(dependencies, transaction, { items, channels });
  const routedStatuses = routed(statuses);
  const { known, unknown } = await matchStatuses(
    transaction,
    routedStatuses.map(({ item, channel }) => ({ ...item, channel })),
  );
  const effects = await applyStatusEffects(dependencies, transaction, known.values());

  const routedMessages = routed(messages);
  const routedEchoes = routed(echoes);
  const routedPreferences = routed(preferences);
  const identities = itemsOf(items, 'identity');
  const choices = routedPreferences.map(preferenceChoice);
  await learnIdentities(transaction, [...known.values()].flatMap(recipientIds));
  for (const item of identities) {
    const channel = channels.get(item.phoneNumberId ?? '');
    await applyIdentityItem(dependencies, transaction, { item, channel });
  }
  const answers = await applyInboundMessages(dependencies, transaction, routedMessages);
  await applyAppMessages(transaction, routedEchoes);
  const chosenBy = await applyChoices(dependencies, transaction, choices);
  await applyOptOuts(dependencies, transaction, effects.optedOut);

  await insertUnmatchedStatuses(transaction, unknown.map(unmatched));
  const { reached, braked, woken } = await applyStatuses(transaction, known, now());
  for (const silence of [...accounts.throttled, ...effects.throttled]) await slowDown(transaction, silence);

  const stopped = routedPreferences.flatMap(({ channel }, at) =>
    choices[at]?.decision.allows === false
      ? (chosenBy[at] ?? []).map((contactId) => ({
          contactId,
          channelId: channel.id,
          kind: 'opted_out' as const,
          campaignId: null,
          text: null,
        }))
      : [],
  );
  await countAnswers(transaction, [...answers, ...stopped]);

  const strangers = [...statuses, ...messages, ...preferences, ...echoes]
    .map(({ phoneNumberId }) => phoneNumberId ?? 'none')
    .filter((phoneNumberId) => !channels.has(phoneNumberId));
  if (strangers.length > 0) {
    const phoneNumberIds = [...new Set(strangers)].slice(0, 20);
    logger.warn(
      { elements: strangers.length, phoneNumberIds },
      'callbacks for phone number ids of no channel',
    );
  }
  return {
    paused: [...accounts.paused, ...effects.paused],
    resync: [...accounts.resync, ...effects.resync],
    unlisted: effects.unlisted,
    refusedMedia: effects.refusedMedia,
    reached,
    braked,
    woken,
    erased: [...known.values()].filter(({ target }) => target.erased).flatMap(namesIn),
  };
}

/** The message ids, and the person's number and ids, in the statuses of an erased person. */
const namesIn = ({ statuses }: StatusMatch): readonly string[] =>
  statuses
    .flatMap((status) => [status.providerMessageId, status.recipientId ?? '', status.recipientUserId ?? ''])
    // Every callback contains an empty text.
    .filter((name) => name !== '');

export function phoneNumberIdsOf(items: readonly NotificationItem[]): readonly string[] {
  const ids = items.map((item) => ('phoneNumberId' in item ? item.phoneNumberId : null));
  return [...new Set(ids)].filter((id) => id !== null);
}

function itemsOf<K extends NotificationItem['kind']>(
  items: readonly NotificationItem[],
  kind: K,
): readonly ItemOf<K>[] {
  return items.filter((item): item is ItemOf<K> => item.kind === kind);
}

/** Applies template and account changes in order of arrival. */
async function applyAccounts(
  dependencies: CallbackDependencies,
  transaction: Transaction,
  {
    items,
    channels,
  }: {
    readonly items: readonly NotificationItem[];
    readonly channels: ReadonlyMap<string, NotifiedChannel>;
  },
): Promise<Consequences> {
  const effects: Partial<Consequences>[] = [];
  for (const item of items) {
    switch (item.kind) {
      case 'template_status':
      case 'template_category':
      case 'template_quality':
      case 'template_components':
      case 'template_announcement':
        effects.push(await applyTemplateNotification(dependencies, transaction, item));
        break;
      case 'account': {
        const channel = channels.get(item.phoneNumberId ?? '');
        effects.push(await applyAccountNotification(dependencies, transaction, { item, channel }));
        break;
      }
      case 'ignored':
        dependencies.logger.debug(
          { field: item.field, reason: item.reason },
          'element of a callback ignored',
        );
        break;
      default:
    }
  }
  return {
    paused: effects.flatMap(({ paused = [] }) => paused),
    resync: effects.flatMap(({ resync = [] }) => resync),
    throttled: effects.flatMap(({ throttled = [] }) => throttled),
  };
}

/** Reads the recipient's ids only from a `sent` status, because each message has exactly one. */
function recipientIds({ target, statuses }: StatusMatch): readonly Identity[] {
  const { workspace_id: workspaceId, contact_id: contactId } = target;
  const sent = statuses.find(({ status }) => status === 'sent');
  if (contactId === null || sent === undefined) return [];
  return [sent.recipientId, sent.recipientUserId, sent.recipientParentUserId].flatMap((providerId) =>
    providerId === null ? [] : [{ workspaceId, contactId, providerId }],
  );
}

function preferenceChoice({ item, channel }: Routed<PreferenceItem>): PersonChoice {
  const { workspaceId } = channel;
  return {
    workspaceId,
    person: personOf(item),
    decision: { category: 'MARKETING', allows: item.subscribed },
    at: epochSeconds(item.timestamp),
  };
}

function unmatched({ channel, providerMessageId, status, raw }: RoutedStatus) {
  const body = storedJson(raw, { id: providerMessageId });
  return { channelId: channel.id, providerMessageId, status, body };
}
