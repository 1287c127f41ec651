/** The packed client of TypeScript, installed beside nothing else: the examples of both READMEs compile and run as they stand. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestStack, type TestStack } from '../support/stack.ts';

const folder = mkdtempSync(join(tmpdir(), 'client-examples-'));
let stack: TestStack;

beforeAll(async () => {
  execFileSync(process.execPath, ['tools/build-clients.mjs'], { stdio: 'pipe' });
  const packed = readdirSync('dist/clients')
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => resolve('dist/clients', name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  execFileSync('npm', ['install', '--offline', '--no-audit', ...packed], { cwd: folder, stdio: 'pipe' });
  stack = await startTestStack();
}, 120_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack?.remove();
}, 60_000);

function exampleOf(file: string): string {
  const [, code] = /^```ts\n([^]*?)^```$/m.exec(readFileSync(file, 'utf8')) ?? [];
  if (code === undefined) throw new Error(`${file} has no example`);
  return code;
}

/** What it prints. The address is the only word that changes. */
function run(name: string, code: string): string {
  const { baseUrl, apiKey } = stack.dev;
  writeFileSync(join(folder, `${name}.mts`), code.replace('http://127.0.0.1:3000', baseUrl));
  const compiler = resolve('node_modules/typescript/bin/tsc');
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  const roots = ['--typeRoots', resolve('node_modules/@types')];
  const compiled = spawnSync(process.execPath, [compiler, ...options, ...roots, `${name}.mts`], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(compiled.stdout).toBe('');
  const environment = { ...process.env, API_KEY: apiKey };
  return execFileSync(process.execPath, [`${name}.mjs`], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    timeout: 60_000,
  });
}

it("runs the example of the client's own README", () => {
  expect(run('own', exampleOf('clients/typescript/README.md'))).toMatch(/^4915112345678 \w+ null\n$/);
});

it('runs the five lines of the README', () => {
  const lines = exampleOf('README.md');
  expect(lines.trim().split('\n')).toHaveLength(5);
  const head = `import { setTimeout as sleep } from 'node:timers/promises';
import { createCampaign, createClient, getCampaign, listCampaignRecipients, pages } from 'messaging-campaigns-client';
const apiKey = process.env['API_KEY'];
const template_id = '${stack.dev.templateIds['plain_notice']}';
`;
  expect(run('five-lines', head + lines)).toMatch(/^4915112345678 \w+ null\n$/);
});
