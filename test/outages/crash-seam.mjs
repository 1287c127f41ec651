/**
 * Loaded into a process before its program: SIGKILLs it right after the n-th writing statement that Postgres has carried
 * out (CRASH_AFTER=n), and tells its parent what each one was. The count begins with SIGUSR2, or at once with CRASH_ARMED.
 * With CRASH_COMMIT_OF it dies right after the commit of a transaction that wrote this text.
 */
import { writeSync } from 'node:fs';
import pg from 'pg';

const last = Number(process.env.CRASH_AFTER ?? '0');
const fatalText = process.env.CRASH_COMMIT_OF;
const dying = new WeakSet();
let armed = process.env.CRASH_ARMED === 'yes';
let writes = 0;

process.on('SIGUSR2', () => {
  armed = true;
  writeSync(1, 'armed\n');
});

// Updates of the rate schedule are no crash points: no invariant depends on them, and their number varies with time.
const isWrite = (text) =>
  /\b(?:INSERT|UPDATE|DELETE|COMMIT)\b/.test(text) && !/^\s*UPDATE channel_rate\b/.test(text);
const query = pg.Client.prototype.query;

pg.Client.prototype.query = function countedQuery(...statement) {
  const result = query.apply(this, statement);
  const text = typeof statement[0] === 'string' ? statement[0] : (statement[0]?.text ?? '');
  if (!armed || typeof result?.then !== 'function' || !isWrite(text)) return result;
  const values = statement[0]?.values ?? [];
  if (fatalText !== undefined && values.some((value) => String(value).includes(fatalText))) dying.add(this);
  const isFatal = dying.has(this) && text === 'COMMIT';
  writes += 1;
  const count = writes;
  const label = text.replaceAll(/\s+/g, ' ').trim().slice(0, 60);
  const after = () => {
    writeSync(1, `write ${count}: ${label}\n`);
    if (count === last || isFatal) process.kill(process.pid, 'SIGKILL');
  };
  return result.then((value) => {
    after();
    return value;
  });
};
