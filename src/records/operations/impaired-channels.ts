/** Channels that cannot send as they should, over all workspaces: for operators, never for a customer. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { channelBlockCauses } from '../../domain/sending/provider-error.ts';
import { oneOf } from '../../codecs/struct.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { effectiveFactor, isSlow } from '../sending/channel-rate.ts';

/**
 * `blocked`: by an operator or by a notice of the provider. A block cause: the provider refused messages for it, and campaigns
 * are paused or the refusal is recent. `held`: the circuit is open. `slow`: answers are so slow that it sends less than it may. `throttled`: the provider asks for a lower rate.
 */
export const impairments = ['blocked', ...channelBlockCauses, 'held', 'slow', 'throttled'] as const;

const recentRefusal = sql.fragment`interval '10 minutes'`;
/** 2 min: a cool-down lasts a minute at most. A circuit that is no longer probed says nothing about the provider. */
const recentProbe = sql.fragment`interval '2 minutes'`;

const impaired = sql.fragment`
  SELECT channel.id, channel.workspace_id, channel.phone_number_id, kind, code, since
  FROM channel JOIN channel_rate ON channel_rate.channel_id = channel.id CROSS JOIN LATERAL (
    SELECT 'blocked' AS kind, NULL::int4 AS code, NULL::timestamptz AS since WHERE channel.status = 'blocked'
    UNION ALL
    SELECT refusal_cause, refusal_code, refused_at WHERE refusal_cause IS NOT NULL
      AND (refused_at > now() - ${recentRefusal} OR EXISTS (SELECT FROM campaign
        WHERE campaign.channel_id = channel.id AND campaign.status = 'PAUSED' AND pause_reason = 'CHANNEL_BLOCKED'))
    UNION ALL
    SELECT 'held', NULL, NULL WHERE times_opened > 0 AND open_until > now() - ${recentProbe}
    UNION ALL
    SELECT 'slow', NULL, NULL WHERE ${isSlow}
    UNION ALL
    SELECT 'throttled', NULL, NULL WHERE ${effectiveFactor} < 1
      AND EXISTS (SELECT FROM campaign WHERE campaign.channel_id = channel.id AND campaign.status = 'RUNNING')
  ) AS impairment`;

const Count = row(t.type({ kind: oneOf(impairments), count: t.number }));

export function countImpairedChannels(connection: Connection) {
  return connection.any(sql.type(Count)`
    SELECT kind, count(*)::int4 AS count FROM (${impaired}) AS impaired GROUP BY kind`);
}

const ImpairedChannel = t.type({
  id: t.string,
  workspace_id: t.number,
  phone_number_id: t.string,
  kind: oneOf(impairments),
  /** The provider's error code, where a refusal is the cause. */
  code: nullable(t.number),
  since: nullable(timestamp),
});

export function listImpairedChannels(connection: Connection, limit: number) {
  return connection.any(sql.type(row(ImpairedChannel))`${impaired} ORDER BY channel.id, kind LIMIT ${limit}`);
}

const ListedChannel = t.type({
  id: t.string,
  workspace_id: t.number,
  phone_number_id: t.string,
  status: t.string,
  messages_per_second: t.number,
});

/** Every channel, by id. */
export function listChannels(connection: Connection) {
  return connection.any(sql.type(row(ListedChannel))`
    SELECT id, workspace_id, phone_number_id, status, messages_per_second FROM channel ORDER BY id`);
}
