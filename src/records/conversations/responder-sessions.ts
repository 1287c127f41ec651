import { sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

/** Ends the active sessions of a chatbot or an assistant; the conversation is manual from then on. Returns how many ended. */
export async function exitResponderSessions(connection: Connection, conversationId: string): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE responder_session SET status = 'exited', exited_at = now()
    WHERE conversation_id = ${conversationId} AND status = 'active'`);
  if (rowCount > 0)
    await connection.query(sql.type(nothing)`
      UPDATE conversation SET chat_mode = 'manual' WHERE id = ${conversationId}`);
  return rowCount;
}
