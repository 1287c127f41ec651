/**
 * Whether a message is nothing but one of the words by which people unsubscribe. Case, white space and the punctuation
 * around it do not count: `Stop!` says the same as `STOP`.
 */
export function isOptOut(text: string, words: readonly string[]): boolean {
  const said = essence(text);
  return words.some((word) => essence(word) === said);
}

/** A text without any letter or digit is compared as it is. */
function essence(text: string): string {
  const plain = text.normalize('NFKC').trim().replaceAll(/\s+/gu, ' ').toLowerCase();
  const bare = plain.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  return bare === '' ? plain : bare;
}
