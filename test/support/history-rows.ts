/**
 * Rows of the history that plans are checked on. `HISTORY_ROWS=10000000` is production's size and takes ten minutes per file.
 */
export const historyRows = Number(process.env['HISTORY_ROWS'] ?? 30_000);
export const historyTimeoutMs = Math.max(120_000, historyRows / 5);
