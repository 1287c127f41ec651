const latestEpochSeconds = 253_402_300_799;

/** Reads the provider's seconds since 1970; null if the text is invalid or beyond the year 9999. */
export function epochSeconds(text: string | null): Date | null {
  const seconds = text !== null && /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  return seconds <= latestEpochSeconds ? new Date(seconds * 1000) : null;
}
