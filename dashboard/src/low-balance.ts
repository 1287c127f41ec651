/** Available amount below which the wallet warns; the setting is kept in this browser. */
const keyOf = (channelId: string): string => `low-balance-${channelId}`;
const defaultLimit = 10;

export function lowBalanceLimit(channelId: string): number {
  const kept = localStorage.getItem(keyOf(channelId));
  const limit = Number(kept);
  return kept === null || !Number.isFinite(limit) ? defaultLimit : limit;
}

export const setLowBalanceLimit = (channelId: string, limit: number): void =>
  localStorage.setItem(keyOf(channelId), String(limit));
