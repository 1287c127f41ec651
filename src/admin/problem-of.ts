/** The sentence that a failed command prints: which server does not answer, or what the database lacks. */
import { isDatabaseAway, isForbidden, isTableMissing } from '../records/database/failure.ts';

// UNAVAILABLE and DEADLINE_EXCEEDED of gRPC.
const away: readonly unknown[] = [14, 4];

export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (isTableMissing(error)) return `The database lacks tables of this build (${message}): run migrate`;
  if (isForbidden(error))
    return `Postgres: ${message}. Migrate as the schema's owner (DATABASE_OWNER_URL), then run the command again`;
  const call = [error, cause].find(isOfTemporal);
  if (call !== undefined)
    return `Temporal (TEMPORAL_ADDRESS) ${away.includes(call.code) ? 'does not answer' : 'refuses'}: ${call.details}`;
  return isDatabaseAway(error) ? `Postgres (DATABASE_URL): ${message}` : message;
}

/** The SDK's error of a failed call, or the cause of its own errors. Importing the SDK would slow down every command. */
function isOfTemporal(error: unknown): error is { readonly code: number; readonly details: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'number' &&
    'details' in error &&
    'metadata' in error
  );
}
