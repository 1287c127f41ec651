/** Messages of a workspace's month as CSV, written by Postgres page by page: no transaction lasts longer than a page. */
import { openLoadConnection } from '../database/load-connection.ts';

export interface MonthOfMessages {
  readonly workspaceId: number;
  /** `2026-03`, in UTC. */
  readonly month: string;
}

const perPage = 1_000;

const columns =
  'id,channel_id,direction,source,contact_id,conversation_id,campaign_id,template_id,phone_number,country,type,content,' +
  'state,reason,reason_detail,price,settlement,provider_message_id,provider_timestamp,created_at,updated_at';

/** A place in the order of creation. Text keeps the microseconds of Postgres. */
type CreationPosition = readonly [createdAt: string, id: string];

const inMonth = `workspace_id = $1 AND created_at >= to_date($2, 'YYYY-MM')::timestamp AT TIME ZONE 'UTC'
  AND created_at < (to_date($2, 'YYYY-MM')::timestamp + interval '1 month') AT TIME ZONE 'UTC'
  AND (created_at, id) > ($3::timestamptz, $4::uuid)`;
const start: CreationPosition = ['-infinity', '00000000-0000-0000-0000-000000000000'];

// COPY takes no parameters: they are passed as settings of its transaction.
const setPage = `
  SELECT set_config('archive.workspace_id', $1::text, true), set_config('archive.after', $2, true),
    set_config('archive.after_id', $3, true), set_config('archive.until', $4, true), set_config('archive.until_id', $5, true)`;
const copyPage = `
  COPY (
    SELECT ${columns} FROM message
    WHERE workspace_id = (SELECT current_setting('archive.workspace_id')::int)
      AND (created_at, id) > (
        (SELECT current_setting('archive.after')::timestamptz), (SELECT current_setting('archive.after_id')::uuid))
      AND (created_at, id) <= (
        (SELECT current_setting('archive.until')::timestamptz), (SELECT current_setting('archive.until_id')::uuid))
    ORDER BY created_at, id
  ) TO STDOUT (FORMAT csv)`;

/** Yields CSV in UTF-8: the header, then the messages in order of creation. */
export async function* readMessagesOfMonth(
  databaseUrl: string,
  { workspaceId, month }: MonthOfMessages,
): AsyncGenerator<Buffer | string> {
  yield `${columns}\n`;
  let after: CreationPosition | undefined = start;
  while (after !== undefined) {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(
      databaseUrl,
      { workspaceId, month },
      after,
    );
    yield* page.chunks;
    after = page.next;
  }
}

async function readPage(
  databaseUrl: string,
  { workspaceId, month }: MonthOfMessages,
  after: CreationPosition,
): Promise<{ readonly chunks: readonly Buffer[]; readonly next: CreationPosition | undefined }> {
  const connection = await openLoadConnection(databaseUrl, 'archive-messages');
  try {
    const places = await connection.rows<[...CreationPosition]>(
      `SELECT created_at::text, id FROM message WHERE ${inMonth} ORDER BY created_at, id LIMIT ${perPage}`,
      [workspaceId, month, ...after],
    );
    const last = places.at(-1);
    const chunks: Buffer[] = [];
    if (last !== undefined) {
      // Times are written the same, whatever the server's time zone is.
      await connection.rows(`SET LOCAL TimeZone = 'UTC'`);
      await connection.rows(setPage, [workspaceId, ...after, ...last]);
      for await (const chunk of connection.copyOut(copyPage)) chunks.push(chunk);
    }
    await connection.commit();
    return { chunks, next: places.length === perPage ? last : undefined };
  } finally {
    connection.destroy();
  }
}
