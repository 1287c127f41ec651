/** A real S3-compatible server on loopback. Without one, and without Go to build it, the test fails and says how to get it. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { pickFreePort } from '../../local/stack/host/free-port.ts';
import { ensureGoProgram } from '../../local/stack/temporal/go-program.ts';
import { listens } from '../../local/stack/children/node-children.ts';
import { createProgress } from '../../local/stack/progress.ts';
import { findOnPath, userCacheFolder } from '../../local/stack/host/user-cache.ts';

const version = '1.8.0';
const module = `github.com/versity/versitygw/cmd/versitygw@v${version}`;

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** Credentials as environment variables of the SDK. */
  readonly credentials: { readonly AWS_ACCESS_KEY_ID: string; readonly AWS_SECRET_ACCESS_KEY: string };
  readonly objects: () => Promise<readonly string[]>;
  /** Uploads that were begun and neither ended nor given up. */
  readonly openUploads: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const program = await findS3Server();
  const folder = await mkdtemp(join(tmpdir(), 'messaging-campaigns-s3-'));
  for (const name of ['objects', 'metadata']) await mkdir(join(folder, name));
  const port = await pickFreePort('127.0.0.1');
  const credentials = { AWS_ACCESS_KEY_ID: 'key-of-the-tests', AWS_SECRET_ACCESS_KEY: 'secret-of-the-tests' };
  const child = spawn(
    program,
    [
      '--quiet',
      '--port',
      `127.0.0.1:${port}`,
      '--access',
      credentials.AWS_ACCESS_KEY_ID,
      '--secret',
      credentials.AWS_SECRET_ACCESS_KEY,
      // Not every temporary folder takes extended attributes.
      'posix',
      '--sidecar',
      join(folder, 'metadata'),
      join(folder, 'objects'),
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`The S3 server ended with code ${child.exitCode}`);
    await sleep(50);
  }
  const endpoint = `http://127.0.0.1:${port}`;
  const bucket = 'uploads';
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: {
      accessKeyId: credentials.AWS_ACCESS_KEY_ID,
      secretAccessKey: credentials.AWS_SECRET_ACCESS_KEY,
    },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    endpoint,
    bucket,
    credentials,
    objects: async () => {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
      return Contents.flatMap(({ Key }) => Key ?? []);
    },
    openUploads: async () => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      return Uploads.length;
    },
    stop: async () => {
      client.destroy();
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** `versitygw` on PATH, else the one in the user's cache folder, compiled once in about a minute. */
async function findS3Server(): Promise<string> {
  const onPath = findOnPath('versitygw', process.env);
  if (onPath !== undefined) return onPath;
  const target = join(userCacheFolder(process.env), `versitygw-${version}`, 'versitygw');
  await ensureGoProgram(
    {
      environment: process.env,
      progress: createProgress(process.stderr),
      signal: AbortSignal.timeout(20 * 60_000),
    },
    { module, target },
  );
  return target;
}
