/** Maps errors of Postgres and of its connection to the Slonik errors that records/ handles. */
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  CheckExclusionConstraintViolationError,
  CheckIntegrityConstraintViolationError,
  ForeignKeyIntegrityConstraintViolationError,
  IdleTransactionTimeoutError,
  InputSyntaxError,
  InvalidInputError,
  NotNullIntegrityConstraintViolationError,
  StatementCancelledError,
  StatementTimeoutError,
  UniqueIntegrityConstraintViolationError,
} from 'slonik';

type Read = (error: Error, text: string) => Error;

const bySqlState: Readonly<Record<string, Read>> = {
  '22P02': (error) => new InvalidInputError(error.message, { cause: error }),
  '23502': (error) => new NotNullIntegrityConstraintViolationError(error),
  '23503': (error) => new ForeignKeyIntegrityConstraintViolationError(error),
  '23505': (error) => new UniqueIntegrityConstraintViolationError(error),
  '23514': (error) => new CheckIntegrityConstraintViolationError(error),
  '23P01': (error) => new CheckExclusionConstraintViolationError(error),
  '25P03': (error) => new IdleTransactionTimeoutError(error),
  '42601': (error, text) => new InputSyntaxError(error, { sql: text, values: [] }),
  // Postgres uses one code for both; the messages differ.
  '57014': (error) =>
    error.message.includes('user request')
      ? new StatementCancelledError(error)
      : new StatementTimeoutError(error),
  '57P01': (error) => new BackendTerminatedError(error),
};

/**
 * Removes values from an error, because they are personal data and must not be logged. Postgres adds the refused row or COPY
 * line to an error, and quotes the value in the message of a data exception (class 22).
 */
export function withoutRow<E extends Error & { readonly code?: unknown }>(error: E): E {
  if (typeof error.code === 'string' && error.code.startsWith('22')) {
    const message = `Postgres refuses a value (${error.code})`;
    Object.assign(error, { message, stack: error.stack?.replace(error.message, () => message) });
  }
  for (const field of ['detail', 'where']) if (field in error) Object.assign(error, { [field]: undefined });
  return error;
}

/** `text`: the statement, where there is one. An error that the table does not know stays as it is. */
export function readDriverError(error: Error & { readonly code?: unknown }, text = ''): Error {
  if (error.message.startsWith('Connection terminated'))
    return error.message.includes('unexpectedly')
      ? new BackendTerminatedUnexpectedlyError(error)
      : new BackendTerminatedError(error);
  withoutRow(error);
  const read = typeof error.code === 'string' ? bySqlState[error.code] : undefined;
  return read?.(error, text) ?? error;
}
