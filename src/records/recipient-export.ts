/**
 * The recipients of a campaign as CSV, written by Postgres itself. One short statement per page of positions, read to its end
 * before it is passed on: a client that takes its time holds neither a transaction nor, after a moment, a connection.
 */
import { openLoadConnection, type LoadConnection } from './load-connection.ts';
import type { RecipientFilter } from './recipient-report.ts';

export type ExportFilter = Omit<RecipientFilter, 'limit'>;

const positionsPerPage = 20_000;
const idleMs = 1_000;

const columns =
  'id, phone_number, contact_id, state, reason, reason_detail, line_number, message_id, provider_message_id, updated_at';

/** A text that a spreadsheet would run as a formula gets an apostrophe in front. */
const safe = (column: string): string =>
  `CASE WHEN ${column} ~ '^[=+@\\t\\n\\r＝＋－＠-]' THEN '''' || ${column} ELSE ${column} END`;

// COPY takes no parameters: they are settings of the connection.
const setFilter = `
  SELECT set_config('export.campaign_id', $1::uuid::text, false), set_config('export.states', $2::text[]::text, false),
    set_config('export.reasons', $3::text[]::text, false)`;

// In a subquery, a setting is looked at once and not for every row.
function conditions({ states, reasons }: ExportFilter): string {
  const all = [`campaign_id = (SELECT current_setting('export.campaign_id')::uuid)`];
  if (states.length > 0) all.push(`state = ANY ((SELECT current_setting('export.states'))::text[])`);
  if (reasons.length > 0) all.push(`reason = ANY ((SELECT current_setting('export.reasons'))::text[])`);
  return all.join(' AND ');
}

// The recipient's id is the message's: a skipped or cancelled one never became a message.
const copyPage = (filter: ExportFilter, after: number): string => `
  COPY (
    SELECT id, phone_number, contact_id, state, reason, ${safe('reason_detail')}, line_number,
      CASE WHEN state NOT IN ('PENDING', 'SKIPPED', 'CANCELLED') THEN id END,
      ${safe('provider_message_id')}, to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    FROM recipient
    WHERE ${conditions(filter)} AND position > ${after} AND position <= ${after + positionsPerPage}
    ORDER BY position
  ) TO STDOUT (FORMAT csv)`;

/** UTF-8, the header first, in order of position. */
export async function* exportRecipients(
  databaseUrl: string,
  filter: ExportFilter,
): AsyncGenerator<Buffer | string> {
  const connections = lendConnection(databaseUrl, filter);
  try {
    const last = await connections.lend(lastPosition);
    const read = (after: number): Promise<readonly Buffer[]> =>
      connections.lend((connection) => collect(connection.copyOut(copyPage(filter, after))));
    yield `${columns.replaceAll(' ', '')}\n`;
    let page = last > filter.afterPosition ? read(filter.afterPosition) : undefined;
    for (let after = filter.afterPosition; page !== undefined; after += positionsPerPage) {
      const chunks = await page;
      const following = after + positionsPerPage;
      // The next page is on its way while this one is taken.
      page = following < last ? read(following) : undefined;
      page?.catch(() => undefined);
      yield* chunks;
    }
  } finally {
    connections.close();
  }
}

async function lastPosition(connection: LoadConnection): Promise<number> {
  const [[last] = [null]] = await connection.rows<[number | null]>(
    `SELECT max(position) FROM recipient WHERE campaign_id = current_setting('export.campaign_id')::uuid`,
  );
  return last ?? 0;
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<readonly Buffer[]> {
  const collected: Buffer[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

interface LentConnection {
  /** One piece of work at a time. */
  readonly lend: <T>(work: (connection: LoadConnection) => Promise<T>) => Promise<T>;
  readonly close: () => void;
}

/** A connection that is opened when it is needed and closed when it was not for a moment. */
function lendConnection(databaseUrl: string, filter: ExportFilter): LentConnection {
  let connection: LoadConnection | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  const close = (): void => {
    clearTimeout(idle);
    connection?.destroy();
    connection = undefined;
  };
  const open = async (): Promise<LoadConnection> => {
    const opened = await openLoadConnection(databaseUrl, 'export-recipients');
    try {
      await opened.rows(setFilter, [filter.campaignId, filter.states, filter.reasons]);
    } catch (error) {
      opened.destroy();
      throw error;
    }
    return opened;
  };
  return {
    async lend(work) {
      clearTimeout(idle);
      try {
        connection ??= await open();
        return await work(connection);
      } finally {
        if (isClosed) close();
        else idle = setTimeout(close, idleMs);
      }
    },
    close() {
      isClosed = true;
      close();
    },
  };
}
