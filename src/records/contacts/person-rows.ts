/** Finds and clears the messages and the campaign recipients of one person. */
import { type FragmentSqlToken, sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

// Finds and clears the messages of one person outside campaigns.

type Fragment = ReturnType<typeof sql.fragment>;

interface MessagesOfPerson {
  readonly workspaceId: number;
  /** A value of type uuid. */
  readonly contactId: Fragment;
  /** An array of the person's numbers. */
  readonly numbers: Fragment;
}

/** A query of message ids, by number, by contact, which may have had another number, and by conversation; each part uses an index. */
export const messagesOf = ({ workspaceId, contactId, numbers }: MessagesOfPerson): Fragment => sql.fragment`
  SELECT message.id FROM unnest(${numbers}) AS form (number) CROSS JOIN LATERAL (
    SELECT id FROM message WHERE workspace_id = ${workspaceId} AND phone_number = form.number OFFSET 0) AS message
  UNION
  SELECT id FROM message WHERE contact_id = ${contactId}
  UNION
  SELECT message.id FROM conversation
  -- OFFSET 0 keeps the lookup by conversation: without statistics a join would read all messages.
  CROSS JOIN LATERAL (SELECT id FROM message WHERE conversation_id = conversation.id OFFSET 0) AS message
  WHERE conversation.contact_id = ${contactId}`;

/** Clears the messages whose ids the query returns. */
export async function clearMessages(connection: Connection, ids: Fragment): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE message SET phone_number = NULL, content = NULL, reason_detail = NULL, provider_message_id = NULL
    WHERE id = ANY (ARRAY(${ids}))`);
}

// Finds and clears the recipients of one person.

interface RecipientsOfPerson {
  readonly workspaceId: number;
  readonly contactId: string;
  /** A condition on recipients that have a number. */
  readonly isTheirs: FragmentSqlToken;
}

/**
 * A query of recipient ids. A row that repeats a number in a campaign's input was skipped without a contact. OFFSET 0 keeps one
 * lookup per campaign: a join may read all recipients. The callers compare ids with an array for the same reason.
 */
export const recipientsOf = ({
  workspaceId,
  contactId,
  isTheirs,
}: RecipientsOfPerson): FragmentSqlToken => sql.fragment`
  SELECT found.id FROM campaign CROSS JOIN LATERAL (
    SELECT id FROM recipient WHERE campaign_id = campaign.id AND sendable AND ${isTheirs}
    UNION ALL
    SELECT id FROM recipient WHERE campaign_id = campaign.id AND NOT sendable AND ${isTheirs} OFFSET 0
  ) AS found
  WHERE campaign.workspace_id = ${workspaceId}
  UNION
  SELECT id FROM recipient WHERE contact_id = ${contactId} AND NOT sendable
  UNION
  SELECT id FROM recipient WHERE contact_id = ${contactId} AND sendable AND phone_number IS NULL`;

/** Clears the recipients whose ids the query returns. */
export async function clearRecipients(connection: Connection, ids: FragmentSqlToken): Promise<void> {
  await connection.query(sql.type(nothing)`
    WITH found AS (
      UPDATE recipient SET phone_number = NULL, variables = NULL, reason_detail = NULL, provider_message_id = NULL
      WHERE id = ANY (ARRAY(${ids}))
      RETURNING old.id, hashtextextended(old.provider_message_id, 0) AS hash
    )
    -- One lookup per day since the recipient was created: by the hash alone, Postgres may read the whole table.
    DELETE FROM provider_message WHERE ctid = ANY (ARRAY(
      SELECT entry.ctid FROM found
      CROSS JOIN LATERAL generate_series(uuid_extract_timestamp(found.id)::date - 1, current_date + 1, interval '1 day') AS at
      CROSS JOIN LATERAL (
        SELECT ctid, recipient_id FROM provider_message WHERE day = at::date AND hash = found.hash OFFSET 0
      ) AS entry
      WHERE entry.recipient_id = found.id))`);
}
