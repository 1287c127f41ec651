import { hash } from 'node:crypto';

/**
 * Text of the provider as a text column can hold it: JSON may carry U+0000 and lone surrogates, Postgres may not.
 * `limit` counts code units; a longer text is cut.
 */
export function cleanText(text: string, limit = 1024): string {
  return text.replaceAll('\0', '').slice(0, limit).toWellFormed();
}

const longestId = 255;

/** An id of the provider as an index can hold it. A longer one becomes its hash, so that equal ids stay equal. */
export function cleanId(id: string): string {
  return id.length <= longestId ? cleanText(id, longestId) : `sha256:${hash('sha256', id)}`;
}
