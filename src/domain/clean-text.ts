/**
 * Text of the provider as a text column can hold it: JSON may carry U+0000 and lone surrogates, Postgres may not.
 * `limit` counts code units; a longer text is cut.
 */
export function cleanText(text: string, limit = 1024): string {
  return text.replaceAll('\0', '').slice(0, limit).toWellFormed();
}
