/** The time-skipping Temporal server of the tests: TEMPORAL_TEST_SERVER, the user's cache, the SDK's download, Maven; else an error naming every way. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { waitForLock } from '#file-lock';
import { runTool } from '../host/run-tool.ts';
import { downloadWithSdk } from './sdk-download.ts';
import { StackError } from '../error.ts';
import type { TemporalBinarySearch } from './binary.ts';
import { findOnPath, isExecutable, userCacheFolder } from '../host/user-cache.ts';

const version = '1.38.0';

/** The path of a program that takes `<port> [--enable-time-skipping]`. Throws StackError when no way leads to one. */
export async function findTestServer({
  environment,
  progress,
  signal,
}: TemporalBinarySearch): Promise<string> {
  const configured = environment['TEMPORAL_TEST_SERVER'];
  if (configured !== undefined && configured !== '') {
    if (isExecutable(configured)) return configured;
    throw new StackError(`TEMPORAL_TEST_SERVER names ${configured}, which is not a program that can be run.`);
  }
  const cache = userCacheFolder(environment);
  const downloaded = join(cache, 'temporal-test-server-sdk', 'temporal-test-server');
  const fromMaven = join(cache, `temporal-test-server-${version}`, 'temporal-test-server');
  const present = [downloaded, fromMaven].find(isExecutable);
  if (present !== undefined) return present;

  mkdirSync(cache, { recursive: true });
  const release = await waitForLock(join(cache, 'temporal-test-server.lock'));
  try {
    if (isExecutable(fromMaven)) return fromMaven;
    const downloadProblem = await downloadWithSdk({
      server: 'createTimeSkipping',
      target: downloaded,
      environment,
      signal,
    });
    if (downloadProblem === undefined) return downloaded;
    progress.say(
      'Getting the time-skipping Temporal server from Maven (about half a minute, once per machine) …',
    );
    const mavenProblem = await installWithMaven(dirname(fromMaven), { environment, progress, signal });
    if (mavenProblem === undefined) return fromMaven;
    throw new StackError(
      `There is no time-skipping Temporal server for the tests. The download of the SDK: ${downloadProblem}. Maven: ${mavenProblem}.\n` +
        'Set TEMPORAL_TEST_SERVER to the program, or let this machine reach https://temporal.download, or install Java 11 or newer and Maven.',
    );
  } finally {
    release();
  }
}

async function installWithMaven(
  target: string,
  { environment, signal }: TemporalBinarySearch,
): Promise<string | undefined> {
  const maven = findOnPath('mvn', environment);
  const java = findOnPath('java', environment);
  if (maven === undefined) return 'Maven is not installed';
  if (java === undefined) return 'Java is not installed';
  const project = mkdtempSync(join(tmpdir(), 'temporal-test-server-'));
  const draft = `${target}.new-${process.pid}`;
  try {
    writeFileSync(join(project, 'pom.xml'), pom);
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
    const args = ['-B', '-q', goal, `-DoutputDirectory=${draft}`, '-DincludeScope=runtime'];
    const { succeeded, tail } = await runTool({ command: maven, args, environment, cwd: project, signal });
    if (!succeeded) return tail.find((line) => line.includes('ERROR')) ?? 'it failed';
    const program = join(draft, 'temporal-test-server');
    writeFileSync(program, launcher);
    chmodSync(program, 0o755);
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
    return undefined;
  } finally {
    rmSync(project, { recursive: true, force: true });
    rmSync(draft, { recursive: true, force: true });
  }
}

// `exec`, because the SDK stops the process it started and nothing below it.
const launcher = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "*" io.temporal.testserver.TestServer "$@"
`;

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>messaging.campaigns</groupId>
  <artifactId>temporal-test-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${version}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
`;
