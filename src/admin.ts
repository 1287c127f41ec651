/** Operator commands: `npm run --silent admin -- <command>`. */
import { fileURLToPath } from 'node:url';
import { runAdmin } from './admin/run-admin.ts';

process.exitCode = await runAdmin({
  args: process.argv.slice(2),
  environment: process.env,
  // From dist/src/.
  sqlFolder: fileURLToPath(new URL('../../sql', import.meta.url)),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
