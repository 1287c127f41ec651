/** `npm test`: builds, runs every test, ends with the line `N passed, N failed`. Further arguments go to vitest. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'test-report-'));
const reportFile = join(folder, 'report.json');

function runVitest() {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** A file that could not even be loaded counts as one failure; so does a run that ended without a report. */
function count(exitCode) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(reportFile, 'utf8'),
    );
    const unloaded = testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((one) => one.status === 'failed'),
    );
    const failed = numFailedTests + numPendingTests + unloaded.length;
    return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

let result = { passed: 0, failed: 1 };
try {
  await ensureBuilt();
  result = count(await runVitest());
} catch (error) {
  process.stderr.write(`${error.message}\n`);
}
rmSync(folder, { recursive: true, force: true });
process.exitCode = result.failed === 0 ? 0 : 1;
process.stdout.write(`${result.passed} passed, ${result.failed} failed\n`);
