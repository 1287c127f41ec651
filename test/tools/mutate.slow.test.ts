import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const source = `
export const isAdult = (age: number) => age >= 18;
export const isHuman = (age: number) => age <= 150;
`;
const tests = `
import { expect, it } from 'vitest';
import { isAdult, isHuman } from '../../src/domain/age.ts';
it('knows adults', () => {
  expect([17, 18].map(isAdult)).toEqual([false, true]);
  expect(isHuman(200)).toBe(false);
});
`;

let root: string;
let scratch: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mutated-'));
  scratch = join(root, 'scratch');
  for (const folder of ['scratch', 'tree/src/domain', 'tree/test/domain'])
    await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, 'tree/src/domain/age.ts'), source);
  await writeFile(join(root, 'tree/test/domain/age.test.ts'), tests);
  await writeFile(join(root, 'tree/package.json'), '{"type": "module"}');
  await symlink(resolve('node_modules'), join(root, 'tree/node_modules'));
});
afterEach(() => rm(root, { recursive: true }));

const mutate = () => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, [resolve('tools/mutate.mjs'), 'src/domain/age.ts'], {
    cwd: join(root, 'tree'),
    env: { ...env, TMPDIR: scratch },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return { child, ended, output: () => output };
};

const expectNothingLeft = async () => {
  expect(await readFile(join(root, 'tree/src/domain/age.ts'), 'utf8')).toBe(source);
  expect((await readdir(scratch)).filter((name) => name.startsWith('mutate-'))).toEqual([]);
};

it('tells the changes that a test notices from those that it does not', async () => {
  const run = mutate();
  expect(await run.ended).toBe(0);
  expect(run.output()).toContain('tests: test/domain/age.test.ts');
  expect(run.output()).toContain('killed    src/domain/age.ts:2  >= → >');
  expect(run.output()).toContain('survived  src/domain/age.ts:3  <= → <');
  expect(run.output()).toContain('1 killed, 1 survived');
  await expectNothingLeft();
});

it('leaves nothing behind when it is interrupted', async () => {
  const run = mutate();
  await expect.poll(run.output, { interval: 20 }).toContain('killed');
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(130);
  await expectNothingLeft();
});
