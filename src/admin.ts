/** Operator commands: `npm run --silent admin -- <command>`. */
import { fileURLToPath } from 'node:url';
import { runAdmin } from './admin/run-admin.ts';

const exitCode = await runAdmin({
  args: process.argv.slice(2),
  environment: process.env,
  // From dist/src/.
  sqlFolder: fileURLToPath(new URL('../../sql', import.meta.url)),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
// Without waiting for timers: Temporal's client may retry a call on its closed connection, which throws.
process.stdout.write('', () => process.exit(exitCode));
