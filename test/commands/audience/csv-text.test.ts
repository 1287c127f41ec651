import { describe, expect, it } from 'vitest';
import { createCsvTextDecoder } from '../../../src/commands/audience/csv.ts';

function decode(bytes: Buffer, chunkSize = bytes.length || 1): string {
  const decoder = createCsvTextDecoder();
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize)
    parts.push(decoder.write(bytes.subarray(at, at + chunkSize)));
  return Buffer.concat([...parts, decoder.end()]).toString('utf8');
}

const text = 'Telefon;Name\n+4915112345678;Jürgen Groß – Café „Ü“ €\n';
const utf16be = (value: string) => Buffer.from(`\uFEFF${value}`, 'utf16le').swap16();
const windows1252 = (value: string) =>
  Buffer.from(
    [...value].map(
      (character) => ({ '–': 0x96, '„': 0x84, '“': 0x93, '€': 0x80 })[character] ?? character.charCodeAt(0),
    ),
  );

describe('createCsvTextDecoder', () => {
  describe.each([1, 2, 3, 7, 1000])('in chunks of %i bytes', (chunkSize) => {
    it.each([
      ['UTF-8', Buffer.from(text)],
      ['UTF-8 with byte order mark', Buffer.from(`\uFEFF${text}`)],
      ['UTF-16 LE', Buffer.from(`\uFEFF${text}`, 'utf16le')],
      ['UTF-16 BE', utf16be(text)],
      ['Windows-1252', windows1252(text)],
    ])('reads %s', (_, bytes) => {
      expect(decode(bytes, chunkSize)).toBe(text);
    });
  });

  it('reads characters of every length across chunks', () => {
    const all = 'aéझ😀'.repeat(50);
    for (let size = 1; size < 9; size += 1) expect(decode(Buffer.from(all), size)).toBe(all);
  });

  it.each([
    ['an image', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), /not valid UTF-8|not a text/],
    ['a workbook', Buffer.from('504b030414000600', 'hex'), /spreadsheet/],
    ['NUL characters', Buffer.from('a,b\n1,\0\n'), /not a text file/],
    ['UTF-16 without a mark', Buffer.from('a,b\n', 'utf16le'), /save it as "CSV UTF-8"/],
    [
      'UTF-8 with a broken character',
      Buffer.concat([Buffer.from('Jürgen,'), Buffer.of(0xfc), Buffer.from(',x')]),
      /not valid UTF-8/,
    ],
    ['UTF-8 that ends inside a character', Buffer.from('Jürgenü').subarray(0, -1), /not valid UTF-8/],
    ['half a UTF-16 character', Buffer.from('fffe61', 'hex').subarray(0, 3), /UTF-16/],
    ['bytes of no known text', Buffer.of(0x61, 0x81, 0x62), /not valid UTF-8/],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => decode(bytes)).toThrow(message);
  });

  it('returns an empty text for an empty file', () => {
    expect(decode(Buffer.alloc(0))).toBe('');
    expect(decode(Buffer.from('a'))).toBe('a');
  });
});
