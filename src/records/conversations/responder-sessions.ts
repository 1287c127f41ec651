import { sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

/** Chatbots and assistants leave the conversation. Returns how many sessions ended. */
export async function exitResponderSessions(connection: Connection, conversationId: string): Promise<number> {
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE responder_session SET status = 'exited', exited_at = now()
    WHERE conversation_id = ${conversationId} AND status = 'active'`);
  return rowCount;
}
