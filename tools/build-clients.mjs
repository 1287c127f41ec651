/** `npm run clients`: compiles clients/typescript, holds it to its size and packs it into dist/clients. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const mostBytes = 6_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const client = join(root, 'clients', 'typescript');
const compiled = join(client, 'dist');
const packed = join(root, 'dist', 'clients');

rmSync(compiled, { recursive: true, force: true });
mkdirSync(packed, { recursive: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
execFileSync(process.execPath, [compiler, '-p', client], { stdio: 'inherit' });

const code = readdirSync(compiled)
  .filter((name) => name.endsWith('.js'))
  .map((name) => readFileSync(join(compiled, name), 'utf8'));
const bytes = gzipSync(code.join('\n')).length;
if (bytes > mostBytes) throw new Error(`The client is ${bytes} bytes in gzip, more than ${mostBytes}`);

execFileSync('npm', ['pack', '--silent', '--pack-destination', packed], { cwd: client });
process.stdout.write(
  `clients/typescript: ${bytes} bytes in gzip of ${mostBytes}, packed into dist/clients\n`,
);
