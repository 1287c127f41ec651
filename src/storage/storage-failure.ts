import { Failure } from '../domain/error.ts';

/** The store of uploaded files cannot be used: away, or it refuses us. The message is for the operator's log. */
export class StorageFailure extends Failure {}
