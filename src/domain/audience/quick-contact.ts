/** An entry of `quick_contacts`: a phone number, followed by the values of the template's body variables in order. */
export interface QuickContact {
  readonly phone: string;
  readonly values: readonly string[];
}

const separators = /[,|;]/;

/**
 * The first separator after the number (comma, pipe or semicolon) separates the whole entry, so that a value may contain the
 * others. Empty values at the end count as not given.
 */
export function parseQuickContact(entry: string): QuickContact {
  const at = entry.search(separators);
  if (at === -1) return { phone: entry.trim(), values: [] };
  const values = entry
    .slice(at + 1)
    .split(entry.charAt(at))
    .map((value) => value.trim());
  while (values.at(-1) === '') values.pop();
  return { phone: entry.slice(0, at).trim(), values };
}
