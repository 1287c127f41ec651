/**
 * Removes the dev.json that a start which was killed left behind, before anything is installed or built: whoever waits
 * for the file must not read the ports of processes that are gone. The file of a living start is left alone.
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
    // A folder that cannot be written to is the start's own business: it says what is wrong with it.
  }
}
