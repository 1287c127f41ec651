/**
 * Holds src/ to its plan: which room may import which, which package belongs to which room, one subject word on every floor.
 * `npm run check` runs it; each finding is a sentence that names the right room.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const loose = ['server', 'worker', 'admin', 'dependencies', 'config', 'orchestrator', 'secrets'];

const subjects = [
  'campaigns',
  'audience',
  'sending',
  'callbacks',
  'messages',
  'contacts',
  'conversations',
  'templates',
  'webhooks',
  'wallet',
  'workspaces',
  'operations',
];

const ground = ['telemetry', 'concurrency', 'config', 'secrets'];
const entry = ['server', 'worker', 'admin'];
const effects = ['provider', 'outbound', 'storage', 'orchestrator'];

/** A room, what it may import beside itself, and the folders it may hold (undefined: none). */
const rooms = {
  codecs: { knows: ['domain'] },
  domain: { knows: ['codecs'], folders: subjects },
  concurrency: { knows: ['telemetry'] },
  telemetry: { knows: ['concurrency', 'config', 'domain', 'records'], types: ['dependencies', ...effects] },
  records: {
    knows: ['codecs', 'domain', ...ground],
    types: ['workflows'],
    folders: [...subjects, 'database'],
  },
  provider: { knows: ['codecs', 'domain', ...ground] },
  outbound: { knows: ['codecs', 'domain', ...ground] },
  storage: { knows: ['codecs', 'domain', ...ground] },
  orchestrator: { knows: ['workflows', 'domain', ...ground] },
  workflows: { knows: ['domain'], types: ['activities'] },
  commands: {
    knows: ['codecs', 'domain', 'records', 'workflows', ...effects, ...ground],
    types: ['dependencies'],
    folders: subjects,
  },
  activities: {
    knows: ['domain', 'records', 'commands', 'workflows', ...effects, ...ground],
    types: ['dependencies'],
  },
  api: {
    knows: ['codecs', 'domain', 'records', 'commands', 'workflows', 'process', ...effects, ...ground],
    types: ['dependencies'],
    folders: ['frame', 'campaigns', 'webhooks'],
  },
  process: {
    knows: ['records', 'commands', 'workflows', 'orchestrator', ...ground],
    types: ['dependencies'],
  },
  admin: {
    knows: ['codecs', 'domain', 'records', 'commands', 'dependencies', 'workflows', ...effects, ...ground],
  },
  dependencies: {
    knows: ['codecs', 'domain', 'records', 'commands', 'workflows', ...effects, ...ground, 'process'],
  },
  config: { knows: ['codecs', 'domain', 'outbound'] },
  secrets: { knows: ['domain'] },
  server: { knows: undefined },
  worker: { knows: undefined },
};

/** Packages that belong to some rooms alone. */
const packages = [
  { is: /^(slonik|@slonik\/.*|pg|pg-copy-streams)$/, in: ['records'], because: 'SQL lives in src/records/' },
  { is: /^(koa|@koa\/.*|koa-.*)$/, in: ['api'], because: 'Koa lives in src/api/' },
  {
    is: /^@temporalio\/client$/,
    in: ['orchestrator'],
    because: 'src/orchestrator.ts alone talks to the Temporal client',
  },
  {
    is: /^@temporalio\/workflow$/,
    in: ['workflows'],
    because: 'workflows alone run inside the sandbox',
  },
  {
    is: /^@temporalio\/(worker|activity)$/,
    in: ['worker', 'process', 'activities'],
    because: 'what runs on a Temporal worker lives in src/activities/ and src/process/',
  },
  {
    is: /^(undici|(node:)?https?)$/,
    in: ['provider', 'outbound', 'api', 'process', 'server', 'telemetry', 'storage'],
    because: 'requests leave through src/provider/ and src/outbound/',
  },
  { is: /^zod/, in: [], because: 'io-ts is the one schema language' },
  { is: /^node:/, notIn: ['workflows'], because: 'the sandbox of workflows has no Node' },
];

const findings = [];
const files = readdirSync(join(root, 'src'), { recursive: true })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.ts'));

for (const file of files) {
  checkPlace(file);
  const text = readFileSync(join(root, 'src', file), 'utf8');
  const imports = text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)';/gm);
  for (const [statement, type, specifier] of imports) {
    const typeOnly = type !== undefined || /\{(\s*type\s[^,}]+,?)+\s*\}/.test(statement);
    if (specifier.startsWith('.')) checkImport(file, normalize(join(dirname(file), specifier)), typeOnly);
    else if (!typeOnly || !specifier.startsWith('node:')) checkPackage(file, specifier);
  }
}

if (findings.length > 0) {
  process.stderr.write(
    `${findings.join('\n')}\n${findings.length} files or imports are in the wrong room.\n`,
  );
  process.exitCode = 1;
}

function roomOf(path) {
  return path.split('/')[0].replace(/\.ts$/, '');
}

function checkPlace(file) {
  const [room, folder, ...rest] = file.split('/');
  if (folder === undefined) {
    if (!loose.includes(roomOf(file))) {
      findings.push(
        `src/${file}: only ${loose.join(', ')} lie loose in src/; put it into the room of its layer.`,
      );
    }
    return;
  }
  if (rooms[room] === undefined) {
    findings.push(`src/${file}: there is no room ${room}/; the rooms are ${Object.keys(rooms).join(', ')}.`);
    return;
  }
  const folders = rooms[room].folders ?? [];
  if (rest.length > 0 && !folders.includes(folder)) {
    const known = folders.length === 0 ? 'no folders' : `the folders ${folders.join(', ')}`;
    findings.push(`src/${file}: ${room}/ has ${known}; use the subject it belongs to.`);
  }
}

function checkImport(file, target, typeOnly) {
  const from = roomOf(file);
  const to = roomOf(target);
  if (target.startsWith('..')) {
    findings.push(`src/${file}: imports ${target}; nothing of src/ imports what lies outside it.`);
    return;
  }
  if (from === to || entry.includes(from)) return;
  const { knows = [], types = [] } = rooms[from] ?? {};
  if (knows.includes(to) || (typeOnly && types.includes(to))) return;
  const allowed = [...knows, ...types.map((room) => `${room} (types)`)].join(', ');
  findings.push(`src/${file}: imports src/${target}; ${from} may import ${allowed}.`);
}

function checkPackage(file, specifier) {
  const room = roomOf(file);
  for (const { is, in: inside, notIn, because } of packages) {
    if (!is.test(specifier)) continue;
    if (inside !== undefined ? inside.includes(room) : !notIn.includes(room)) continue;
    findings.push(`src/${file}: imports ${specifier}; ${because}.`);
  }
}
