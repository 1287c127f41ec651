/**
 * Every regular expression of src/ takes time in proportion to its text: each is read from the sources and tried on
 * 128 KiB of text made against it. A pattern that backtracks without bound would stop a process for everybody.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { checkSync } from 'recheck';
import { parseAst } from 'vite';
import { describe, expect, it } from 'vitest';

/** Some fifty times what a linear pattern takes, so that a busy machine fails none; a quadratic one takes longer than this. */
const maxMs = 3_000;
const textBytes = 128 * 1024;

/** Files that build patterns while they run, and why these need no text of a caller. */
const builders = new Map([
  ['domain/number-rules.ts', 'fixed lengths between two anchors'],
  ['domain/numbering-plans.ts', "the library's patterns, for at most 25 digits: see phone-number.test.ts"],
  ['domain/workspaces/api-key.ts', 'fixed lengths between two anchors'],
  ['process/worker-sdk-metrics.ts', 'names of labels, on our own metrics'],
  ['records/database/migrate.ts', 'the name of an index, on our own files'],
]);

interface Pattern {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

interface Found {
  readonly patterns: readonly Pattern[];
  readonly built: readonly string[];
}

interface Node {
  readonly type?: string;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
}

function find(): Found {
  const patterns = new Map<string, Pattern>();
  const built = new Set<string>();
  const walk = (file: string, node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, regex, callee } = node as Node;
    if (regex !== undefined) {
      const { pattern: source, flags } = regex;
      patterns.set(`/${source}/${flags}`, { file, source, flags });
    }
    if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp') built.add(file);
    for (const child of Object.values(node)) walk(file, child);
  };
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    walk(file, parseAst(readFileSync(`src/${file}`, 'utf8'), { lang: 'ts' }));
  }
  return { patterns: [...patterns.values()], built: [...built] };
}

const { patterns, built } = find();

/** Short texts to repeat: characters that the pattern names, and pairs of them. */
function ordinaryTexts(source: string): readonly string[] {
  const named = [...new Set(source.replaceAll(/\\[a-zA-Z]|[\\^$*?]/g, ''))].slice(0, 6);
  const characters = [...new Set([...named, 'a', '0', ' '])];
  const pairs = characters.slice(1).map((character, at) => (characters[at] ?? '') + character);
  return [...characters, ...pairs];
}

/** Attack texts for the pattern: a repeated part that makes it slow, and an end that makes it fail. */
function attackTexts({ source, flags }: Pattern): readonly (readonly [pump: string, end: string])[] {
  const found = checkSync(source, flags, { timeout: 2_000 });
  if (found.status !== 'vulnerable') return [];
  return found.attack.pumps.map(({ prefix, pump }) => [prefix + pump, found.attack.suffix] as const);
}

function timesOut({ source, flags }: Pattern, text: string): boolean {
  try {
    const pattern = new RegExp(source, flags.replace('g', ''));
    runInNewContext('text.search(pattern)', { text, pattern }, { timeout: maxMs });
    return false;
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return true;
    throw error;
  }
}

describe('a regular expression', () => {
  it('is found in the sources', () => {
    expect(patterns.length).toBeGreaterThan(100);
    expect(built.toSorted()).toEqual([...builders.keys()].toSorted());
  });

  it.each(patterns.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern] as const))(
    '%s is linear',
    (_, pattern) => {
      const ordinary = ordinaryTexts(pattern.source).map((part) => [part, '\0 x'] as const);
      for (const [pump, end] of [...attackTexts(pattern), ...ordinary]) {
        const text = pump.repeat(textBytes / pump.length) + end;
        if (timesOut(pattern, text))
          throw new Error(`${pattern.file}: slow on ${JSON.stringify(pump)} again and again`);
      }
    },
  );
});
