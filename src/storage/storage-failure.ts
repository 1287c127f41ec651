import { Failure } from '../domain/error.ts';

/** The file storage is away or refuses access. The message is for the operator's log. */
export class StorageFailure extends Failure {}
