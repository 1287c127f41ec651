/** States and reasons of a recipient: a contact inside one campaign. Imports neither io-ts nor Node. */

export const recipientStates = [
  'PENDING',
  'CLAIMED',
  'ACCEPTED',
  'SENT',
  'DELIVERED',
  'READ',
  'FAILED',
  'UNKNOWN',
  'CANCELLED',
  'SKIPPED',
] as const;
export type RecipientState = (typeof recipientStates)[number];

export const skipReasons = [
  'INVALID_PHONE',
  'DUPLICATE',
  'UNSUBSCRIBED',
  'CONTACT_DELETED',
  'MISSING_VARIABLE',
  'TEXT_TOO_LONG',
  'MALFORMED_ROW',
  'BLOCKED_COUNTRY',
  'MARKETING_NOT_DELIVERED_TO_COUNTRY',
  'RESTED_24H',
  'NO_CHANCE',
  'NO_CONSENT',
  'FREQUENCY_CAP',
] as const;
export type SkipReason = (typeof skipReasons)[number];

/** Returns the reason for a message that the provider refused or later failed with this code. */
export function providerReason(code: number): string {
  return `PROVIDER_${code}`;
}

/** Provider statuses as bits of `statuses_seen`. */
export const statusBits = { sent: 1, delivered: 2, read: 4, failed: 8 } as const;
export type ProviderStatus = keyof typeof statusBits;

const rank: Partial<Record<RecipientState, number>> = {
  PENDING: 0,
  CLAIMED: 1,
  UNKNOWN: 1,
  ACCEPTED: 2,
  SENT: 3,
  FAILED: 4,
  DELIVERED: 5,
  READ: 6,
};

const stateOf = { sent: 'SENT', delivered: 'DELIVERED', read: 'READ', failed: 'FAILED' } as const;

/**
 * Returns the state after a provider status. States only rise in rank, so statuses may arrive in any order. FAILED ranks
 * above SENT and below DELIVERED: a message that did arrive counts as arrived.
 */
export function stateAfterStatus(state: RecipientState, status: ProviderStatus): RecipientState {
  const present = rank[state];
  const reached = stateOf[status];
  return present !== undefined && (rank[reached] ?? 0) > present ? reached : state;
}
