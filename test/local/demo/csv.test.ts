import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { demoCsvMapping, makeDemoCsv } from '../../../local/demo/csv.ts';

const records = (text: string): readonly string[][] => parse(text, { bom: true });

describe('makeDemoCsv', () => {
  test('makes the same file for the same seed and another for another', () => {
    expect(makeDemoCsv({ rows: 200, seed: 7 })).toEqual(makeDemoCsv({ rows: 200, seed: 7 }));
    expect(makeDemoCsv({ rows: 200, seed: 7 }).text).not.toBe(makeDemoCsv({ rows: 200, seed: 8 }).text);
  });

  test('is a readable CSV with as many rows as asked for, whatever the cells hold', () => {
    const { text } = makeDemoCsv({ rows: 1_000, seed: 1 });
    expect(records(text)).toHaveLength(1_001);
    expect(text.startsWith('\uFEFF')).toBe(true);
    expect(text).toContain('\r\n');
  });

  test('has what exports have: duplicates, blanks, line breaks and several ways to write a number', () => {
    const { text, planted } = makeDemoCsv({ rows: 5_000, seed: 1 });
    const phones = records(text)
      .slice(1)
      .map((row) => row[demoCsvMapping.phone_column] ?? '');
    expect(new Set(phones).size).toBeLessThan(phones.length);
    expect(planted.duplicates).toBeGreaterThan(50);
    expect(planted.invalid).toBeGreaterThan(50);
    expect(planted.nameless).toBeGreaterThan(20);
    for (const form of [/^\+49\d+$/, /^\+49 \d+/, /^0\d+$/, /^0049/, /^$/])
      expect(phones.some((phone) => form.test(phone))).toBe(true);
    expect(
      records(text)
        .flat()
        .some((cell) => cell.includes('\n')),
    ).toBe(true);
  });
});
