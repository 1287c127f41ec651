import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createCsvRowReader, type CsvRow } from '../../../src/commands/audience/csv.ts';

function readAll(text: string, chunkSize = 65_536): readonly CsvRow[] {
  const reader = createCsvRowReader();
  const bytes = Buffer.from(text);
  const rows: CsvRow[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize) {
    rows.push(...reader.write(bytes.subarray(at, at + chunkSize)));
  }
  return [...rows, ...reader.end()];
}

const plain = (text: string, chunkSize?: number) =>
  readAll(text, chunkSize).map((row) =>
    'cells' in row ? [row.line, ...row.cells] : [row.line, 'malformed'],
  );

describe('createCsvRowReader', () => {
  it.each([
    ['comma', 'a,b\n1,2\n'],
    ['semicolon', 'a;b\n1;2\n'],
    ['tab', 'a\tb\n1\t2\n'],
    ['pipe', 'a|b\n1|2\n'],
    ['CRLF', 'a,b\r\n1,2\r\n'],
    ['CR', 'a,b\r1,2\r'],
    ['no line break at the end', 'a,b\n1,2'],
    ['delimiters inside quotes of the header', '"a";b\n1;2'],
  ])('reads %s', (_, text) => {
    expect(plain(text)).toEqual([
      [1, 'a', 'b'],
      [2, '1', '2'],
    ]);
  });

  it('takes the delimiter from the header line, not from the rows', () => {
    expect(plain('"a,x,y,z";b\n"1,2,3";2')).toEqual([
      [1, 'a,x,y,z', 'b'],
      [2, '1,2,3', '2'],
    ]);
  });

  it.each([1, 7, 1_000])('reads a header with line breaks inside quotes, in chunks of %i bytes', (size) => {
    expect(plain('\n"Müller, Meier\r\nund ""Co"", Köln";b\r\n"1,2";3\n', size)).toEqual([
      [2, 'Müller, Meier\r\nund "Co", Köln', 'b'],
      [4, '1,2', '3'],
    ]);
  });

  it('keeps quotes inside a cell as text', () => {
    expect(plain('a;5" pipe\nAda "Q" L;1\n"B"ob;2\n"Say \\"hi\\" now";3\n5";4\nDan;5\n')).toEqual([
      [1, 'a', '5" pipe'],
      [2, 'Ada "Q" L', '1'],
      [3, '"B"ob', '2'],
      [4, '"Say \\"hi\\" now"', '3'],
      [5, '5"', '4'],
      [6, 'Dan', '5'],
    ]);
  });

  it('reads quoted cells with spaces before them', () => {
    expect(plain('name, phone\n"Smith, John", "1"\n"Lee, Ann",  2\n')).toEqual([
      [1, 'name', 'phone'],
      [2, 'Smith, John', '1'],
      [3, 'Lee, Ann', '2'],
    ]);
  });

  it.each([1, 5, 1_000])('passes over titles above the header, in chunks of %i bytes', (size) => {
    expect(
      plain('Customers, of November\nAll, without those of 2025\n\nName;Phone\nAda;1\nBob;2\n', size),
    ).toEqual([
      [4, 'Name', 'Phone'],
      [5, 'Ada', '1'],
      [6, 'Bob', '2'],
    ]);
    expect(
      plain('Customers;;;;\nFrom:;1 Nov;;;\n;;;;\nName;Phone;City;Tag;Since\nAda;1;Bonn;x;y\n', size),
    ).toEqual([
      [4, 'Name', 'Phone', 'City', 'Tag', 'Since'],
      [5, 'Ada', '1', 'Bonn', 'x', 'y'],
    ]);
  });

  it.each([
    ['one column', 'phone\n+4915112345678\n+4915112345679\n'],
    ['one named column above more cells', 'phone\n+4915112345678,49\n+4915112345679,49\n'],
    ['a header that is mostly blank', 'phone,,,\n+4915112345678,49,Ada,Bonn\n'],
    ['few filled cells', 'name,phone,city\n,,Bonn\nAda,1,Bonn\n'],
  ])('takes the first line of a file with %s for the header', (_, text) => {
    expect(plain(text)[0]?.[0]).toBe(1);
  });

  it('understands the line in which Excel names the delimiter', () => {
    expect(plain('sep=;\r\na,1;b\r\n1;2')).toEqual([
      [2, 'a,1', 'b'],
      [3, '1', '2'],
    ]);
  });

  it('counts physical lines through blank lines and line breaks inside quotes', () => {
    expect(plain('\n\na,b\r\n"1\r\n1\n1",2\r\n\r\n , \r\n3,4\n')).toEqual([
      [3, 'a', 'b'],
      [4, '1\r\n1\n1', '2'],
      [9, '3', '4'],
    ]);
  });

  it('reports the lines that an open quote joins, and reads the rows after them', () => {
    const rows = readAll('a,b\n1,"x\n2,3\n4,"z"\n6,7\n"8\r\n8","9"\n10,11');
    expect(rows[1]).toEqual({ line: 2, problem: expect.stringMatching(/line 2 .* lines 2 to 4: close it/) });
    expect(rows.slice(2)).toEqual([
      { line: 5, cells: ['6', '7'] },
      { line: 6, cells: ['8\r\n8', '9'] },
      { line: 8, cells: ['10', '11'] },
    ]);
  });

  it.each([
    ['a delimiter that is not read', 'sep=:\nname:phone\n', /^Line 1: "sep=:" .*save the file/],
    [
      'lines that are one cell each',
      '"name;phone"\n"Ada;1"\n"Bob;2"\n',
      /^Line 1: the whole line is in quotes/,
    ],
  ])('refuses %s', (_, text, message) => {
    expect(() => readAll(text)).toThrow(message);
  });

  it('copies a cell with a misplaced quote, not the longest cell so far', () => {
    const allocated = vi.spyOn(Buffer, 'allocUnsafe');
    readAll(`a,b\n${'x'.repeat(500_000)},1\n${'"a"b,1\n'.repeat(200)}`);
    const bytes = allocated.mock.calls.reduce((sum, [size]) => sum + size, 0);
    allocated.mockRestore();
    expect(bytes).toBeLessThan(8 * 1024 * 1024);
  });

  it.each([
    ['a quote that is never closed', 'a,b\n1,2\n3,"open\n4,5\n', /^Line 3: .*never closed/],
    ['a record without end', `a,b\n1,2\n3,"${'x\n'.repeat(700_000)}`, /^Line 3: .*longer than/],
    ['a record without end or quote', `a,b\n1,2\n3,${'x'.repeat(1_400_000)}`, /^Line 3: .*longer than/],
    ['a header without end', 'x'.repeat(2_000_000), /^Line 1: .*longer than/],
  ])('gives up at %s', (_, text, message) => {
    expect(() => readAll(text)).toThrow(message);
  });

  it('does not search an endless header again for every chunk', () => {
    const joined = vi.spyOn(Buffer, 'concat');
    expect(() => readAll(`"${'x'.repeat(1_400_000)}`, 1_400)).toThrow(/^Line 1: .*longer than/);
    const bytes = joined.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    joined.mockRestore();
    expect(bytes).toBeLessThan(4 * 1024 * 1024);
  });

  it('returns no rows for an empty text', () => {
    expect(readAll('')).toEqual([]);
    expect(readAll('\n \n')).toEqual([]);
  });

  it('reads back what a writer of CSV wrote, in chunks of any size', () => {
    const cell = fc.stringMatching(/^[a-z0-9 ,;"|\t\r\näé€😀]{0,8}$/u);
    const cells = fc.array(
      fc.tuple(
        fc.constantFrom('x', 'y').chain((head) => cell.map((tail) => head + tail)),
        cell,
      ),
      { minLength: 1, maxLength: 6 },
    );
    const delimiter = fc.constantFrom(',', ';', '\t', '|');
    const lineBreak = fc.constantFrom('\n', '\r\n');
    fc.assert(
      fc.property(
        cells,
        delimiter,
        lineBreak,
        fc.integer({ min: 1, max: 40 }),
        (rows, separator, end, chunkSize) => {
          const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
          const text =
            [['head', 'line'], ...rows].map((row) => row.map(quote).join(separator)).join(end) + end;
          const read = readAll(text, chunkSize).map((row) => ('cells' in row ? row.cells : []));
          expect(read).toEqual([['head', 'line'], ...rows]);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads the same rows whether or not a quote comes before them', () => {
    const cell = fc.stringMatching(/^[a-z0-9 é€😀]{0,6}$/u);
    const row = fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(';'));
    const lineBreak = fc.constantFrom('\n', '\r\n', '\r');
    const line = fc.tuple(row, lineBreak).map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.array(line, { maxLength: 8 }),
        row,
        fc.integer({ min: 1, max: 40 }),
        (before, after, last, chunkSize) => {
          const rest = [...before, 'x;"y"\n', ...after, last].join('');
          const quoted = plain(`"a";b\n${rest}`, chunkSize);
          expect(plain(`a;b\n${rest}`, chunkSize)).toEqual(quoted);
          const unquoted = rest.replace('"y"', 'y');
          expect(plain(`a;b\n${unquoted}`, chunkSize)).toEqual(quoted);
        },
      ),
      { numRuns: 200 },
    );
  });
});
