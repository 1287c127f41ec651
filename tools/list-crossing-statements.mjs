/**
 * Lists what prevents distributing the schema by `workspace_id` (docs/scaling.md): tables and unique keys without it, and
 * statements of src/records/ that name no workspace.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (...path) => readFileSync(join(root, ...path), 'utf8');
const migrations = readdirSync(join(root, 'sql'))
  .toSorted()
  .map((name) => read('sql', name).replaceAll(/--.*$/gm, ''));
const tables = new Map();
const keys = new Map();
const addKey = (table, columns) => {
  if (!/\bworkspace_id\b/.test(columns))
    keys.set(`${table} (${columns.replaceAll(/\s+/g, ' ').trim()})`, table);
};
for (const text of migrations) {
  for (const [, name, body] of text.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \(([\s\S]*?)\n\)/g)) {
    tables.set(name, /\bworkspace_id\b/.test(body));
    for (const [, columns] of body.matchAll(/\b(?:UNIQUE|PRIMARY KEY) \(([^)]*)\)/g)) addKey(name, columns);
    for (const [, column] of body.matchAll(/^ {2}(\w+) [^\n(]*\b(?:UNIQUE|PRIMARY KEY)\b/gm))
      addKey(name, column);
  }
  for (const [, name] of text.matchAll(/ALTER TABLE (\w+)[^;]*?ADD COLUMN (?:IF NOT EXISTS )?workspace_id/g))
    tables.set(name, true);
  for (const [, table, columns] of text.matchAll(
    /CREATE UNIQUE INDEX (?:CONCURRENTLY )?(?:IF NOT EXISTS )?\w+ ON (\w+) \(([^)]*)\)/g,
  ))
    addKey(table, columns);
  for (const [, name] of text.matchAll(/DROP TABLE (?:IF EXISTS )?(\w+)/g)) tables.delete(name);
}

const statements = [];
for (const path of readdirSync(join(root, 'src/records'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts'),
)) {
  const text = read('src/records', path);
  for (const { index, 0: statement } of text.matchAll(/sql(?:\.\w+\([^`]*\)|\.fragment)`[^`]*`/g)) {
    const named = [...statement.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(\w+)/g)].map(
      ([, name]) => name,
    );
    const used = [...new Set(named)].filter((name) => tables.has(name));
    if (used.length === 0 || /workspace_?id/i.test(statement)) continue;
    statements.push({ place: `${path}:${text.slice(0, index).split('\n').length}`, used });
  }
}

const say = (title, lines) =>
  process.stdout.write(`${title}: ${lines.length}\n${lines.map((line) => `  ${line}\n`).join('')}\n`);
say(
  'tables without workspace_id',
  [...tables]
    .filter(([, own]) => !own)
    .map(([name]) => name)
    .toSorted(),
);
say(
  'primary and unique keys without workspace_id',
  [...keys.keys()].filter((key) => tables.has(keys.get(key))).toSorted(),
);
say(
  'statements that name no workspace',
  statements.map(({ place, used }) => `${place}  ${used.join(', ')}`),
);
