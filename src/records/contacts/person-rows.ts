/** Finds and clears the messages of one person outside campaigns. */
import { sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

type Fragment = ReturnType<typeof sql.fragment>;

interface Person {
  readonly workspaceId: number;
  /** A value of type uuid. */
  readonly contactId: Fragment;
  /** A condition on messages that have a number. */
  readonly isTheirs: Fragment;
}

/** A query of message ids, by number, by contact, which may have had another number, and by conversation; each part uses an index. */
export const messagesOf = ({ workspaceId, contactId, isTheirs }: Person): Fragment => sql.fragment`
  SELECT id FROM message WHERE workspace_id = ${workspaceId} AND ${isTheirs}
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
