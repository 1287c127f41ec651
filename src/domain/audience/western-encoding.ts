/** Tells Windows-1252 from MacRoman, and both from other encodings, by the words that the bytes would spell. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

export type WesternEncoding = 'windows-1252' | 'macintosh';

/** Undefined if the bytes spell words in neither encoding. `bytes` is no valid UTF-8. */
export function guessWesternEncoding(bytes: Buffer): WesternEncoding | undefined {
  if (isMostlyUtf8(bytes)) return undefined;
  const windows = score(bytes, 'windows-1252');
  const mac = score(bytes, 'macintosh');
  // Windows-1252 is far more frequent.
  if (windows >= mac) return windows < 0 ? undefined : 'windows-1252';
  return mac > 0 ? 'macintosh' : undefined;
}

const impossible = Number.NEGATIVE_INFINITY;
const undefinedInWindows1252 = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

type Kind = 'lower' | 'upper' | 'other';

/** The character of each byte in an encoding. */
function kindsOf(encoding: WesternEncoding): readonly Kind[] {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  // Without `stream`, Node 20 decodes Windows-1252 as ISO 8859-1.
  const text = new TextDecoder(encoding).decode(bytes, { stream: true });
  return Array.from(text, (character) => {
    if (!/\p{L}/u.test(character) || character === 'ª' || character === 'º') return 'other';
    return character === character.toLowerCase() ? 'lower' : 'upper';
  });
}

const kinds: Readonly<Record<WesternEncoding, readonly Kind[]>> = {
  'windows-1252': kindsOf('windows-1252'),
  macintosh: kindsOf('macintosh'),
};
const apostrophes: Readonly<Record<WesternEncoding, number>> = { 'windows-1252': 0x92, macintosh: 0xd5 };

/** Points for letters that form words, and against those that cannot; 0 for signs alone. */
function score(bytes: Buffer, encoding: WesternEncoding): number {
  const kindOf = (at: number): Kind => kinds[encoding][bytes[at] ?? 0] ?? 'other';
  let points = 0;
  let letters = 0;
  let strange = 0;
  for (const [at, byte] of bytes.entries()) {
    if (isControl(byte) || (encoding === 'windows-1252' && undefinedInWindows1252.has(byte)))
      return impossible;
    if (byte < 0x80) continue;
    const [before, kind, after] = [kindOf(at - 1), kindOf(at), kindOf(at + 1)];
    const isInside = before !== 'other' && after !== 'other';
    if (kind === 'other') {
      if (!isInside) continue;
      points += byte === apostrophes[encoding] ? elision(bytes, at, kindOf) : -2;
      continue;
    }
    letters += 1;
    // Western words have at most two letters with accents in a row; those of other scripts are made of them.
    if (isLetter(bytes, at - 1, kindOf) && isLetter(bytes, at + 1, kindOf)) strange += 1;
    if (kind === 'upper' && before === 'lower') points -= 2;
    else if (before !== 'other' || after !== 'other') points += isRare(byte, kind, encoding) ? 0.5 : 1;
  }
  return strange * 4 > letters ? impossible : points;
}

/** œ, š and ž. */
const isRare = (byte: number, kind: Kind, encoding: WesternEncoding): boolean =>
  byte < 0xa0 && kind === 'lower' && encoding === 'windows-1252';

const isControl = (byte: number): boolean =>
  byte === 0x7f || (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);

const isLetter = (bytes: Buffer, at: number, kindOf: (at: number) => Kind): boolean =>
  (bytes[at] ?? 0) >= 0x80 && kindOf(at) !== 'other';

/** `O’Brien` and `l’été` have a short word before the apostrophe, `it’s` a single s behind it. */
function elision(bytes: Buffer, at: number, kindOf: (at: number) => Kind): number {
  const isShortBefore = [1, 2, 3].some((length) => kindOf(at - length) === 'other');
  const isGenitive = bytes[at + 1] === 0x73 && kindOf(at + 2) === 'other';
  return isShortBefore || isGenitive ? 1 : 0;
}

/** Bytes of a UTF-8 character that begins with this byte, which is not ASCII. */
export function utf8Length(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

/** True for UTF-8 with a few broken characters. */
function isMostlyUtf8(bytes: Buffer): boolean {
  let characters = 0;
  let strays = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) continue;
    const length = utf8Length(byte);
    const character = bytes.subarray(at, at + length);
    if (byte >= 0xc2 && character.length === length && isUtf8(character)) {
      characters += 1;
      at += length - 1;
    } else {
      strays += 1;
    }
  }
  return strays <= 2 * characters;
}
