/**
 * The bytes of a campaign file as UTF-8. UTF-8 passes through unchanged; UTF-16 is recognised by its byte order mark,
 * Windows-1252 by bytes that cannot be UTF-8 and make sense in it. Anything else is refused rather than guessed.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';

export interface CsvTextDecoder {
  /** Throws PreparationFailure CSV_UNREADABLE. */
  readonly write: (bytes: Buffer) => Buffer;
  readonly end: () => Buffer;
}

type Encoding = 'unknown' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const nothing = Buffer.alloc(0);

export function createCsvTextDecoder(): CsvTextDecoder {
  let encoding: Encoding = 'unknown';
  let begun = false;
  let held: Buffer = nothing;
  let decoder: TextDecoder | undefined;

  const decode = (bytes: Buffer, stream: boolean): Buffer => {
    try {
      return checked(Buffer.from(decoder?.decode(bytes, { stream }) ?? ''));
    } catch (error) {
      if (error instanceof PreparationFailure) throw error;
      throw unreadable(`The file is not valid ${encoding.toUpperCase()}`);
    }
  };

  const begin = (bytes: Buffer): Buffer => {
    begun = true;
    if (bytes.subarray(0, 4).equals(Buffer.of(0x50, 0x4b, 3, 4))) {
      throw unreadable('The file is a spreadsheet or an archive, not a CSV: save it as CSV');
    }
    if (bytes[0] === 0xff && bytes[1] === 0xfe) encoding = 'utf-16le';
    if (bytes[0] === 0xfe && bytes[1] === 0xff) encoding = 'utf-16be';
    if (encoding !== 'unknown') decoder = new TextDecoder(encoding, { fatal: true });
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    if (hasMark) encoding = 'utf-8';
    return hasMark ? bytes.subarray(3) : bytes;
  };

  // A multi-byte character may be cut by the end of a chunk: its beginning waits for the rest.
  const passUtf8 = (bytes: Buffer, isLast: boolean): Buffer => {
    const whole = isLast ? bytes : bytes.subarray(0, wholeLength(bytes));
    if (isAscii(whole)) {
      held = bytes.subarray(whole.length);
      return checked(whole);
    }
    if (isUtf8(whole)) {
      encoding = 'utf-8';
      held = bytes.subarray(whole.length);
      return checked(whole);
    }
    if (encoding === 'utf-8' || !isSurelyWindows1252(bytes)) {
      throw unreadable('The file is not valid UTF-8: save it as "CSV UTF-8"');
    }
    encoding = 'windows-1252';
    decoder = new TextDecoder(encoding);
    held = nothing;
    return decode(bytes, !isLast);
  };

  const take = (chunk: Buffer, isLast: boolean): Buffer => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = nothing;
    if (!begun && bytes.length < 4 && !isLast) {
      held = bytes;
      return nothing;
    }
    const text = begun ? bytes : begin(bytes);
    return decoder === undefined ? passUtf8(text, isLast) : decode(text, !isLast);
  };

  return { write: (bytes) => take(bytes, false), end: () => take(nothing, true) };
}

function checked(text: Buffer): Buffer {
  if (text.includes(0)) throw unreadable('The file is not a text file: save it as "CSV UTF-8"');
  return text;
}

/** Returns the bytes without an unfinished character at the end. */
function wholeLength(bytes: Buffer): number {
  const earliest = Math.max(0, bytes.length - 4);
  for (let at = bytes.length - 1; at >= earliest; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return at + characterLength(byte) > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

function characterLength(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

const undefinedInWindows1252 = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** True for bytes that occur in text and rarely form a UTF-8 character with their neighbours. */
function isSurelyWindows1252(bytes: Buffer): boolean {
  let characters = 0;
  let strays = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
    if (byte === 0x7f || undefinedInWindows1252.has(byte)) return false;
    if (byte < 0x80) continue;
    if (byte >= 0xc2 && isUtf8Character(bytes, at)) {
      characters += 1;
      at += characterLength(byte) - 1;
    } else {
      strays += 1;
    }
  }
  return strays > 2 * characters;
}

function isUtf8Character(bytes: Buffer, at: number): boolean {
  const length = characterLength(bytes[at] ?? 0);
  const character = bytes.subarray(at, at + length);
  return character.length === length && isUtf8(character);
}

function unreadable(message: string): PreparationFailure {
  return new PreparationFailure('CSV_UNREADABLE', message);
}
