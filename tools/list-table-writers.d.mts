/** The page with its table as it must be. */
export function withTableWriters(text: string): string;
