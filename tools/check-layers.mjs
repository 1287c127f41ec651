/**
 * Checks the structure of src/ and test/: which layer may import which, which package belongs to which layer, and that every layer
 * has the same subject folders. Also finds the marks of unresolved merges, which compile within a template literal. Part of `npm run check`; each finding names the right layer. The argument is another root, for its test.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));

const loose = ['server', 'worker', 'admin', 'dependencies', 'config', 'environment', 'secrets'];
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

const foundation = ['concurrency', 'config', 'secrets', 'telemetry'];
const effects = ['provider', 'outbound', 'storage', 'orchestrator'];

/**
 * From the lowest layer up. `knows`: the other layers that it may import; `types`: those of which it may import types
 * alone; `folders`: the folders that it may hold.
 */
const layers = {
  codecs: { knows: ['domain'] },
  domain: { knows: ['codecs'], folders: subjects },
  concurrency: { types: ['telemetry'] },
  secrets: { knows: ['domain'] },
  records: { knows: ['codecs', 'domain', 'concurrency', 'config'], folders: [...subjects, 'database'] },
  provider: { knows: ['codecs', 'domain', 'concurrency', 'config'] },
  outbound: { knows: ['codecs', 'domain', 'concurrency', 'config'] },
  storage: { knows: ['codecs', 'domain', 'concurrency', 'config'] },
  environment: { knows: ['outbound'] },
  config: { knows: ['codecs', 'domain', 'outbound', 'environment'] },
  workflows: { knows: ['domain'], types: ['activities'] },
  orchestrator: { knows: ['workflows', 'domain', 'concurrency', 'config'] },
  telemetry: { knows: ['concurrency', 'config', 'domain', 'records'], types: ['dependencies', ...effects] },
  commands: {
    knows: ['codecs', 'domain', 'records', 'workflows', ...effects, ...foundation],
    types: ['dependencies'],
    folders: subjects,
  },
  activities: {
    knows: ['domain', 'records', 'commands', 'workflows', ...effects, ...foundation],
    types: ['dependencies'],
  },
  process: {
    knows: ['records', 'commands', 'workflows', 'orchestrator', ...foundation],
    types: ['dependencies'],
  },
  api: {
    knows: ['codecs', 'domain', 'records', 'commands', 'workflows', 'process', ...effects, ...foundation],
    types: ['dependencies'],
    folders: ['frame', 'frame/body', 'frame/caller', 'frame/document', 'campaigns', 'dashboard', 'webhooks'],
  },
  dependencies: {
    knows: ['codecs', 'domain', 'records', 'commands', 'workflows', 'process', ...effects, ...foundation],
  },
  admin: {
    // A record is shown as the API shows it.
    knows: [
      'codecs',
      'domain',
      'records',
      'commands',
      'dependencies',
      'workflows',
      'process',
      'api',
      ...effects,
      ...foundation,
    ],
  },
  server: { knows: 'all' },
  worker: { knows: 'all' },
};

/** Packages that belong to some layers alone. */
const packages = [
  { is: /^(slonik|@slonik\/.*|pg|pg-copy-streams)$/, in: ['records'], because: 'SQL lives in src/records/' },
  { is: /^(koa|@koa\/.*|koa-.*)$/, in: ['api'], because: 'Koa lives in src/api/' },
  {
    is: /^@temporalio\/client$/,
    in: ['orchestrator'],
    because: 'src/orchestrator/ alone talks to the Temporal client',
  },
  {
    is: /^@temporalio\/workflow$/,
    in: ['workflows'],
    because: 'src/workflows/ alone runs inside the sandbox',
  },
  {
    is: /^@temporalio\/(worker|activity)$/,
    in: ['activities', 'process', 'worker'],
    because: 'what runs on a Temporal worker lives in src/activities/ and src/process/',
  },
  {
    is: /^(undici|(node:)?https?)$/,
    in: ['provider', 'outbound', 'storage', 'telemetry', 'process', 'api', 'server'],
    because: 'requests leave through src/provider/ and src/outbound/',
  },
  { is: /^zod/, in: [], because: 'io-ts is the one schema language' },
  { is: /^node:/, notIn: ['workflows'], because: 'the sandbox of workflows has no Node' },
];

/** Folders of test/ that are no mirror of src/ or local/; `ops`, `tools` and `clients` are layers next to src/. */
const ownTests = [
  'journeys',
  'outages',
  'release',
  'pooler',
  'support',
  'histories',
  'ops',
  'tools',
  'clients',
];

const findings = [];
for (const file of filesOf('src')) {
  const imports = importsOf(file);
  checkPlace(file, imports);
  checkImports(file, imports);
}
for (const file of filesOf('test')) checkTest(file);
const misplaced = findings.length;
for (const folder of ['src', 'test', 'local', 'dashboard'])
  for (const file of filesOf(folder)) checkMerged(`${folder}/${file}`);

