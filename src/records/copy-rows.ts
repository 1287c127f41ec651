/**
 * Rows in COPY's text format, written as bytes: put together as strings, the rows of a large load would cost the loading
 * process more than everything else it does to them.
 */
export interface CopyRows {
  /** The next field of the row. */
  readonly field: (value: string | number | null) => void;
  /** The next field as a text[]. */
  readonly array: (values: readonly string[]) => void;
  readonly endRow: () => void;
  /** Bytes of the rows so far. */
  readonly size: () => number;
  /** The rows so far; begins anew. */
  readonly take: () => Buffer;
}

const tab = 0x09;
const lineBreak = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const capitalN = 0x4e;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const firstCapacity = 64 * 1024;
const longestCharacter = 3;

/** ASCII that stands for itself, by code: in a field, and inside the quotes of an array's element. */
const plainInField = asciiExcept('\\\t\n\r');
const plainInArray = asciiExcept('\\\t\n\r"');

export function createCopyRows(): CopyRows {
  let bytes = Buffer.allocUnsafeSlow(firstCapacity);
  let used = 0;

  const reserve = (length: number): void => {
    if (used + length <= bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, used + length));
    bytes.copy(larger, 0, 0, used);
    bytes = larger;
  };
  /** False, and nothing written, when the value holds something that does not stand for itself. */
  const writePlain = (value: string, plain: Uint8Array): boolean => {
    const { length } = value;
    reserve(length);
    for (let at = 0; at < length; at += 1) {
      const code = value.charCodeAt(at);
      if (code > 0x7f || plain[code] === 0) return false;
      bytes[used + at] = code;
    }
    used += length;
    return true;
  };
  const write = (text: string): void => {
    reserve(text.length * longestCharacter);
    used += bytes.write(text, used);
  };
  const writeByte = (byte: number): void => {
    reserve(1);
    bytes[used] = byte;
    used += 1;
  };

  return {
    field(value) {
      if (value === null) {
        writeByte(backslash);
        writeByte(capitalN);
      } else {
        const text = typeof value === 'number' ? String(value) : value;
        if (!writePlain(text, plainInField)) write(escaped(text));
      }
      writeByte(tab);
    },
    array(values) {
      writeByte(openBrace);
      for (let at = 0; at < values.length; at += 1) {
        const value = values[at] ?? '';
        if (at > 0) writeByte(comma);
        writeByte(quote);
        if (!writePlain(value, plainInArray)) write(escaped(value.replaceAll(/[\\"]/g, String.raw`\$&`)));
        writeByte(quote);
      }
      writeByte(closeBrace);
      writeByte(tab);
    },
    endRow() {
      // In place of the tab behind the last field.
      bytes[used - 1] = lineBreak;
    },
    size: () => used,
    take() {
      const rows = bytes.subarray(0, used);
      bytes = Buffer.allocUnsafeSlow(bytes.length);
      used = 0;
      return rows;
    },
  };
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return text.replaceAll(/[\\\t\n\r]/g, (character) => escapes[character] ?? '');
}

function asciiExcept(characters: string): Uint8Array {
  const plain = new Uint8Array(0x80).fill(1);
  for (const character of characters) plain[character.charCodeAt(0)] = 0;
  return plain;
}
