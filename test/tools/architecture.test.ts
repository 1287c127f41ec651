import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/architecture.md', 'utf8');
const walk = page.slice(page.indexOf('1. **Received**'), page.indexOf('What holds on the way:'));

interface Stop {
  readonly file: string;
  /** The thread returns to a file that was named before. */
  readonly isBack: boolean;
  /** A table or a queue leads to the file, no import. */
  readonly isHandOver: boolean;
}

/** The files of a walk in their order. */
const stopsOf = (text: string): readonly Stop[] =>
  [...text.matchAll(/(\(hand-over: [^)]+\)\s+)?(back\s+in\s+)?`([\w./-]+\.ts)`/gi)].map(
    ([, handOver, back, file = '']) => ({
      file,
      isBack: back !== undefined,
      isHandOver: handOver !== undefined,
    }),
  );

/** The files under src/ that a file imports, types too. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join('src', file), 'utf8');
  const specifiers = text.matchAll(/^(?:import|export)\s[^'";]*?from\s+'(\.[^']+)';/gm);
  return [...specifiers].map(([, specifier = '']) => join(file, '..', specifier));
}

function problemsOf(text: string): readonly string[] {
  const problems: string[] = [];
  const named = new Set<string>();
  const reached = new Set<string>();
  for (const { file, isBack, isHandOver } of stopsOf(text)) {
    if (!existsSync(join('src', file))) {
      problems.push(`${file} does not exist`);
      continue;
    }
    if (isBack !== named.has(file))
      problems.push(`${file} is ${isBack ? 'not named before' : 'named twice'}`);
    if (named.size > 0 && !isBack && !isHandOver && !reached.has(file))
      problems.push(`${file} is imported by no file before it`);
    named.add(file);
    for (const imported of importsOf(file)) reached.add(imported);
  }
  return problems;
}

describe('the walk of one message in docs/architecture.md', () => {
  it('leads from the request to the signed delivery', () => {
    const files = stopsOf(walk).map(({ file }) => file);

    expect(files).toEqual(
      expect.arrayContaining(['api/campaigns/create.ts', 'records/sending/claim-batch.ts']),
    );
    expect(files).toContain('domain/webhooks/signature.ts');
  });

  it('names files in an order in which an earlier one imports each', () => {
    expect(problemsOf(walk)).toEqual([]);
  });

  it.each([
    ['a file that does not exist', '`server.ts` `api/magic.ts`', 'api/magic.ts does not exist'],
    [
      'a file that comes before the one that imports it',
      '`server.ts` `api/campaigns/create.ts` `api/routes.ts`',
      'api/campaigns/create.ts is imported by no file before it',
    ],
    [
      'a return to a file not named before',
      '`server.ts`, back in `worker.ts`',
      'worker.ts is not named before',
    ],
    ['a file named twice', '`server.ts` `api/routes.ts` `api/routes.ts`', 'api/routes.ts is named twice'],
  ])('is refused with %s', (_, text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('accepts a hand-over where no import leads', () => {
    expect(problemsOf('`server.ts` (hand-over: a queue) `worker.ts` `process/worker-loops.ts`')).toEqual([]);
  });
});
