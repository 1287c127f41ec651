/** Limits a process's memory as a container would, by a control group. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** 2 GiB: the `mem_limit` of API and worker in docker-compose.yml. */
const limitBytes = 2 * 1024 ** 3;

/** Both versions of the interface: the folder that takes groups, and the file of the limit. */
const interfaces = [
  { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { folder: '/sys/fs/cgroup', limit: 'memory.max' },
];

/** The limit lasts until this process ends. Returns false if no control group can be created; the heap's limit then remains. */
export function limitMemory(pid: number): boolean {
  for (const { folder, limit } of interfaces) {
    const group = join(folder, `messaging-campaigns-${pid}`);
    if (!existsSync(join(folder, 'cgroup.procs'))) continue;
    try {
      mkdirSync(group);
      process.once('exit', () => spawnSync('rmdir', [group]));
      writeFileSync(join(group, limit), String(limitBytes));
      writeFileSync(join(group, 'cgroup.procs'), String(pid));
      return true;
    } catch {
      // Read-only, or without the controller of memory.
    }
  }
  return false;
}
