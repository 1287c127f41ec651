import { spawnSync } from 'node:child_process';

/** Whether this machine has Prometheus (Debian: apt-get install prometheus). */
export const hasPrometheus = (): boolean => spawnSync('prometheus', ['--version']).status === 0;
