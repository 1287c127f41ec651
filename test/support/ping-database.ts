import * as t from 'io-ts';
import { sql } from 'slonik';
import type { Connection } from '../../src/records/database/database.ts';
import { row } from '../../src/records/database/row.ts';

const Ping = row(t.type({ present: t.boolean }));

/** Rejects when the database does not answer. */
export async function pingDatabase(connection: Connection): Promise<void> {
  await connection.one(sql.type(Ping)`SELECT true AS present`);
}
