/** Finds the messages of one person outside campaigns. */
import { sql } from 'slonik';

type Fragment = ReturnType<typeof sql.fragment>;

interface Person {
  readonly workspaceId: number;
  /** A value of type uuid. */
  readonly contactId: Fragment;
  /** A value of type text; NULL for a person who is known by a user id alone. */
  readonly phoneNumber: Fragment;
}

/** A query of message ids, by number, by contact where a message has no number, and by conversation; each part uses an index. */
export const messagesOf = ({ workspaceId, contactId, phoneNumber }: Person): Fragment => sql.fragment`
  SELECT id FROM message WHERE workspace_id = ${workspaceId} AND phone_number = ${phoneNumber}
  UNION
  SELECT id FROM message WHERE contact_id = ${contactId} AND phone_number IS NULL
  UNION
  SELECT message.id FROM conversation JOIN message ON message.conversation_id = conversation.id
  WHERE conversation.contact_id = ${contactId}`;
