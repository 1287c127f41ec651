import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withTableWriters } from '../../tools/list-table-writers.mjs';

const page = readFileSync('docs/architecture.md', 'utf8');
const walk = page.slice(page.indexOf('## The walk'), page.indexOf('## Locks'));
const steps = [...walk.matchAll(/^- \*\*([a-z ]+)\*\*((?:\s+`[^`]+`)+)/gm)].map(
  ([, step = '', files = '']) =>
    [step, [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)] as const,
);

// From the top layer down; folders of one layer share a number.
const layers: Readonly<Record<string, number>> = {
  api: 0,
  workflows: 0,
  activities: 1,
  commands: 2,
  records: 3,
  orchestrator: 3,
  provider: 4,
  outbound: 4,
  domain: 5,
  codecs: 5,
};
const folderOf = (file: string): string => file.split(/[/.]/)[0] ?? '';

describe('the walk of one recipient in docs/architecture.md', () => {
  it('names existing files, at most sixty, each once', () => {
    const files = steps.flatMap(([, named]) => named);
    expect(files.filter((file) => !existsSync(`src/${file}`))).toEqual([]);
    expect(files.length).toBe(new Set(files).size);
    expect(files.length).toBeGreaterThan(40);
    expect(files.length).toBeLessThanOrEqual(60);
  });

  it.each(steps)('goes down the layers: %s', (_, files) => {
    const levels = files.map((file) => layers[folderOf(file)]);
    expect(levels).not.toContain(undefined);
    expect(levels).toEqual(levels.toSorted());
  });
});

it('has a current table of which file writes which table', () => {
  expect(withTableWriters(page), 'run npm run table-writers').toBe(page);
});
