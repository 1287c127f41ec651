/**
 * Installs what package-lock.json pins when node_modules is missing or stale. Runs before anything is installed,
 * so it uses nothing but Node and npm. Progress goes to standard error: standard output belongs to the command that follows.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitForLock } from './file-lock.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const stampFile = join(root, 'node_modules', '.installed-for');
const minimumNode = [20, 19];

export async function ensureInstalled({ quiet = false } = {}) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < minimumNode[0] || (major === minimumNode[0] && minor < minimumNode[1])) {
    throw new Error(
      `Node ${minimumNode.join('.')} or newer is needed, this is ${process.versions.node}: install a newer Node and start again.`,
    );
  }
  if (isCurrent()) return;
  const say = quiet ? () => undefined : (line) => process.stderr.write(`${line}\n`);
  const release = await waitForLock(join(root, 'dist', '.locks', 'install'), (holder) =>
    say(`Another process (${holder}) is installing the dependencies, waiting for it …`),
  );
  try {
    if (isCurrent()) return;
    say('Installing the dependencies that package-lock.json pins (about half a minute) …');
    const started = Date.now();
    await npmCi();
    writeFileSync(stampFile, wantedStamp());
    say(`Dependencies installed in ${Math.round((Date.now() - started) / 1000)} s.`);
  } finally {
    release();
  }
}

/** The lock file and the platform: node_modules copied from another machine lacks the native parts. */
function wantedStamp() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
}

function isCurrent() {
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wantedStamp()) return true;
  if (!matchesHiddenLock()) return false;
  writeFileSync(stampFile, wantedStamp());
  return true;
}

/** True when npm itself recorded having installed every pinned version, by `npm ci` or `npm install` run by hand. */
function matchesHiddenLock() {
  const hiddenLock = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hiddenLock)) return false;
  try {
    const installed = JSON.parse(readFileSync(hiddenLock, 'utf8')).packages ?? {};
    const pinned = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {};
    return Object.entries(pinned).every(([path, entry]) => {
      if (path === '') return true;
      const there = installed[path] !== undefined && existsSync(join(root, path));
      return there
        ? installed[path].version === entry.version
        : entry.optional === true && !isForThisMachine(entry);
    });
  } catch {
    return false;
  }
}

/** False for packages that npm may leave out on this machine: optional ones for other platforms, and their dependencies. */
function isForThisMachine({ os, cpu, libc }) {
  if (os === undefined || libc !== undefined) return false;
  return os.includes(process.platform) && (cpu === undefined || cpu.includes(process.arch));
}

function npmCi() {
  return new Promise((resolve, reject) => {
    let output = '';
    const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' };
    const child = spawn(
      'npm',
      ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
      options,
    );
    const stop = (signal) => {
      child.kill(signal);
      process.exitCode = 1;
    };
    process.once('SIGINT', stop).once('SIGTERM', stop);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-8000)));
    }
    child.on('error', (error) =>
      reject(new Error(`npm could not be run (${error.message}): install npm and start again.`)),
    );
    child.on('close', (code) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      if (code === 0) return resolve();
      reject(
        new Error(
          `${output.trim()}\n\nnpm ci failed (above is what it said): check the network and the free disk space, then start again.`,
        ),
      );
    });
  });
}

if (fileURLToPath(import.meta.url) === realpathSync(process.argv[1] ?? '')) {
  try {
    await ensureInstalled({ quiet: process.argv.includes('--quiet') });
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
