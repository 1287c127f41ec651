/** Distinguishes an unavailable database from a wrong statement. */
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  StatementCancelledError,
  StatementTimeoutError,
  UniqueIntegrityConstraintViolationError,
} from 'slonik';
import { Conflict } from '../../domain/error.ts';

const classes = [
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  StatementCancelledError,
  StatementTimeoutError,
];

// Connection exceptions, insufficient resources, operator intervention, read-only standby, deadlock and serialisation.
const sqlStates = /^(?:08...|53...|57P..|25006|40001|40P01|55P03)$/;
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);
const driverMessages =
  /connection terminated|connection ended|not queryable|client is (?:pending destroy|destroyed)|timeout (?:exceeded|expired)|pool (?:has been|is being) (?:terminated|destroyed|closed)/i;

/** Returns true if the same request may succeed a little later. Looks through `cause`. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return someLink(error, (link) => classes.some((known) => link instanceof known) || isConnectionFault(link));
}

// Codes of deadlocks, serialization failures and timeouts. After enough retries the statement itself is at fault.
const ofStatement = /^(?:40001|40P01|55P03|57014)$/;

/** Returns true if Postgres is gone, full, read-only or out of connections. */
export function isDatabaseAway(error: unknown): boolean {
  return isDatabaseUnavailable(error) && !someLink(error, ({ code }) => ofStatement.test(String(code)));
}

// Lock timeout and deadlock.
const ofLock = /^(?:55P03|40P01)$/;

/**
 * True when another transaction held a lock longer than this one may wait, or waits for ours: retry the whole transaction later,
 * because a savepoint releases only what was locked after it.
 */
export function isLockHeld(error: unknown): boolean {
  return someLink(error, ({ code }) => ofLock.test(String(code)));
}

/** True when Postgres ended a statement at its time limit. */
export function isStatementTooLong(error: unknown): boolean {
  return someLink(error, ({ code }) => code === '57014');
}

/** True when the database is older than this build. */
export function isTableMissing(error: unknown): boolean {
  return someLink(error, ({ code }) => code === '42P01');
}

/** The role lacks a right: a migration was run by a role other than the schema's owner, or has not granted it yet. */
export function isForbidden(error: unknown): boolean {
  return someLink(error, ({ code }) => code === '42501');
}

const causesBySqlState: Readonly<Record<string, DatabaseErrorCause>> = {
  '53100': 'disk_full',
  '25006': 'read_only',
  '53300': 'connections',
};
export const databaseErrorCauses = ['disk_full', 'read_only', 'connections'] as const;
export type DatabaseErrorCause = (typeof databaseErrorCauses)[number];

/** Why Postgres itself could not run a statement; undefined for every other error. */
export function databaseErrorCause({ code }: { readonly code?: unknown }): DatabaseErrorCause | undefined {
  return typeof code === 'string' ? causesBySqlState[code] : undefined;
}

export function isDiskFull(error: unknown): boolean {
  return someLink(error, (link) => databaseErrorCause(link) === 'disk_full');
}

type Link = Error & { readonly code?: unknown };

function someLink(error: unknown, holds: (link: Link) => boolean): boolean {
  let present = error;
  for (let depth = 0; depth < 8 && present instanceof Error; depth += 1) {
    const link: Link = present;
    if (holds(link)) return true;
    if (link instanceof AggregateError && link.errors.some((inner) => someLink(inner, holds))) return true;
    present = link.cause;
  }
  return false;
}

function isConnectionFault(error: Link): boolean {
  const { code } = error;
  if (typeof code === 'string' && (sqlStates.test(code) || networkCodes.has(code))) return true;
  return driverMessages.test(error.message);
}

/** For `catch`: turns a unique violation into a Conflict with this message. */
export const asConflict =
  (message: string) =>
  (error: unknown): never => {
    throw error instanceof UniqueIntegrityConstraintViolationError ? new Conflict(message) : error;
  };
