/**
 * Checks ops/helm without a cluster: `helm lint`, and every object it makes against the schemas of Kubernetes by `kubeconform`.
 * Both are compiled from the Go module proxy, minutes, once per machine; the schemas come from there too.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const chart = fileURLToPath(new URL('../ops/helm', import.meta.url));
const kubernetes = '1.34.0';
const schemas = 'k8s.io/client-go@v0.34.0';
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const bin = join(cache, 'messaging-campaigns', 'helm-tools');
const go = { CGO_ENABLED: '0', GOBIN: bin, GOFLAGS: '-mod=mod', GOWORK: 'off' };
// The proxy has no schema of policy/v1: of those objects only the form of YAML is looked at.
const groups = { v1: 'api__v1', 'apps/v1': 'apis__apps__v1', 'batch/v1': 'apis__batch__v1' };

const helm = tool('helm', 'helm.sh/helm/v3/cmd/helm@v3.19.2');
const kubeconform = tool('kubeconform', 'github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0');
const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-chart-'));
try {
  run(helm, ['lint', '--strict', '--quiet', '--kube-version', kubernetes, chart]);
  const objects = run(helm, ['template', 'check', chart, '--kube-version', kubernetes]);
  const { Dir: module } = JSON.parse(run('go', ['mod', 'download', '-json', schemas], '', go));
  const { known, unknown } = writeSchemas(module, objects);
  const location = join(folder, '{{ .ResourceKind }}{{ .KindSuffix }}.json');
  const told = run(
    kubeconform,
    ['-strict', '-summary', '-ignore-missing-schemas', '-schema-location', location],
    objects,
  );
  if (!told.includes(`Valid: ${known}, Invalid: 0, Errors: 0, Skipped: ${unknown}`))
    fail(`not all objects are valid: ${told}`);
  process.stdout.write(`check-chart: ${told}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A file for each kind that the chart makes; what a schema does not name is refused. Returns how many objects have one. */
function writeSchemas(module, objects) {
  const all = [...objects.matchAll(/^apiVersion: (\S+)\nkind: (\S+)$/gm)];
  const known = all.filter(([, version]) => groups[version] !== undefined);
  for (const [, version, kind] of known) {
    const file = join(module, 'openapi', 'openapitest', 'testdata', `${groups[version]}_openapi.json`);
    const { components } = JSON.parse(readFileSync(file, 'utf8'));
    for (const schema of Object.values(components.schemas))
      if (schema.properties) schema.additionalProperties = false;
    const name = Object.entries(components.schemas).find(([, schema]) =>
      schema['x-kubernetes-group-version-kind']?.some(
        (one) => one.kind === kind && apiVersion(one) === version,
      ),
    )?.[0];
    if (name === undefined) fail(`there is no schema of ${version} ${kind}`);
    const target = `${kind.toLowerCase()}-${version.replace('/', '-')}.json`;
    writeFileSync(join(folder, target), JSON.stringify({ $ref: `#/components/schemas/${name}`, components }));
  }
  return { known: known.length, unknown: all.length - known.length };
}

function apiVersion({ group, version }) {
  return group === '' ? version : `${group}/${version}`;
}

function tool(name, module) {
  const path = join(bin, name);
  if (spawnSync(path, ['--help']).error === undefined) return path;
  mkdirSync(bin, { recursive: true });
  process.stderr.write(`check-chart: compiling ${module} …\n`);
  run('go', ['install', '-ldflags=-s -w', module], '', go);
  return path;
}

function run(command, args, input = '', environment = {}) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    input,
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
