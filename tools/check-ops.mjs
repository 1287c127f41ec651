/**
 * Checks what no test of the product touches: docker-compose.yml, the alert rules with their own tests, the shell scripts.
 * Uses docker-compose and promtool of PATH; on Debian and Ubuntu, as root, it installs them when they are missing.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const mandatory = [
  'POSTGRES_PASSWORD',
  'DATABASE_OWNER_PASSWORD',
  'DATABASE_PASSWORD',
  'TEMPORAL_DATABASE_PASSWORD',
  'KEY_PEPPER',
  'SECRETS_KEY',
  'PROVIDER_APP_SECRET',
  'PROVIDER_VERIFY_TOKEN',
  'PROVIDER_BASE_URL',
];
const problems = [];

const compose = findCompose();
const promtool = ensureTool('promtool', ['--version'], 'prometheus');
const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-check-'));
try {
  if (compose !== undefined) checkCompose(compose);
  if (promtool) checkRules();
  checkScripts();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) process.stderr.write(`check-ops: ${problem}\n`);
process.stdout.write(
  problems.length === 0 ? 'check-ops: all right\n' : `check-ops: ${problems.length} problems\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkCompose(command) {
  const values = Object.fromEntries(mandatory.map((name) => [name, randomBytes(16).toString('hex')]));
  values.PROVIDER_BASE_URL = 'https://provider.invalid/v1';
  const config = (environment) => {
    const file = join(folder, 'compose.env');
    writeFileSync(
      file,
      Object.entries(environment)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    return run(command[0], [
      ...command.slice(1),
      '--env-file',
      file,
      '--profile',
      'simulator',
      '--profile',
      'pooler',
      'config',
    ]);
  };

  const complete = config(values);
  if (complete.status !== 0) {
    problems.push(`docker-compose.yml is refused: ${complete.stderr.trim()}`);
    return;
  }
  for (const name of mandatory) {
    const { [name]: _left, ...rest } = values;
    if (config(rest).status === 0) problems.push(`docker-compose.yml is accepted without ${name}`);
  }
  for (const [, image] of complete.stdout.matchAll(/^ {4}image: (\S+)$/gm)) {
    if (!/:[\w.-]+$/.test(image) || image.endsWith(':latest'))
      problems.push(`the image ${image} is not pinned`);
  }
  const secret = /^ {6}(\w*(?:PASSWORD|PWD|SECRET|PEPPER|TOKEN|_KEY)\w*): (.+)$/gm;
  const known = new Set(Object.values(values));
  for (const [, name, value] of complete.stdout.matchAll(secret)) {
    if (value !== 'null' && !known.has(value))
      problems.push(`${name} has a value of its own in docker-compose.yml`);
  }
}

function checkRules() {
  for (const args of [
    ['check', 'config', 'ops/prometheus.yml'],
    ['test', 'rules', 'ops/alerts.test.yml'],
  ]) {
    const { status, stdout, stderr } = run('promtool', args);
    if (status !== 0) problems.push(`promtool ${args.join(' ')}: ${`${stdout}${stderr}`.trim()}`);
  }
}

function checkScripts() {
  for (const name of readdirSync(join(root, 'ops'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.sh'),
  )) {
    const { status, stderr } = run('sh', ['-n', join('ops', name)]);
    if (status !== 0) problems.push(`ops/${name}: ${stderr.trim()}`);
    if (!readFileSync(join(root, 'ops', name), 'utf8').includes('\nset -eu'))
      problems.push(`ops/${name} goes on after an error`);
  }
}

/** Returns the program and its first arguments; undefined, after noting a problem, when it is not installed. */
function findCompose() {
  if (works('docker', ['compose', 'version'])) return ['docker', 'compose'];
  return ensureTool('docker-compose', ['version'], 'docker-compose') ? ['docker-compose'] : undefined;
}

function ensureTool(command, probe, debianPackage) {
  if (works(command, probe)) return true;
  if (process.getuid?.() === 0 && works('apt-get', ['--version'])) {
    process.stderr.write(`check-ops: installing ${debianPackage} …\n`);
    // RUNLEVEL=1 keeps a package from starting its service.
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    run('apt-get', ['update', '-qq'], environment);
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage], environment);
    if (works(command, probe)) return true;
  }
  problems.push(`${command} is not on PATH and could not be installed: install the package ${debianPackage}`);
  return false;
}

function works(command, args) {
  return run(command, args).status === 0;
}

/** Removes the caller's own variables, which would hide what a file leaves out. */
function run(command, args, environment = { PATH: process.env.PATH, HOME: process.env.HOME }) {
  return spawnSync(command, args, { cwd: root, env: environment, encoding: 'utf8' });
}
