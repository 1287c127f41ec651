import { normalisePhoneNumber } from '../phone-number.ts';

/** A number in the form that contacts store; null and empty texts if there is none. */
export interface ContactNumber {
  /** E.164 digits. */
  readonly phoneNumber: string | null;
  /** Calling code. */
  readonly countryCode: string;
  /** ISO 3166 alpha-2. */
  readonly country: string;
}

/** Converts the provider's digits, which may be a former form of the number. Digits that fit no plan are kept. */
export function numberOfWaId(waId: string | null): ContactNumber {
  if (waId === null || !/^\d{5,15}$/.test(waId)) return { phoneNumber: null, countryCode: '', country: '' };
  const number = normalisePhoneNumber(`+${waId}`);
  return {
    phoneNumber: number?.digits ?? waId,
    countryCode: number?.countryCode ?? '',
    country: number?.country ?? '',
  };
}

/** Returns the ISO 3166 alpha-2 code at the beginning of a user id; '' if it has none. */
export function countryOfUserId(userId: string): string {
  return /^([A-Z]{2})\./.exec(userId)?.[1] ?? '';
}
