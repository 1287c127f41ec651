/** The receivers in docs/webhooks.md, run unchanged in their own languages, verify our signatures. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { signatureHeaders } from '../../src/domain/webhooks/signature.ts';

const guide = readFileSync('docs/webhooks.md', 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'webhook-receivers-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const compiler = resolve('node_modules/typescript/bin/tsc');
const inFolder = (command: string, ...options: string[]) =>
  execFileSync(command, options, { cwd: folder, encoding: 'utf8' });

interface Language {
  readonly file: string;
  readonly fence: string;
  readonly needs: string;
  readonly compile?: () => unknown;
  readonly run: (port: string) => readonly string[];
}

const languages: Readonly<Record<string, Language>> = {
  TypeScript: {
    file: 'receiver.mts',
    fence: 'ts',
    needs: process.execPath,
    compile: () => {
      const client = join(folder, 'node_modules/messaging-campaigns-client');
      inFolder(
        process.execPath,
        compiler,
        '-p',
        resolve('clients/typescript'),
        '--outDir',
        join(client, 'dist'),
      );
      cpSync('clients/typescript/package.json', join(client, 'package.json'));
      const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
      const roots = ['--typeRoots', resolve('node_modules/@types')];
      inFolder(process.execPath, compiler, ...options, ...roots, 'receiver.mts');
    },
    run: () => [process.execPath, 'receiver.mjs'],
  },
  Python: { file: 'receiver.py', fence: 'python', needs: 'python3', run: () => ['python3', 'receiver.py'] },
  Go: {
    file: 'receiver.go',
    fence: 'go',
    needs: 'go',
    compile: () => inFolder('go', 'build', '-o', 'receiver', 'receiver.go'),
    run: () => ['./receiver'],
  },
  Java: { file: 'Receiver.java', fence: 'java', needs: 'java', run: () => ['java', 'Receiver.java'] },
  PHP: {
    file: 'receiver.php',
    fence: 'php',
    needs: 'php',
    run: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
};

const secrets = [
  'plain',
  'schlüssel 👋',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'whsec_',
  'whsec_no base64',
];
const body = '{"text":"grüße 👋","eventKey":"sent"}';

const sign = (signing: readonly string[], secondsAgo = 10) =>
  signatureHeaders({
    id: '0199d6c1-0000-7000-8000-000000000003',
    sentAt: new Date(Date.now() - secondsAgo * 1_000),
    body: Buffer.from(body),
    secrets: signing,
  });

/** Requests to a receiver with `secret`, and the expected responses. */
const requests = (secret: string) => [
  { is: 'genuine', headers: sign([secret]), status: 204 },
  { is: 'signed by two', headers: sign(['newer', secret]), status: 204 },
  { is: 'by another', headers: sign(['another']), status: 401 },
  { is: 'unsigned', headers: sign([]), status: 401 },
  { is: 'without headers', headers: {}, status: 401 },
  { is: 'changed', headers: sign([secret]), body: body.replace('sent', 'read'), status: 401 },
  { is: 'of another id', headers: { ...sign([secret]), 'webhook-id': 'other' }, status: 401 },
  { is: 'malformed', headers: { ...sign([secret]), 'webhook-signature': 'v1,x v2,y' }, status: 401 },
  { is: 'without a time', headers: { ...sign([secret]), 'webhook-timestamp': 'soon' }, status: 401 },
  { is: 'of no digit', headers: { ...sign([secret]), 'webhook-timestamp': '²' }, status: 401 },
  {
    is: 'of an endless time',
    headers: { ...sign([secret]), 'webhook-timestamp': '9'.repeat(400) },
    status: 401,
  },
  { is: 'too old', headers: sign([secret], 330), status: 401 },
  { is: 'of the future', headers: sign([secret], -330), status: 401 },
];

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** The address of the receiver, once it answers. */
async function start({ run }: Language, secret: string): Promise<string> {
  const port = String(await freePort());
  const [command = '', ...options] = run(port);
  const child = spawn(command, options, {
    cwd: folder,
    // Java takes the environment's text for ASCII otherwise.
    env: { ...process.env, PORT: port, WEBHOOK_SECRET: secret, LC_ALL: 'C.UTF-8' },
    stdio: 'ignore',
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}/hooks`;
  while (child.exitCode === null) {
    const answers = await fetch(url, { method: 'POST', body: '{}' }).then(
      () => true,
      () => false,
    );
    if (answers) return url;
    await sleep(50);
  }
  throw new Error(`the receiver ended with ${child.exitCode}`);
}

// Go compiles its network library for a minute where it has not done so before: the release runs these.
const slowToStart = new Set(process.env['EVERY_CASE'] === undefined ? ['Go', 'Java'] : []);

const isHere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const tried = Object.keys(languages).filter((name) => !slowToStart.has(name));
const here = tried.filter((name) => {
  // In CI only PHP may be missing: without another language's program, its test fails.
  const isOwed = process.env['CI'] === 'true' && name !== 'PHP';
  const isThere = isOwed || isHere(languages[name]?.needs ?? '');
  if (!isThere) process.stderr.write(`${name} is not installed: its receiver was NOT run\n`);
  return isThere;
});

it.each(here)('in %s', async (name) => {
  const language = languages[name];
  if (language === undefined) throw new Error(`${name} is unknown`);
  const [, code] = new RegExp(`^\`\`\`${language.fence}\\n([^]*?)^\`\`\`$`, 'm').exec(guide) ?? [];
  writeFileSync(join(folder, language.file), code ?? '');
  language.compile?.();
  await Promise.all(
    secrets.map(async (secret) => {
      const url = await start(language, secret);
      for (const { is, headers, status, body: changed } of requests(secret)) {
        const answer = await fetch(url, { method: 'POST', headers, body: changed ?? body });
        expect([is, secret, answer.status]).toEqual([is, secret, status]);
      }
    }),
  );
});
