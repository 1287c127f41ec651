import type { PreparationErrorCode } from '../campaigns/campaign.ts';

/** Why an audience cannot be prepared; trying again does not help. Ends in the campaign's `preparation_error`. */
export class PreparationFailure extends Error {
  readonly code: PreparationErrorCode;
  constructor(code: PreparationErrorCode, message: string) {
    super(message);
    this.name = 'PreparationFailure';
    this.code = code;
  }
}
