/** Domain errors as Temporal failures: what the caller caused will not go away by trying again. */
import { ApplicationFailure } from '@temporalio/activity';
import { Conflict, Invalid, NotFound } from '../domain/error.ts';

/** Runs an activity's work; a domain error becomes a failure that is not retried. */
export async function asActivity<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotFound || error instanceof Conflict || error instanceof Invalid) {
      throw ApplicationFailure.nonRetryable(error.message, error.name);
    }
    throw error;
  }
}
