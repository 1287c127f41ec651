import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withTableWriters } from '../../tools/list-table-writers.mjs';

const page = readFileSync('docs/architecture.md', 'utf8');
const walk = page.slice(page.indexOf('## The walk'), page.indexOf('## Locks'));
const steps = [...walk.matchAll(/^- \*\*([a-z ]+)\*\*((?:\s+`[^`]+`)+)/gm)].map(
  ([, step = '', files = '']) =>
    [step, [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)] as const,
);

describe('the walk of one recipient in docs/architecture.md', () => {
  it('names existing files', () => {
    const files = steps.flatMap(([, named]) => named);
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => !existsSync(`src/${file}`))).toEqual([]);
  });
});

it('has a current table of which file writes which table', () => {
  expect(withTableWriters(page), 'run npm run table-writers').toBe(page);
});
