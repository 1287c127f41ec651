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
const windows1252 = (value: string) => oneByte('windows-1252', value);

/** Encodes by the table of the encoding; characters outside it are not used here. */
function oneByte(encoding: string, value: string): Buffer {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const table = [...new TextDecoder(encoding).decode(bytes, { stream: true })];
  return Buffer.from([...value].map((character) => table.indexOf(character)));
}
const macRoman = (value: string) => oneByte('macintosh', value);

describe('createCsvTextDecoder', () => {
  describe.each([1, 2, 3, 7, 1000])('in chunks of %i bytes', (chunkSize) => {
    it.each([
      ['UTF-8', Buffer.from(text)],
      ['UTF-8 with byte order mark', Buffer.from(`\uFEFF${text}`)],
      ['UTF-8 with two byte order marks', Buffer.from(`\uFEFF\uFEFF${text}`)],
      ['UTF-16 LE', Buffer.from(`\uFEFF${text}`, 'utf16le')],
      ['UTF-16 BE', utf16be(text)],
      ['UTF-16 LE without a mark', Buffer.from(text, 'utf16le')],
      ['UTF-16 BE without a mark', Buffer.from(text, 'utf16le').swap16()],
      ['Windows-1252', windows1252(text)],
      ['MacRoman', macRoman(text)],
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
    [
      'UTF-8 with a broken character',
      Buffer.concat([Buffer.from('Jürgen,'), Buffer.of(0xfc), Buffer.from(',x')]),
      /not valid UTF-8/,
    ],
    ['UTF-8 that ends inside a character', Buffer.from('Jürgenü').subarray(0, -1), /not valid UTF-8/],
    [
      'Windows-1251',
      oneByte('windows-1251', 'Телефон;Имя\n+79161234567;Анна Каренина\n'),
      /^Line 1: .*save the file as "CSV UTF-8"/,
    ],
    [
      'UTF-8 whose fourth line is Windows-1252',
      Buffer.concat([
        Buffer.from('Telefon;Name\r\n1;Jürgen\r\n2;Ada\r\n3;Ren'),
        Buffer.of(0xe9),
        Buffer.from('e\r\n4;Una\r\n'),
      ]),
      /^Line 4: .*not valid UTF-8/,
    ],
    ['an Excel workbook of 2003', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /Excel workbook.*save it as/],
    [
      'a web page that is called a workbook',
      Buffer.from('\n<html><table><tr><td>phone'),
      /web page.*save it as/,
    ],
    ['JSON', Buffer.from('[{"phone":"+4915112345678"}]'), /JSON.*export it as CSV/],
    ['vCards', Buffer.from('BEGIN:VCARD\r\nTEL:+49'), /vCards.*export it as CSV/],
    ['a PDF', Buffer.from('%PDF-1.7'), /PDF/],
    ['half a UTF-16 character', Buffer.from('fffe61', 'hex').subarray(0, 3), /UTF-16/],
    ['bytes of no known text', Buffer.of(0x61, 0x81, 0x62), /not valid UTF-8/],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => decode(bytes)).toThrow(message);
  });

  it.each([
    ['windows-1252', 'Name\nSeán O’Brien\n'],
    ['windows-1252', 'Name\nl’école d’été\n'],
    ['windows-1252', 'Price\n5 €\n'],
    ['windows-1252', 'Name\nMÜLLER\n'],
    ['windows-1252', 'Name\nŠkoda\n'],
    ['macintosh', 'Name\nMaría García\n'],
    ['macintosh', 'Name\nMÜLLER\n'],
    ['macintosh', 'Name\nFrançois Lefèvre\n'],
    ['macintosh', 'Name\nSão João, “VIP” – l’ami\n'],
  ])('tells %s by the words of %j', (encoding, value) => {
    expect(decode(oneByte(encoding, value))).toBe(value);
  });

  it('judges an encoding by all words of the beginning, however the file arrives', () => {
    const rows = 'Nr;1,50 €\n'.repeat(2_000);
    const value = `Name;Preis\n€;Größe\n${rows}Jürgen;Ö\n`;
    for (const size of [1_000, 4_096, 65_536]) expect(decode(windows1252(value), size)).toBe(value);
  });

  it('returns an empty text for an empty file', () => {
    expect(decode(Buffer.alloc(0))).toBe('');
    expect(decode(Buffer.from('a'))).toBe('a');
  });
});
