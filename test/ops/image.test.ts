/** Checks, without a container engine, that the image can be built for amd64 and arm64. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { sourcesOfBuild } from '../support/sources-of-build.ts';

it('the native part of Temporal exists for both architectures', () => {
  const releases = ['x86_64', 'aarch64'].map(
    (machine) => `node_modules/@temporalio/core-bridge/releases/${machine}-unknown-linux-gnu/index.node`,
  );
  expect(releases.filter((path) => !existsSync(path))).toEqual([]);
});

// recheck runs in JavaScript or on a JVM where it has no native build; only a unit test uses it.
const hasFallback = new Set(['node_modules/recheck-linux-x64']);

it('every package for Linux on x64 has its counterpart for arm64', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, unknown>>;
  };
  const names = Object.keys(packages).filter((name) => name.includes('linux-x64') && !hasFallback.has(name));
  expect(names).not.toEqual([]);
  expect(names.filter((name) => packages[name.replaceAll('linux-x64', 'linux-arm64')] === undefined)).toEqual(
    [],
  );
});

it('all files that the build stage copies reach the builder', () => {
  const reachBuilder = readFileSync('.dockerignore', 'utf8').split('\n');
  expect(sourcesOfBuild().filter((name) => !reachBuilder.includes(`!${name}`))).toEqual([]);
});

it('every base image is Node slim pinned by its digest, and no stage fixes a platform', () => {
  const bases = [...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (.+?)(?: AS \w+)?$/gm)].map(
    ([, base]) => base,
  );
  expect(new Set(bases)).toEqual(
    new Set([expect.stringMatching(/^node:\d+\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/)]),
  );
});

it('every third-party image is pinned by its digest', () => {
  const files = ['docker-compose.yml', 'ops/helm/values.yaml'].map((file) => readFileSync(file, 'utf8'));
  const images = files
    .flatMap((text) => [...text.matchAll(/^\s*image: (\S+:\S+)$/gm)].map(([, image]) => image ?? ''))
    .filter((image) => !image.startsWith('messaging-campaigns:'));
  expect(images.length).toBeGreaterThan(5);
  expect(images.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
});
