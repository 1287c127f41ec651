/**
 * Removes the dev.json of a killed start before anything is installed or built, so that programs waiting for the file do not
 * read ports of dead processes. The file of a running start stays.
 */
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tryLock } from './file-lock.mjs';

const dataDir = resolve(process.env.DATA_DIR || '.data');
const devFile = join(dataDir, 'dev.json');

if (existsSync(devFile)) {
  try {
    const lock = tryLock(join(dataDir, 'start.lock'));
    if (lock.release !== undefined) {
      rmSync(devFile, { force: true });
      lock.release();
    }
  } catch {
    // Ignored: the start itself reports a folder that cannot be written.
  }
}
