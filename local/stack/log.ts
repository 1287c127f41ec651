/** Writes the log of a stack: passes the lines of its processes through, and adds a few of its own. */
import type { Config } from '../../src/config.ts';

export interface StackLog {
  readonly own: (line: string) => void;
  readonly of: (child: string) => (line: string) => void;
}

/** JSON lines pass unchanged; the format `pretty` puts the name of its process before every line. */
export function createStackLog(
  format: Config['logFormat'],
  { write, now }: { write: (text: string) => void; now: () => Date },
): StackLog {
  if (format === 'pretty') {
    const headed = (name: string) => (line: string) => write(`${name.padEnd(9)}| ${line}\n`);
    return { own: headed('start'), of: headed };
  }
  const own = (line: string) =>
    write(`${JSON.stringify({ level: 'warn', time: now().toISOString(), service: 'start', msg: line })}\n`);
  return { own, of: () => (line) => write(`${line}\n`) };
}
