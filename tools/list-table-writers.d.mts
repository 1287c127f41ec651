/** Returns the page with an up-to-date table of which file writes which table. */
export function withTableWriters(text: string): string;
