/** Further provider ids of contacts, in addition to the number and the user id in the contact's row. */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { userIdOf } from '../contacts/user-ids.ts';
import { nothing, nullable, row } from '../database/row.ts';

export interface Identity {
  readonly workspaceId: number;
  readonly contactId: string;
  /** A number as the provider writes it, in digits, or one of its user ids. */
  readonly providerId: string;
}

/**
 * Records the provider's ids of contacts, except those the contact row already has. An id that another contact had moves to the
 * one that uses it now.
 */
export async function learnIdentities(
  connection: Connection,
  identities: readonly Identity[],
): Promise<void> {
  if (identities.length === 0) return;
  const rows = identities.map(({ workspaceId, contactId, providerId }) => [
    workspaceId,
    contactId,
    providerId,
  ]);
  await learn(
    connection,
    sql.fragment`
    SELECT * FROM ${sql.unnest(rows, ['int4', 'uuid', 'text'])} AS pairs (workspace_id, contact_id, provider_id)`,
  );
}

/** `pairs`: rows of workspace_id, contact_id and provider_id. */
async function learn(connection: Connection, pairs: FragmentSqlToken): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO contact_identity (workspace_id, provider_id, contact_id)
    SELECT DISTINCT ON (contact.workspace_id, pairs.provider_id) contact.workspace_id, pairs.provider_id, contact.id
    FROM (${pairs}) AS pairs
    CROSS JOIN LATERAL (
      SELECT * FROM contact WHERE workspace_id = pairs.workspace_id AND id = pairs.contact_id OFFSET 0
    ) AS contact
    WHERE contact.erased_at IS NULL AND pairs.provider_id <> '' AND pairs.provider_id IS DISTINCT FROM contact.phone_number
      AND pairs.provider_id IS DISTINCT FROM contact.provider_user_id
      -- No NOT EXISTS, for which Postgres may read all identities.
      AND contact.id IS DISTINCT FROM (SELECT known.contact_id FROM contact_identity AS known
        WHERE known.workspace_id = contact.workspace_id AND known.provider_id = pairs.provider_id)
    ORDER BY contact.workspace_id, pairs.provider_id
    ON CONFLICT (workspace_id, provider_id) DO UPDATE SET contact_id = excluded.contact_id, learned_at = now()`);
}

/**
 * Makes the user id that, according to the provider, has replaced another the contact's address. The contact may have had
 * this id before: it is the address again if it replaces the present one, and otherwise the news is late.
 */
export async function changeToUserId(
  connection: Connection,
  {
    workspaceId,
    contactId,
    providerId,
    previous,
  }: Identity & { /** Ids that it may have replaced. */ readonly previous: readonly string[] },
): Promise<void> {
  const present = userIdOf(sql.fragment`contact.workspace_id`, sql.fragment`contact.id`);
  // The clock, for one transaction may apply several changes.
  await connection.query(sql.type(nothing)`
    INSERT INTO contact_identity (workspace_id, provider_id, contact_id, learned_at)
    SELECT workspace_id, ${providerId}, id, clock_timestamp() FROM contact
    WHERE workspace_id = ${workspaceId} AND id = ${contactId} AND erased_at IS NULL
      AND ${present} IS DISTINCT FROM ${providerId}
      AND (${present} = ANY(${sql.array([...previous], 'text')})
        OR provider_user_id IS DISTINCT FROM ${providerId} AND id IS DISTINCT FROM (SELECT known.contact_id FROM contact_identity AS known
          WHERE known.workspace_id = ${workspaceId} AND known.provider_id = ${providerId}))
    ON CONFLICT (workspace_id, provider_id) DO UPDATE SET contact_id = excluded.contact_id,
      learned_at = excluded.learned_at`);
}

const AnsweredMessage = t.type({ contactId: nullable(t.string), campaignId: nullable(t.string) });
export type AnsweredMessage = t.TypeOf<typeof AnsweredMessage>;

/** Finds contact and campaign of the message that an inbound one replies to; undefined unless this service sent it. */
export async function findAnsweredMessage(
  connection: Connection,
  { channelId, providerMessageId }: { readonly channelId: string; readonly providerMessageId: string },
): Promise<AnsweredMessage | undefined> {
  const found = await connection.maybeOne(sql.type(row(AnsweredMessage))`
    SELECT contact_id AS "contactId", NULL::uuid AS "campaignId" FROM message
    WHERE provider_message_id = ${providerMessageId} AND direction = 'outbound' AND channel_id = ${channelId}
    UNION ALL
    SELECT recipient.contact_id, campaign.id FROM provider_message
    JOIN recipient ON recipient.id = provider_message.recipient_id
    JOIN campaign ON campaign.id = recipient.campaign_id
    WHERE provider_message.hash = hashtextextended(${providerMessageId}, 0)
      AND recipient.provider_message_id = ${providerMessageId} AND campaign.channel_id = ${channelId}
    LIMIT 1`);
  return found ?? undefined;
}

/** Stores the provider's ids of recipients, which are in the responses to a campaign's messages. */
export async function learnIdsOfCampaignRecipients(
  connection: Connection,
  campaignId: string,
  pairs: readonly { readonly position: number; readonly providerId: string }[],
): Promise<void> {
  const rows = pairs.map(({ position, providerId }) => [position, providerId]);
  await learn(
    connection,
    sql.fragment`
    SELECT campaign.workspace_id, recipient.contact_id, answer.provider_id
    FROM ${sql.unnest(rows, ['int4', 'text'])} AS answer (position, provider_id)
    CROSS JOIN LATERAL (
      SELECT contact_id FROM recipient WHERE campaign_id = ${campaignId} AND position = answer.position OFFSET 0
    ) AS recipient
    JOIN campaign ON campaign.id = ${campaignId}`,
  );
}

/** Stores the provider's ids of the recipient, which are in the response to a message outside campaigns. */
export async function learnIdsOfMessageRecipient(
  connection: Connection,
  messageId: string,
  providerIds: readonly string[],
): Promise<void> {
  await learn(
    connection,
    sql.fragment`
    SELECT workspace_id, contact_id, unnest(${sql.array([...providerIds], 'text')}) AS provider_id
    FROM message WHERE id = ${messageId}`,
  );
}
