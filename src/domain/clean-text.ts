import { hash } from 'node:crypto';

/**
 * Makes the provider's text fit for a text column: JSON may contain U+0000 and lone surrogates, but Postgres cannot store
 * them. Cuts the text to `limit` code units.
 */
export function cleanText(text: string, limit = 1024): string {
  return text.replaceAll('\0', '').slice(0, limit).toWellFormed();
}

const longestId = 255;

/** Makes the provider's id short enough for an index. Replaces a long id by its hash, so that equal ids stay equal. */
export function cleanId(id: string): string {
  return id.length <= longestId ? cleanText(id, longestId) : `sha256:${hash('sha256', id)}`;
}
