import type { PreparationErrorCode } from '../campaigns/campaign.ts';
import { Failure } from '../error.ts';

/** Why an audience cannot be prepared; trying again does not help. Ends in the campaign's `preparation_error`. */
export class PreparationFailure extends Failure {
  readonly code: PreparationErrorCode;
  constructor(code: PreparationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
