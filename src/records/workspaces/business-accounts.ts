import { sql } from 'slonik';
import * as t from 'io-ts';
import { Conflict } from '../../domain/error.ts';
import type { Connection } from '../database/database.ts';
import { nothing, row, timestamp, nullable } from '../database/row.ts';

const Owner = row(t.type({ workspaceId: t.number }));

/** Registers the provider's business account for the workspace; throws Conflict when another workspace has it. */
export async function registerBusinessAccount(
  connection: Connection,
  workspaceId: number,
  businessAccountId: string,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    INSERT INTO business_account (id, workspace_id) VALUES (${businessAccountId}, ${workspaceId})
    ON CONFLICT (id) DO NOTHING`);
  const owner = await connection.oneFirst(sql.type(Owner)`
    SELECT workspace_id AS "workspaceId" FROM business_account WHERE id = ${businessAccountId}`);
  if (owner !== workspaceId) throw new Conflict('The business account belongs to another workspace');
}

const BusinessAccount = t.type({
  id: t.string,
  workspaceId: t.number,
  templatesSyncedAt: nullable(timestamp),
});
export type BusinessAccount = t.TypeOf<typeof BusinessAccount>;

const selection = sql.fragment`id, workspace_id AS "workspaceId", templates_synced_at AS "templatesSyncedAt"`;

/** Business accounts of one workspace. */
export function listBusinessAccounts(connection: Connection, workspaceId: number) {
  return connection.any(sql.type(row(BusinessAccount))`
    SELECT ${selection} FROM business_account WHERE workspace_id = ${workspaceId} ORDER BY id`);
}

/** Business accounts of every workspace, behind `afterId`. */
export function listAllBusinessAccounts(connection: Connection, afterId = '') {
  return connection.any(sql.type(row(BusinessAccount))`
    SELECT ${selection} FROM business_account WHERE id > ${afterId} ORDER BY id`);
}

/** Finds an account of any workspace: provider callbacks do not name one. */
export async function findBusinessAccount(
  connection: Connection,
  businessAccountId: string,
): Promise<BusinessAccount | undefined> {
  const found = await connection.maybeOne(sql.type(row(BusinessAccount))`
    SELECT ${selection} FROM business_account WHERE id = ${businessAccountId}`);
  return found ?? undefined;
}

export async function markTemplatesSynced(connection: Connection, businessAccountId: string): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE business_account SET templates_synced_at = now() WHERE id = ${businessAccountId}`);
}

const Zone = row(t.type({ name: t.string }));

/**
 * Keeps what is known where the provider says nothing. Wallets take the currency as long as nothing was ever booked: amounts of
 * one wallet are all in one currency. A time zone that Postgres does not know is not saved, because every statement that names it
 * would fail; returns false then.
 */
export async function saveAccountTerms(
  connection: Connection,
  businessAccountId: string,
  { currency, timeZone }: { readonly currency: string | null; readonly timeZone: string | null },
): Promise<boolean> {
  const zone =
    timeZone === null
      ? null
      : await connection.maybeOneFirst(
          sql.type(Zone)`SELECT name FROM pg_timezone_names WHERE name = ${timeZone}`,
        );
  const isKnown = timeZone === null || zone !== null;
  await connection.query(sql.type(nothing)`
    UPDATE business_account SET currency = coalesce(${currency}, currency), time_zone = coalesce(${zone}, time_zone)
    WHERE id = ${businessAccountId}
      AND (currency, time_zone) IS DISTINCT FROM (coalesce(${currency}, currency), coalesce(${zone}, time_zone))`);
  if (currency === null) return isKnown;
  await connection.query(sql.type(nothing)`
    UPDATE wallet SET currency = ${currency}, updated_at = now()
    WHERE channel_id IN (SELECT id FROM channel WHERE business_account_id = ${businessAccountId})
      AND currency <> ${currency} AND balance = 0 AND reserved = 0
      AND NOT EXISTS (SELECT FROM ledger_entry WHERE ledger_entry.channel_id = wallet.channel_id)`);
  return isKnown;
}

const Limit = row(t.type({ limit: nullable(t.number) }));

/** Different people whom the account may message in 24 hours; null: no limit. */
export function getMessagingLimit(connection: Connection, businessAccountId: string): Promise<number | null> {
  return connection.oneFirst(sql.type(Limit)`
    SELECT messaging_limit AS "limit" FROM business_account WHERE id = ${businessAccountId}`);
}

/** A report of the provider about an account. */
export interface AccountNotice {
  readonly field: string;
  readonly event: string;
  /** Holds no phone numbers and no personal data. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** By the provider's clock. */
  readonly reportedAt: Date;
}

/** Notes the time of a report on whether the account may send. False, and nothing changes, if a newer one is known. */
export async function advanceBlockReport(
  connection: Connection,
  businessAccountId: string,
  reportedAt: Date,
): Promise<boolean> {
  const at = sql.fragment`${reportedAt.toISOString()}::timestamptz`;
  const { rowCount } = await connection.query(sql.type(nothing)`
    UPDATE business_account SET block_reported_at = ${at}
    WHERE id = ${businessAccountId} AND (block_reported_at IS NULL OR block_reported_at <= ${at})`);
  return rowCount > 0;
}

/** Keeps the newest notice. */
export async function noteAccountNotice(
  connection: Connection,
  businessAccountId: string,
  { field, event, facts, reportedAt }: AccountNotice,
): Promise<void> {
  await connection.query(sql.type(nothing)`
    UPDATE business_account SET notice = ${sql.jsonb({ ...facts, field, event, at: reportedAt.toISOString() } as never)}
    WHERE id = ${businessAccountId} AND COALESCE(notice ->> 'at', '') <= ${reportedAt.toISOString()}`);
}
