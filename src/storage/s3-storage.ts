/** Files in a bucket of any S3-compatible store; uploads are multipart, so that memory does not grow with the file. */
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable, Transform } from 'node:stream';
import type { FileStorage } from './file-storage.ts';

export interface S3StorageOptions {
  readonly bucket: string;
  /** Undefined: Amazon's own. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly forcePathStyle: boolean;
}

/** Credentials come from the SDK's own chain (environment, profile, instance). */
export function createS3Storage({ bucket, endpoint, region, forcePathStyle }: S3StorageOptions): FileStorage {
  const client = new S3Client({ region, forcePathStyle, ...(endpoint !== undefined && { endpoint }) });

  return {
    async write(key, content) {
      let size = 0;
      const counter = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          size += chunk.length;
          done(null, chunk);
        },
      });
      // A source that breaks off must break the upload off too: nothing of it may remain.
      content.once('error', (error) => counter.destroy(error));
      const upload = new Upload({
        client,
        params: { Bucket: bucket, Key: key, Body: content.pipe(counter) },
      });
      await upload.done();
      return size;
    },
    async read(key) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
        return Body instanceof Readable ? Body : undefined;
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    async delete(key) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
  };
}
