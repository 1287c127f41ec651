/** The SQLite files of the local Temporal server; the server must be down while they are copied. */
import { cpSync, existsSync, rmSync } from 'node:fs';

const parts = ['', '-wal', '-shm'];

export function copyTemporalStore(from: string, to: string): void {
  for (const part of parts) {
    rmSync(`${to}${part}`, { force: true });
    if (existsSync(`${from}${part}`)) cpSync(`${from}${part}`, `${to}${part}`);
  }
}
