/** Converts domain errors to Temporal failures that are not retried: the same input would fail again. */
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
