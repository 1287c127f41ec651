/**
 * The recipients of a campaign as CSV, written by Postgres itself. One short transaction per page of positions, read to its
 * end before it is passed on: a slow client occupies neither a transaction nor a connection.
 */
import { Readable } from 'node:stream';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { createKeyedSemaphore, type KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import { Overloaded } from '../../domain/error.ts';
import type { RecipientFilter } from './recipient-report.ts';

export type ExportFilter = Omit<RecipientFilter, 'limit'>;

/** Asked before each page after the first: false ends the export without its end. */
export type StillAllowed = () => Promise<boolean>;

export interface RecipientExport {
  /**
   * CSV in UTF-8, the header first, in order of position. Throws Overloaded when the workspace reads as many
   * exports as it may; an export counts until its stream is closed.
   */
  readonly read: (workspaceId: number, filter: ExportFilter, isStillAllowed?: StillAllowed) => Readable;
  readonly end: () => Promise<void>;
}

// Slonik's pool offers no COPY. Concurrent exports share these connections, page by page.
const connections = 4;
/** Exports of one workspace at a time; their pages take no more of the connections than they leave free. */
const mostExports = 4;

const positionsPerPage = 20_000;
const idleMs = 2_000;
const pageTimeoutMs = 15_000;

const columns =
  'id,phone_number,contact_id,state,reason,reason_detail,line_number,message_id,provider_message_id,updated_at';

/** Puts an apostrophe in front of text that a spreadsheet would run as a formula. */
const safe = (column: string): string =>
  `CASE WHEN ${column} ~ '^[=+@\\t\\n\\r＝＋－＠-]' THEN '''' || ${column} ELSE ${column} END`;

const iso = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

// The settings end with their transaction, because a pooler may give the session to another process afterwards.
const begin = `BEGIN READ ONLY; SET LOCAL statement_timeout = ${pageTimeoutMs}`;

// COPY takes no parameters: they are passed as settings of its transaction.
const setFilter = `
  SELECT set_config('export.campaign_id', $1::uuid::text, true), set_config('export.states', $2::text[]::text, true),
    set_config('export.reasons', $3::text[]::text, true), set_config('export.phone_numbers', $4::text[]::text, true)`;

// In a subquery, Postgres reads a setting once and not for every row.
function conditions({ states, reasons, phoneNumbers }: ExportFilter): string {
  const all = [`campaign_id = (SELECT current_setting('export.campaign_id')::uuid)`];
  if (states.length > 0) all.push(`state = ANY ((SELECT current_setting('export.states'))::text[])`);
  if (reasons.length > 0) all.push(`reason = ANY ((SELECT current_setting('export.reasons'))::text[])`);
  if (phoneNumbers !== undefined)
    all.push(`phone_number = ANY ((SELECT current_setting('export.phone_numbers'))::text[])`);
  return all.join(' AND ');
}

// The recipient's id is the message's: a skipped or cancelled one never became a message.
const copyPage = (filter: ExportFilter, after: number): string => `
  COPY (
    SELECT id, phone_number, contact_id, state, reason, ${safe('reason_detail')}, line_number,
      CASE WHEN state NOT IN ('PENDING', 'SKIPPED', 'CANCELLED') THEN id END,
      ${safe('provider_message_id')}, ${iso('updated_at')}
    FROM recipient
    WHERE ${conditions(filter)} AND position > ${after} AND position <= ${after + positionsPerPage}
    ORDER BY position
  ) TO STDOUT (FORMAT csv)`;

/** Connects when it is read from, not before. */
export function createRecipientExport(databaseUrl: string): RecipientExport {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connections,
    idleTimeoutMillis: idleMs,
    application_name: 'export-recipients',
  });
  // Losing an idle connection needs no action.
  pool.on('error', () => undefined);
  const slots = createKeyedSemaphore({ total: connections, perKey: 'what it leaves', waiting: Infinity });
  const open = new Map<number, number>();
  return {
    read(workspaceId, filter, isStillAllowed = async () => true) {
      const others = open.get(workspaceId) ?? 0;
      if (others >= mostExports)
        throw new Overloaded(`A workspace can have at most ${mostExports} exports at a time`, 5);
      open.set(workspaceId, others + 1);
      const content = Readable.from(readPages({ pool, slots, workspaceId }, filter, isStillAllowed));
      return content.once('close', () => {
        const left = (open.get(workspaceId) ?? 1) - 1;
        if (left === 0) open.delete(workspaceId);
        else open.set(workspaceId, left);
      });
    },
    end: () => pool.end(),
  };
}

interface Source {
  readonly pool: pg.Pool;
  readonly slots: KeyedSemaphore;
  readonly workspaceId: number;
}

async function* readPages(
  source: Source,
  filter: ExportFilter,
  isStillAllowed: StillAllowed,
): AsyncGenerator<Buffer | string> {
  const last = await lastPosition(source, filter);
  const read = (after: number): Promise<readonly Buffer[]> | undefined =>
    after < last ? readPage(source, filter, after) : undefined;
  yield `${columns}\n`;
  let { afterPosition } = filter;
  let page = read(afterPosition);
  while (page !== undefined) {
    const chunks = await page;
    afterPosition += positionsPerPage;
    // Fetches the next page while the client reads this one.
    page = read(afterPosition);
    page?.catch(() => undefined);
    yield* chunks;
    // A broken connection, since a file that merely ends looks whole.
    if (page !== undefined && !(await isStillAllowed()))
      throw new Error('The key of this export is not valid any more');
  }
}

function lastPosition(source: Source, { campaignId }: ExportFilter): Promise<number> {
  return inTransaction(source, async (client) => {
    const { rows } = await client.query<{ last: number | null }>(
      'SELECT max(position) AS last FROM recipient WHERE campaign_id = $1',
      [campaignId],
    );
    return rows[0]?.last ?? 0;
  });
}

function readPage(source: Source, filter: ExportFilter, after: number): Promise<readonly Buffer[]> {
  return inTransaction(source, async (client) => {
    const { campaignId, states, reasons, phoneNumbers = [] } = filter;
    await client.query(setFilter, [campaignId, states, reasons, phoneNumbers]);
    const chunks: Buffer[] = [];
    for await (const chunk of client.query(copyTo(copyPage(filter, after)))) chunks.push(chunk as Buffer);
    return chunks;
  });
}

/** A connection whose work failed is closed, and its transaction with it. */
async function inTransaction<T>(
  { pool, slots, workspaceId }: Source,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const release = await slots.acquire([workspaceId]);
  try {
    return await onConnection(await pool.connect(), work);
  } finally {
    release?.();
  }
}

async function onConnection<T>(
  client: pg.PoolClient,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  let isWhole = false;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    isWhole = true;
    return result;
  } finally {
    client.release(!isWhole);
  }
}