if (findings.length > 0) {
  process.stderr.write(`${findings.join('\n')}\n`);
  if (misplaced > 0) process.stderr.write(`${misplaced} files or imports are in the wrong layer.\n`);
  process.exitCode = 1;
}

function filesOf(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules/'));
}

function checkMerged(file) {
  if (/^(?:<{7}|>{7}) /m.test(readFileSync(join(root, file), 'utf8')))
    findings.push(`${file}: has the marks of an unresolved merge.`);
}

/** `{ target, layer }` for a file, `{ name }` for a package; `isType` where no value is imported. */
function importsOf(file) {
  const text = readFileSync(join(root, 'src', file), 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)';/gm),
    ...text.matchAll(/\bimport\((\s*)'([^']+)'\)/g),
  ];
  return found.map(([statement, type, specifier]) => {
    const isType = (type ?? '').trim() === 'type' || /\{(\s*type\s[^,}]+,?)+\s*\}/.test(statement);
    if (!specifier.startsWith('.')) return { name: specifier, isType };
    const target = normalize(join(dirname(file), specifier))
      .split(sep)
      .join('/');
    return { target, layer: target.startsWith('..') ? undefined : layerOf(target), isType };
  });
}

function layerOf(path) {
  return path.split('/')[0].replace(/\.ts$/, '');
}

function checkPlace(file, imports) {
  const [layer, ...path] = file.split('/');
  if (path.length === 0) {
    if (loose.includes(layerOf(file))) return;
    findings.push(
      `src/${file}: only ${loose.join(', ')} lie loose in src/; it belongs to ${rightLayer(file, imports)}.`,
    );
    return;
  }
  if (layers[layer] === undefined) {
    findings.push(
      `src/${file}: src/ has no layer ${layer}/ (${Object.keys(layers).join(', ')}); it belongs to ${rightLayer(file, imports)}.`,
    );
    return;
  }
  const { folders } = layers[layer];
  if (path.length === 1 || folders?.includes(path.slice(0, -1).join('/'))) return;
  const known = folders === undefined ? 'no folders' : `the folders ${folders.join(', ')} and none below`;
  findings.push(`src/${file}: ${layer}/ has ${known}; use the subject it belongs to.`);
}

function checkImports(file, imports) {
  const from = layerOf(file);
  if (layers[from] === undefined) return;
  for (const one of imports) {
    if (one.name !== undefined) {
      const owner = ownerOf(one, from);
      if (owner === undefined) continue;
      findings.push(
        `src/${file}: imports ${one.name}; ${owner.because}. It belongs to ${rightLayer(file, imports)}.`,
      );
    } else if (one.layer === undefined) {
      findings.push(`src/${file}: imports ${one.target}; nothing of src/ imports what lies outside it.`);
    } else if (!mayImport(from, one)) {
      const { knows = [], types = [] } = layers[from];
      const allowed = [...knows, ...types.map((layer) => `${layer} (types)`)].join(', ') || 'no other layer';
      findings.push(
        `src/${file}: imports src/${one.target}; ${from} may import ${allowed}. The code that needs it belongs to ${rightLayer(file, imports)}.`,
      );
    }
  }
}

function mayImport(from, { layer, isType }) {
  const { knows = [], types = [] } = layers[from];
  return from === layer || knows === 'all' || knows.includes(layer) || (isType && types.includes(layer));
}

/** The rule that keeps a package out of a layer. */
function ownerOf({ name, isType }, layer) {
  if (isType && name.startsWith('node:')) return undefined;
  return packages.find(
    ({ is, in: inside, notIn }) =>
      is.test(name) && (inside === undefined ? notIn.includes(layer) : !inside.includes(layer)),
  );
}

/** The lowest layer that may import all that the file does. */
function rightLayer(file, imports) {
  const fits = (layer) =>
    imports.every((one) =>
      one.name === undefined
        ? one.layer !== undefined && mayImport(layer, one)
        : ownerOf(one, layer) === undefined,
    );
  const layer = Object.keys(layers).find((candidate) => !loose.includes(candidate) && fits(candidate));
  if (layer === undefined) return 'no one layer: split it by what it imports';
  if (!layers[layer].folders?.includes('campaigns')) return `src/${layer}/`;
  const subject = subjects.find((word) => file.includes(word) || file.includes(word.replace(/s$/, '')));
  return `src/${layer}/${subject ?? '<its subject>'}/`;
}

function checkTest(file) {
  const folder = dirname(file);
  const [top] = folder.split('/');
  if (ownTests.includes(top)) return;
  if (folder !== '.' && existsSync(join(root, top === 'local' ? folder : join('src', folder)))) return;
  findings.push(
    `test/${file}: test/ mirrors src/ and local/, and there is no ${top === 'local' ? folder : `src/${folder}`}; put it beside the tests of what it tests, or into ${ownTests.slice(0, 2).join('/ or ')}/.`,
  );
}
