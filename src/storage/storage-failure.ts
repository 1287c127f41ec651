import { Failure } from '../domain/error.ts';

/** The file storage is unreachable or refuses access. The message is for the operator's log. */
export class StorageFailure extends Failure {}
