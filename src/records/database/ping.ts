import * as t from 'io-ts';
import { sql } from 'slonik';
import type { Connection } from './database.ts';
import { row } from './row.ts';

const Ping = row(t.type({ present: t.boolean }));

/** Rejects when the database does not answer. */
export async function pingDatabase(connection: Connection): Promise<void> {
  await connection.one(sql.type(Ping)`SELECT true AS present`);
}
