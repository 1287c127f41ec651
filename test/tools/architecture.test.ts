import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/architecture.md', 'utf8');
const walk = page.slice(page.indexOf('## The walk'), page.indexOf('## Locks'));
const steps = [...walk.matchAll(/^- \*\*([a-z ]+)\*\*((?:\s+`[^`]+`)+)/gm)].map(
  ([, step = '', files = '']) =>
    [step, [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)] as const,
);

// From the top of the house down; rooms of one floor share a number.
const floors: Readonly<Record<string, number>> = {
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
const roomOf = (file: string): string => file.split(/[/.]/)[0] ?? '';

describe('the walk of one recipient in docs/architecture.md', () => {
  it('names files that are there, at most sixty of them, each once', () => {
    const files = steps.flatMap(([, named]) => named);
    expect(files.filter((file) => !existsSync(`src/${file}`))).toEqual([]);
    expect(files.length).toBe(new Set(files).size);
    expect(files.length).toBeGreaterThan(40);
    expect(files.length).toBeLessThanOrEqual(60);
  });

  it.each(steps)('goes down the floors: %s', (_, files) => {
    const levels = files.map((file) => floors[roomOf(file)]);
    expect(levels).not.toContain(undefined);
    expect(levels).toEqual(levels.toSorted());
  });
});
