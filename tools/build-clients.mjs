/** `npm run clients`: compiles clients/typescript, checks its size and packs it into dist/clients. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const mostBytes = 9_000;
// 2,000 bytes for a page that calls one operation: a bundler must drop the others.
const mostBytesOfOne = 2_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const client = join(root, 'clients', 'typescript');
const compiled = join(client, 'dist');
const packed = join(root, 'dist', 'clients');

rmSync(compiled, { recursive: true, force: true });
mkdirSync(packed, { recursive: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
execFileSync(process.execPath, [compiler, '-p', client], { stdio: 'inherit' });

const sizeOf = (code) => gzipSync(code).length;
const bytes = sizeOf(
  readdirSync(compiled)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(compiled, name), 'utf8'))
    .join('\n'),
);
const bytesOfOne = sizeOf(await bundleOf(`export { createClient, listTags } from '${compiled}/index.js';`));
if (bytes > mostBytes || bytesOfOne > mostBytesOfOne) {
  throw new Error(
    `The client is ${bytes} bytes in gzip of ${mostBytes}, one operation ${bytesOfOne} of ${mostBytesOfOne}`,
  );
}

for (const name of readdirSync(packed).filter((one) => one.endsWith('.tgz'))) rmSync(join(packed, name));
execFileSync('npm', ['pack', '--silent', '--pack-destination', packed], { cwd: client });
process.stdout.write(
  `clients/typescript: ${bytes} bytes in gzip of ${mostBytes}, one operation ${bytesOfOne} of ${mostBytesOfOne}, packed into dist/clients\n`,
);

async function bundleOf(source) {
  const entry = {
    name: 'entry',
    resolveId: (id) => (id === 'entry' ? id : undefined),
    load: (id) => (id === 'entry' ? source : undefined),
  };
  const { output } = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [entry],
    build: {
      write: false,
      target: 'es2022',
      rollupOptions: { input: 'entry', preserveEntrySignatures: 'strict' },
    },
  });
  return output[0].code;
}
