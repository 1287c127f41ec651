/**
 * Number of rows in the tables on which query plans are checked. `HISTORY_ROWS=10000000` is the size of production and takes ten
 * minutes per test file.
 */
export const historyRows = Number(process.env['HISTORY_ROWS'] ?? 30_000);
export const historyTimeoutMs = Math.max(120_000, historyRows / 5);
