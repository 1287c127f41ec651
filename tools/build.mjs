/**
 * Compiles src/, local/ and bench/ to dist/, bundles the workflows and builds the page of dashboard/, each when its sources changed
 * since the last time.
 * Progress goes to standard error: standard output belongs to the command that follows.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitForLock } from './file-lock.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const stampFile = join(dist, '.built-from');
const sourceFolders = ['src', 'local', 'bench'];
// Its stamp file lies outside the folder, because Vite empties the folder.
const page = {
  stampFile: join(dist, '.page-built-from'),
  stamp: () =>
    stampOf(
      ['dashboard', 'clients/typescript/src', 'src/domain'].flatMap((one) => filesUnder(join(root, one))),
    ),
  build: () =>
    run(process.execPath, [
      join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
      'build',
      'dashboard',
      '--config',
      'dashboard/vite.config.ts',
      '--logLevel',
      'warn',
    ]),
};
const bundleFile = join(dist, 'workflow-bundle.js');

export async function ensureBuilt({ say = (line) => process.stderr.write(`${line}\n`) } = {}) {
  if (isCurrent()) return;
  const release = await waitForLock(join(dist, '.locks', 'build'), (holder) =>
    say(`Another process (${holder}) is building, waiting for it …`),
  );
  try {
    if (isCurrent()) return;
    const started = Date.now();
    say('Building …');
    if (!isProgramCurrent()) {
      const stamp = sourceStamp();
      await compile();
      removeOutputsWithoutSource();
      await bundleWorkflows();
      writeFileSync(stampFile, stamp);
    }
    if (!isPageCurrent()) {
      const stamp = page.stamp();
      await page.build();
      writeFileSync(page.stampFile, stamp);
    }
    say(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
  } finally {
    release();
  }
}

export const isCurrent = () => isProgramCurrent() && isPageCurrent();
const isProgramCurrent = () => holds(stampFile, sourceStamp());
const isPageCurrent = () => holds(page.stampFile, page.stamp());

function holds(file, stamp) {
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

/** Compares contents, not modification times: a checkout or a copy changes times. */
function sourceStamp() {
  return stampOf(sourceFolders.flatMap((folder) => filesUnder(join(root, folder))));
}

function stampOf(sources) {
  const hash = createHash('sha256').update(process.version);
  const files = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'tools/build.mjs', ...sources];
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)));
}

async function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [
    compiler,
    '-p',
    'tsconfig.build.json',
    '--noEmitOnError',
    '--pretty',
    'false',
  ]);
}

/** Deletes the output of renamed files from dist/, where a stale import would still find it. */
function removeOutputsWithoutSource() {
  for (const folder of sourceFolders) {
    for (const file of filesUnder(join(dist, folder))) {
      const source = file.replace(/^dist./, '').replace(/\.js(\.map)?$/, '.ts');
      if (!existsSync(join(root, source))) rmSync(join(root, file), { force: true });
    }
  }
}

async function bundleWorkflows() {
  const workflowsPath = join(dist, 'src', 'workflows', 'index.js');
  if (!existsSync(workflowsPath)) return;
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const carryCause = join(dist, 'src', 'workflows', 'carry-cause.js');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [carryCause],
    // Modules are loaded once per process instead of once per workflow: none of ours keeps state between calls.
    preloadModules: [workflowsPath, carryCause],
    logger: new DefaultLogger('ERROR'),
  });
  writeFileSync(`${bundleFile}.new`, code);
  renameSync(`${bundleFile}.new`, bundleFile);
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    }
    const stop = (signal) => child.kill(signal);
    process.once('SIGINT', stop).once('SIGTERM', stop);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      if (code === 0) return resolve();
      if (signal !== null) return reject(new Error(`The build was interrupted (${signal}).`));
      reject(new Error(`${output.trim()}\n\nThe build failed: the compiler's messages are above.`));
    });
  });
}

if (fileURLToPath(import.meta.url) === realpathSync(process.argv[1] ?? '')) {
  mkdirSync(dist, { recursive: true });
  try {
    await ensureBuilt();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
