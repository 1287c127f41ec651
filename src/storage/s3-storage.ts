/** Files in a bucket of any S3-compatible store; uploads are multipart, so memory does not grow with the file. */
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  NoSuchKey,
  NoSuchUpload,
  paginateListObjectsV2,
  ListMultipartUploadsCommand,
  S3Client,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable, Transform } from 'node:stream';
import { type FileStorage, StorageFailure } from './file-storage.ts';

export interface S3StorageOptions {
  readonly bucket: string;
  /** Amazon S3 by default. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly forcePathStyle: boolean;
}

/** Credentials come from the SDK's default chain (environment, profile, instance). */
export function createS3Storage({ bucket, endpoint, region, forcePathStyle }: S3StorageOptions): FileStorage {
  const client = new S3Client({ region, forcePathStyle, ...(endpoint !== undefined && { endpoint }) });
  const place = `the bucket ${bucket}${endpoint === undefined ? '' : ` at ${endpoint}`}`;
  const failure = (error: unknown): StorageFailure =>
    new StorageFailure(`Uploaded files cannot be kept in ${place}: ${reasonOf(error)}`, { cause: error });

  const orFailure = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw failure(error);
    });

  return {
    async write(key, content) {
      let size = 0;
      let broken: Error | undefined;
      const counter = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          size += chunk.length;
          done(null, chunk);
        },
      });
      // If the source fails, the upload is aborted, so that nothing of it remains.
      content.once('error', (error) => {
        broken = error;
        counter.destroy(error);
      });
      const upload = new Upload({
        client,
        params: { Bucket: bucket, Key: key, Body: content.pipe(counter) },
      });
      try {
        await upload.done();
      } catch (error) {
        content.destroy();
        throw broken ?? failure(error);
      }
      return size;
    },
    async read(key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
        return Body instanceof Readable ? Body : undefined;
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw failure(error);
      }
    },
    async delete(key) {
      await orFailure(client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })));
    },
    async *list({ prefix, before }) {
      try {
        for await (const { Contents = [] } of paginateListObjectsV2(
          { client },
          { Bucket: bucket, Prefix: prefix },
        ))
          yield Contents.flatMap(({ Key, LastModified }) =>
            Key !== undefined && LastModified !== undefined && LastModified < before ? [Key] : [],
          );
      } catch (error) {
        throw failure(error);
      }
    },
    removeUnfinished: ({ prefix, before }) => orFailure(abortUploads(client, { bucket, prefix, before })),
    async check() {
      await orFailure(client.send(new HeadBucketCommand({ Bucket: bucket })));
    },
  };
}

interface StaleUploads {
  readonly bucket: string;
  readonly prefix: string;
  readonly before: Date;
}

async function abortUploads(client: S3Client, { bucket, prefix, before }: StaleUploads): Promise<number> {
  let aborted = 0;
  let next = {};
  for (;;) {
    const page: ListMultipartUploadsCommandOutput = await client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...next }),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Initiated === undefined || Initiated >= before) continue;
      await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })).catch(unlessGone);
      aborted += 1;
    }
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    if (IsTruncated !== true || KeyMarker === undefined) return aborted;
    next = { KeyMarker, UploadIdMarker };
  }
}

/** Ignores the error that the upload no longer exists: it was completed or aborted in the meantime. */
function unlessGone(error: unknown): void {
  if (!(error instanceof NoSuchUpload)) throw error;
}

/** Returns the store's error code and status; a response to HEAD has no body, hence no code. */
function reasonOf(error: unknown): string {
  const { name, code, $metadata } = error as Error & {
    readonly code?: string;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode;
  const meaning = status === 403 ? 'access denied' : undefined;
  const known = name === 'Error' || name === 'Unknown' || /^\d+$/.test(name) ? undefined : name;
  return [code ?? known ?? meaning ?? 'no answer', ...(status === undefined ? [] : [`(${status})`])].join(
    ' ',
  );
}
