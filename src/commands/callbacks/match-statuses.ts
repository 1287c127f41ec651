import { isUuid } from '../../domain/uuid.ts';
import type { StatusItem } from '../../provider/notification-item.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  findTargetsById,
  findTargetsByProviderId,
  type StatusTarget,
} from '../../records/callbacks/message-statuses.ts';
import type { NotifiedChannel } from '../../records/workspaces/notified-channels.ts';

/** A status with its channel. */
export interface RoutedStatus extends StatusItem {
  readonly channel: Pick<NotifiedChannel, 'id' | 'workspaceId' | 'phoneNumberId'>;
}

/** One of our messages with its statuses in order of arrival. */
export interface StatusMatch {
  readonly target: StatusTarget;
  readonly statuses: RoutedStatus[];
}

export interface StatusMatches {
  /** Keyed by message id. */
  readonly known: ReadonlyMap<string, StatusMatch>;
  readonly unknown: readonly RoutedStatus[];
}

/** Finds the message of every status, first by our own id, then by the provider's. Takes no lock. */
export async function matchStatuses(
  connection: Connection,
  statuses: readonly RoutedStatus[],
): Promise<StatusMatches> {
  const known = new Map<string, StatusMatch>();
  const byId = await findTargetsById(connection, distinct(statuses.map(ownId)));
  const rest = assign(known, statuses, ownId, new Map(byId.map((target) => [target.id, target])));

  const providerIds = distinct(rest.map(({ providerMessageId }) => providerMessageId));
  const byProviderId = await findTargetsByProviderId(connection, providerIds);
  const unknown = assign(
    known,
    rest,
    ({ channel, providerMessageId }) => keyInChannel(channel.id, providerMessageId),
    new Map(
      byProviderId.map((target) => [
        keyInChannel(target.channel_id, target.provider_message_id ?? ''),
        target,
      ]),
    ),
  );
  return { known, unknown };
}

/** The provider's message ids are unique only per number. */
function keyInChannel(channelId: string, providerMessageId: string): string {
  return `${channelId} ${providerMessageId}`;
}

function ownId({ callbackData }: RoutedStatus): string | undefined {
  return callbackData !== null && isUuid(callbackData) ? callbackData.toLowerCase() : undefined;
}

function distinct(ids: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(ids)].filter((id) => id !== undefined);
}

/** Adds the matched messages to `known` and returns the unmatched statuses. A message of another channel does not match. */
function assign(
  known: Map<string, StatusMatch>,
  statuses: readonly RoutedStatus[],
  keyOf: (status: RoutedStatus) => string | undefined,
  targets: ReadonlyMap<string, StatusTarget>,
): readonly RoutedStatus[] {
  return statuses.filter((status) => {
    const target = targets.get(keyOf(status) ?? '');
    if (target === undefined || target.channel_id !== status.channel.id) return true;
    const match = known.get(target.id);
    if (match === undefined) known.set(target.id, { target, statuses: [status] });
    else match.statuses.push(status);
    return false;
  });
}
