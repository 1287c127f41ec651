import { expect, it } from 'vitest';
import { readCsvCandidates } from '../../../src/commands/audience/candidates.ts';

const mapping = { phone_column: 0, country_code_column: 1 };

it('cuts batches of long rows at about a megabyte, and loses no row', async () => {
  const note = 'x'.repeat(10_000);
  const rows = Array.from({ length: 1_000 }, (_, at) => `+49151${10_000_000 + at},49,${note}\n`);
  const sizes: number[] = [];
  const lines: (number | null)[] = [];
  for await (const batch of readCsvCandidates(
    [Buffer.from(`phone,country,note\n${rows.join('')}`)],
    mapping,
  )) {
    sizes.push(batch.reduce((size, { row = [] }) => size + row.join('').length, 0));
    lines.push(...batch.map(({ line }) => line));
  }
  expect(lines).toEqual(rows.map((_, at) => at + 2));
  expect(Math.max(...sizes)).toBeLessThan(1.1 * 1_024 * 1_024);
});
