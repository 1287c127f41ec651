import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const logger = new URL('../../dist/src/telemetry/logger.js', import.meta.url).href;

/** Runs `code` with a logger in a process; returns its output and exit code. */
function run(code: string) {
  const head = `import { createLogger } from ${JSON.stringify(logger)};
    const logger = createLogger({ logLevel: 'info', logFormat: 'json' }, 'test');`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', head + code], {
    encoding: 'utf8',
  });
  const lines = stdout.split('\n').filter(Boolean);
  return { status, messages: lines.map((line) => (JSON.parse(line) as { msg: string }).msg) };
}

it.each([
  ['that ends', '', 0],
  ['that exits in the same turn', 'process.exit(3)', 3],
  ['that dies of an error', "throw new Error('no')", 1],
  ['that logs while it exits', "process.prependListener('exit', () => logger.info('c')); process.exit(3)", 3],
])('writes every line of a process %s, in order', (_, end, status) => {
  const outcome = run(`logger.info('a'); logger.warn('b'); ${end}`);
  expect(outcome.status).toBe(status);
  expect(outcome.messages).toEqual(end.includes("'c'") ? ['a', 'b', 'c'] : ['a', 'b']);
});

it('writes a fatal line at once, with those before it', () => {
  const { messages } = run(`logger.info('a'); logger.fatal('b'); process.kill(process.pid, 'SIGKILL');`);
  expect(messages).toEqual(['a', 'b']);
});

it('writes the lines of one turn of the event loop by the end of the next', () => {
  const { messages } = run(`logger.info('a');
    setImmediate(() => setImmediate(() => process.kill(process.pid, 'SIGKILL')));`);
  expect(messages).toEqual(['a']);
});
