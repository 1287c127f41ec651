/** ops/temporal/set-up-namespace.sh, with a command `temporal` that notes how it is called. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

function callsOn(server: { readonly hasNamespace: boolean }, environment: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-campaigns-namespace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const describes = server.hasNamespace ? 'exit 0' : 'exit 1';
  const script = `#!/bin/sh\necho "$*" >> '${folder}/calls'\ncase "$*" in *describe*) ${describes} ;; esac\n`;
  writeFileSync(join(folder, 'temporal'), script, { mode: 0o755 });
  const PATH = `${folder}:${process.env['PATH'] ?? ''}`;
  const env = { PATH, TEMPORAL_NAMESPACE: 'campaigns', ...environment };
  execFileSync('/bin/sh', ['ops/temporal/set-up-namespace.sh'], { env });
  return readFileSync(join(folder, 'calls'), 'utf8').match(/namespace (?:create|update).*/g) ?? [];
}

it('creates the namespace with a retention of 72 hours, or the one that is set', () => {
  const absent = { hasNamespace: false };
  expect(callsOn(absent, {})).toEqual(['namespace create --namespace campaigns --retention 72h']);
  expect(callsOn(absent, { TEMPORAL_RETENTION: '' })).toEqual([
    'namespace create --namespace campaigns --retention 72h',
  ]);
  expect(callsOn(absent, { TEMPORAL_RETENTION: '168h' })).toEqual([
    'namespace create --namespace campaigns --retention 168h',
  ]);
});

it('changes the retention of a namespace that exists only to one that is set', () => {
  const present = { hasNamespace: true };
  expect(callsOn(present, {})).toEqual([]);
  expect(callsOn(present, { TEMPORAL_RETENTION: '168h' })).toEqual([
    'namespace update --namespace campaigns --retention 168h',
  ]);
});

it('gets TEMPORAL_RETENTION from .env by docker-compose.yml', () => {
  const [, service = ''] =
    /^ {2}temporal-namespace:\n([^]*?)\n\n/m.exec(readFileSync('docker-compose.yml', 'utf8')) ?? [];
  expect(service).toMatch(/^ {6}TEMPORAL_RETENTION:$/m);
  expect(readFileSync('.env.example', 'utf8')).toMatch(/^# TEMPORAL_RETENTION=72h$/m);
});
