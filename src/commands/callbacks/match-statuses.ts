import type { ReportedStatus } from '../../domain/callbacks/message-status.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  findTargetsById,
  findTargetsByProviderId,
  type StatusTarget,
} from '../../records/callbacks/message-statuses.ts';

/** The channel a notification is about. */
export interface NotifiedChannel {
  readonly id: string;
  readonly workspaceId: number;
  readonly phoneNumberId: string;
}

/** One status of one message, as a notification told it. */
export interface StatusNotice extends ReportedStatus {
  readonly channel: NotifiedChannel;
  readonly providerMessageId: string;
  /** What we sent along: our own id of the message; null when the provider did not return it. */
  readonly callbackData: string | null;
  /** The provider's object. */
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface StatusMatch {
  readonly target: StatusTarget;
  /** In the order they came. */
  readonly notices: StatusNotice[];
}

export interface StatusMatches {
  readonly known: ReadonlyMap<string, StatusMatch>;
  readonly unknown: readonly StatusNotice[];
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Finds the message of every status: by our own id first, else by the provider's. Takes no lock. */
export async function matchStatuses(
  connection: Connection,
  notices: readonly StatusNotice[],
): Promise<StatusMatches> {
  const known = new Map<string, StatusMatch>();
  const byId = await findTargetsById(connection, distinct(notices.map(ownId)));
  const rest = assign(known, notices, ownId, new Map(byId.map((target) => [target.id, target])));

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

/** Nobody promises that the provider's ids differ from one number to another. */
function keyInChannel(channelId: string, providerMessageId: string): string {
  return `${channelId} ${providerMessageId}`;
}

function ownId({ callbackData }: StatusNotice): string | undefined {
  return callbackData !== null && uuid.test(callbackData) ? callbackData.toLowerCase() : undefined;
}

function distinct(ids: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(ids)].filter((id) => id !== undefined);
}

/** Adds what was found to `known`; returns the rest. A message of another channel is nobody's. */
function assign(
  known: Map<string, StatusMatch>,
  notices: readonly StatusNotice[],
  keyOf: (notice: StatusNotice) => string | undefined,
  targets: ReadonlyMap<string, StatusTarget>,
): readonly StatusNotice[] {
  return notices.filter((notice) => {
    const target = targets.get(keyOf(notice) ?? '');
    if (target === undefined || target.channel_id !== notice.channel.id) return true;
    const match = known.get(target.id);
    if (match === undefined) known.set(target.id, { target, notices: [notice] });
    else match.notices.push(notice);
    return false;
  });
}
