import type { PreparationErrorCode } from '../campaigns/campaign.ts';
import { Failure } from '../error.ts';

/** Why an audience cannot be prepared. Retries do not help; it becomes the campaign's `preparation_error`. */
export class PreparationFailure extends Failure {
  readonly code: PreparationErrorCode;
  constructor(code: PreparationErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Failure of an audience without recipients; `skipped`: rows by reason. */
export function emptyAudience(skipped: readonly (readonly [string, number])[]): string {
  const nobody = 'The audience holds nobody to send to';
  if (skipped.length === 0) return nobody;
  const rows = skipped.reduce((sum, [, count]) => sum + count, 0);
  return `${nobody}: ${rows === 1 ? 'its only row was' : `all ${rows} rows were`} skipped: ${skipped.map(([reason, count]) => `${count} ${reason}`).join(', ')}`;
}
