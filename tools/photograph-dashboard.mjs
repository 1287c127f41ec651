/** `npm run pictures`: the tests of the dashboard photograph its screens; three of the pictures belong to the documentation. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';

const tests = ['run', '--project', 'journeys', 'test/journeys/dashboard'];
execFileSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...tests], {
  stdio: 'inherit',
  env: { ...process.env, PICTURES: '1' },
});
mkdirSync('docs/pictures', { recursive: true });
for (const name of ['campaign', 'wallet', 'new-campaign']) {
  copyFileSync(`dist/screenshots/docs-${name}.png`, `docs/pictures/${name}.png`);
}
