/** Of a history that plans are shown on; `HISTORY_ROWS=10000000` for one as large as production's, some ten minutes for each file. */
export const historyRows = Number(process.env['HISTORY_ROWS'] ?? 30_000);
export const historyTimeoutMs = Math.max(120_000, historyRows / 5);
