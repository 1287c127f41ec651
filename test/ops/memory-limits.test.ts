import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { programMemory } from '../../local/cluster/environment.ts';

const compose = readFileSync('docker-compose.yml', 'utf8');
const dockerfile = readFileSync('Dockerfile', 'utf8');

/** Each service's own lines, by name. */
const services = new Map(
  compose
    .slice(compose.indexOf('\nservices:\n') + '\nservices:\n'.length, compose.indexOf('\nvolumes:\n'))
    .split(/^ {2}(?=\w)/m)
    .filter((text) => text !== '')
    .map((text) => [text.slice(0, text.indexOf(':')), text] as const),
);

describe('the cluster rehearsal', () => {
  it('gives our programs the memory settings of the image', () => {
    const settings = Object.entries(programMemory).map(([name, value]) => `${name}="${value}"`);
    expect(dockerfile).toContain(`ENV ${settings.join(' ')}\n`);
  });
});

describe('docker-compose.yml', () => {
  const lasting = [...services].filter(([, text]) => !text.includes('restart: on-failure'));

  it('lists every long-running service', () => {
    expect(lasting.map(([name]) => name)).toEqual([
      'postgres',
      'pgbouncer',
      'temporal',
      'temporal-ui',
      'api',
      'worker',
      'simulator',
    ]);
  });

  it.each(lasting)('sets a memory limit and a health check for %s', (_, text) => {
    expect(text).toMatch(/^ {4}mem_limit: \d+[mg]$/m);
    expect(text).toMatch(/^ {4}healthcheck:$/m);
  });

  it.each(['api', 'worker'])('gives %s memory beside its heap', (name) => {
    const heap = Number(/=(\d+)$/.exec(programMemory.NODE_OPTIONS)?.[1]);
    const [, size, unit] = /mem_limit: (\d+)([mg])/.exec(services.get(name) ?? '') ?? [];
    expect(Number(size) * (unit === 'g' ? 1024 : 1)).toBeGreaterThanOrEqual(heap + 512);
  });
});
