/** Names every table that contains the text in any column, as text or as bytes. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import type { Connection } from '../../src/records/database/database.ts';
import { row } from '../../src/records/database/row.ts';

export async function tablesWith(connection: Connection, text: string): Promise<readonly string[]> {
  const tables = await connection.anyFirst(sql.type(row(t.type({ name: t.string })))`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`);
  const found: string[] = [];
  const hex = Buffer.from(text).toString('hex');
  for (const name of tables) {
    const count = await connection.oneFirst(sql.type(row(t.type({ count: t.number })))`
      SELECT count(*)::int AS count FROM ${sql.identifier([name])} AS line
      WHERE to_jsonb(line)::text LIKE ${`%${text}%`} OR to_jsonb(line)::text LIKE ${`%${hex}%`}`);
    if (count > 0) found.push(name);
  }
  return found.toSorted();
}
