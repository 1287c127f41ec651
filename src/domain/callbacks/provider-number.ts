import { normalisePhoneNumber } from '../phone-number.ts';

/** A number as contacts hold it; all empty when there is none. */
export interface ContactNumber {
  /** E.164 digits. */
  readonly phoneNumber: string | null;
  /** Calling code. */
  readonly countryCode: string;
  /** ISO 3166 alpha-2. */
  readonly country: string;
}

/**
 * The number that the provider's digits stand for. Its ids keep what numbering plans have given up: Mexican mobiles have a 1
 * behind the calling code, and those of Brazil may lack the ninth digit. One that no plan knows is kept as it is.
 */
export function numberOfWaId(waId: string | null): ContactNumber {
  if (waId === null || !/^\d{5,15}$/.test(waId)) return { phoneNumber: null, countryCode: '', country: '' };
  const present = waId.replace(/^521(?=\d{10}$)/, '52').replace(/^(55\d{2})(?=[6-9]\d{7}$)/, '$19');
  const number = normalisePhoneNumber(`+${waId}`) ?? normalisePhoneNumber(`+${present}`);
  return {
    phoneNumber: number?.digits ?? waId,
    countryCode: number?.countryCode ?? '',
    country: number?.country ?? '',
  };
}

/** ISO 3166 alpha-2, with which a user id begins; '' where it does not. */
export function countryOfUserId(userId: string): string {
  return /^([A-Z]{2})\./.exec(userId)?.[1] ?? '';
}
