import { ApplicationFailure } from '@temporalio/activity';
import { Conflict, Invalid, NotFound } from '../domain/error.ts';

/** Runs an activity's work; a domain error becomes a failure that Temporal does not retry: the same input would fail again. */
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
