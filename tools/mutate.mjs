/** `npm run mutate -- FILE`: which single changes of a file its nearest tests do not notice. Works on a scratch copy of the tree. */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative, resolve } from 'node:path';
import { endWithUsage } from './usage.mjs';

const usage = `Usage: npm run mutate -- FILE [--list] [--lines FROM-TO] [--tests FILE,FILE]

Changes one thing of a file of src/ at a time, runs the nearest tests, and prints whether they noticed (killed) or not (survived).
  --list    print the changes and tests, run nothing
  --lines   only changes on these lines
  --tests   run these test files instead of the nearest ones
The tree is copied to a temporary folder first; your files are never written. Tests that run dist/ see the unchanged build.
`;

const flags = process.argv.slice(2);
const valueOf = (name) => (flags.includes(name) ? flags[flags.indexOf(name) + 1] : undefined);
const given = flags.find(
  (flag, at) => !flag.startsWith('--') && !['--lines', '--tests'].includes(flags[at - 1]),
);
if (given === undefined || flags.includes('--help') || flags.includes('-h')) endWithUsage(usage);
const root = process.cwd();
const file = relative(root, resolve(given)).replaceAll('\\', '/');
if (!existsSync(file) || !file.startsWith('src/')) endWithUsage(usage);

/** Splits TypeScript into pieces of code, of SQL or other template text, and of what is never changed. Tolerant: it does not parse. */
function piecesOf(text) {
  const pieces = [];
  const open = [];
  let at = 0;
  let from = 0;
  const end = (kind, until = at) => {
    if (until > from) pieces.push({ kind, from, text: text.slice(from, until) });
    from = until;
  };
  const skip = (pattern) => {
    end('code');
    pattern.lastIndex = at;
    at += pattern.exec(text)?.[0].length ?? 1;
    end('other');
  };
  const template = () => {
    while (at < text.length && text[at] !== '`' && !text.startsWith('${', at))
      at += text[at] === '\\' ? 2 : 1;
    end('template');
    if (text[at] === '`') at += 1;
    else open.push('${');
    if (text[at] === '$') at += 2;
    end('other');
  };
  while (at < text.length) {
    const before = text.slice(from, at).trimEnd();
    if (text.startsWith('//', at)) skip(/\/\/.*/y);
    else if (text.startsWith('/*', at)) skip(/\/\*[\s\S]*?\*\//y);
    else if (text[at] === "'" || text[at] === '"') skip(/(['"])(?:\\.|(?!\1).)*\1/y);
    else if (text[at] === '/' && /(?:[(,=:[!&|?{};]|return|^)$/.test(before))
      skip(/\/(?:\\.|\[(?:\\.|[^\]])*\]|[^/\n])+\/\w*/y);
    else if (text[at] === '`') {
      end('code');
      at += 1;
      end('other');
      template();
    } else if (text[at] === '}' && open.pop() === '${') {
      end('code');
      at += 1;
      end('other');
      template();
    } else {
      if (text[at] === '{') open.push('{');
      at += 1;
    }
  }
  end('code');
  return pieces;
}

const codeChanges = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/(?<![=<]) < (?=[\w(])/g, ' <= '],
  [/ > (?=[\w(])/g, ' >= '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \+= /g, ' -= '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\bawait (?=\w)/g, 'void '],
  [/\bif \(/g, 'if (false && '],
  [/(?<=^ *)return;/gm, ';'],
  [/(?<=[^\w.]|^)throw /g, 'void '],
  [/Math\.max\b/g, 'Math.min'],
  [/Math\.min\b/g, 'Math.max'],
  [/\.every\(/g, '.some('],
  [/\.some\(/g, '.every('],
  [/ \?\? (?=\w)/g, ' && '],
];
const sqlChanges = [
  [/ <> /g, ' = '],
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/(?<=\w) < /g, ' <= '],
  [/ IS NOT NULL/g, ' IS NULL'],
  [/ IS NULL/g, ' IS NOT NULL'],
  [/ NOT EXISTS/g, ' EXISTS'],
  [/ \+ 1\b/g, ' - 1'],
  [/ - 1\b/g, ' + 1'],
  [/ DESC\b/g, ' ASC'],
  [/ SKIP LOCKED/g, ''],
  [/ FOR (?:NO KEY )?UPDATE(?: OF \w+)?/g, ''],
];
/** A term of WHERE or AND, up to the next one; it may contain `${…}` but no parenthesis that is open. */
const term = String.raw`(?:\$\{[^}]*\}|[^()\`$]|\([^()\`]*\))*?`;
const terms = [
  [
    new RegExp(
      String.raw`\bWHERE (${term})(?=\s+(?:AND|WHERE|ORDER|LIMIT|FOR|RETURNING|GROUP)\b|\s*[)\`])`,
      'g',
    ),
    'WHERE true',
  ],
  [
    new RegExp(
      String.raw`\bAND (${term})(?=\s+(?:AND|OR|WHERE|ORDER|LIMIT|FOR|RETURNING|GROUP)\b|\s*[)\`])`,
      'g',
    ),
    'AND true',
  ],
];

/** Each change as its place, the text there and what replaces it, in the order of the file. */
function changesOf(text) {
  const pieces = piecesOf(text);
  const isSql = (part) => /\b(?:SELECT|UPDATE|INSERT|DELETE|WHERE|AND|FROM|FOR|ORDER BY)\b/.test(part);
  const found = new Map();
  const look = (part, from, rules) => {
    for (const [pattern, to] of rules)
      for (const match of part.matchAll(pattern))
        found.set(`${from + match.index} ${to}`, { at: from + match.index, was: match[0], to });
  };
  for (const { kind, from, text: part } of pieces) {
    if (kind === 'code') look(part, from, codeChanges);
    if (kind === 'template' && isSql(part)) look(part, from, sqlChanges);
  }
  const sqlAt = (at) =>
    pieces.some(({ kind, from, text: part }) => kind === 'template' && at >= from && at < from + part.length);
  for (const [pattern, to] of terms)
    for (const match of text.matchAll(pattern))
      if (sqlAt(match.index)) found.set(`${match.index} ${to}`, { at: match.index, was: match[0], to });
  return [...found.values()]
    .filter(
      ({ at }) =>
        !/^\s*(?:import|export (?:type|interface)|type|interface|readonly)\b/.test(lineAt(text, at)),
    )
    .map((change) => ({ ...change, line: text.slice(0, change.at).split('\n').length }))
    .toSorted((one, other) => one.at - other.at);
}
const lineAt = (text, at) => text.slice(text.lastIndexOf('\n', at) + 1).split('\n', 1)[0];

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path).replaceAll('\\', '/'));

/** The test of the same path, and those that import the file; if there are none, those that import an importer. */
function nearestTests(target) {
  const imports = new Map(
    [...filesOf('src'), ...filesOf('test')].map((path) => [
      path,
      [...readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, to]) =>
        normalize(join(dirname(path), to)).replaceAll('\\', '/'),
      ),
    ]),
  );
  const importers = (of) =>
    [...imports].filter(([, list]) => list.some((path) => of.includes(path))).map(([path]) => path);
  const isTest = (path) => path.endsWith('.test.ts') && !/^test\/(?:journeys|outages|release)\//.test(path);
  const mirror = target.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts');
  let around = [target];
  for (let steps = 0; steps < 4; steps += 1) {
    const next = importers(around);
    const tests = [...new Set([mirror, ...next])].filter((path) => imports.has(path) && isTest(path));
    if (tests.length > 0) return tests.slice(0, 6);
    around = next;
  }
  return [];
}

const text = readFileSync(file, 'utf8');
const [first = 1, last = Infinity] = (valueOf('--lines') ?? '').split('-').filter(Boolean).map(Number);
const changes = changesOf(text).filter(({ line }) => line >= first && line <= last);
const tests = valueOf('--tests')?.split(',') ?? nearestTests(file);
const describe = ({ line, was, to }) =>
  `${file}:${line}  ${was.trim().replace(/\s+/g, ' ')} → ${to.trim() || '(nothing)'}`;
process.stdout.write(`${changes.length} changes, tests: ${tests.join(' ') || 'none'}\n`);
if (flags.includes('--list') || tests.length === 0) {
  for (const change of changes) process.stdout.write(`${describe(change)}\n`);
  process.exit(tests.length === 0 ? 1 : 0);
}

const scratch = mkdtempSync(join(tmpdir(), 'mutate-'));
let child;
const end = (code) => {
  if (child?.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(130));

const linked = ['node_modules', 'dist'];
for (const name of readdirSync('.').filter((entry) => entry !== '.git'))
  if (linked.includes(name)) symlinkSync(resolve(name), join(scratch, name));
  else
    cpSync(name, join(scratch, name), { recursive: true, filter: (path) => !path.includes('node_modules') });

const runTests = () =>
  new Promise((done) => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const options = { cwd: scratch, stdio: 'ignore', detached: true };
    child = spawn(process.execPath, [vitest, 'run', '--maxWorkers=1', '--bail=1', ...tests], options);
    // A mutation that hangs counts as noticed.
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 300_000);
    child.once('exit', (code) => {
      clearTimeout(timer);
      done(code === 0);
    });
  });

if (!(await runTests())) {
  process.stderr.write('The tests fail without any change.\n');
  end(1);
}
let survived = 0;
for (const change of changes) {
  const { at, was, to } = change;
  writeFileSync(join(scratch, file), text.slice(0, at) + to + text.slice(at + was.length));
  const passes = await runTests();
  survived += Number(passes);
  process.stdout.write(`${passes ? 'survived' : 'killed  '}  ${describe(change)}\n`);
}
process.stdout.write(`${changes.length - survived} killed, ${survived} survived\n`);
end(0);
