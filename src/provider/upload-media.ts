/** Files for the provider, streamed: their size is not known before they end, so the request is sent in chunks. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Agent } from 'undici';
import { createKeyedSemaphore } from '../concurrency/keyed-semaphore.ts';
import { toReading } from './provider-answer.ts';
import { ProviderRequestError } from './provider-request-error.ts';
import type { MediaFile } from './provider.ts';
import { isObject } from './json-value.ts';

export interface MediaUploader {
  /** Resolves to the provider's id of the file. Throws ProviderRequestError, also when the content fails. */
  readonly upload: (file: MediaFile) => Promise<string>;
  readonly close: () => Promise<void>;
}

interface UploaderOptions {
  readonly origin: string;
  /** Path before the phone number id. */
  readonly root: string;
  /** Time limit of connecting, and of the answer after the whole file was sent. */
  readonly timeoutMs: number;
}

/**
 * 64 connections, at most eight per sending number, since a slow upload holds one for its whole duration. Further uploads wait.
 */
const connections = 64;
const maxResponseBytes = 1024 * 1024;

export function createMediaUploader({ origin, root, timeoutMs }: UploaderOptions): MediaUploader {
  const agent = new Agent({
    connections,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxResponseBytes,
  });

  const slots = createKeyedSemaphore({ total: connections, perKey: connections / 8, waiting: Infinity });
  let closing: Promise<void> | undefined;

  const send = async ({ phoneNumberId, accessToken, mimeType, content }: MediaFile) => {
    const boundary = randomUUID();
    try {
      const answer = await agent.request({
        origin,
        path: `${root}/${encodeURIComponent(phoneNumberId)}/media`,
        method: 'POST',
        headers: {
          authorization: `Bearer ${accessToken}`,
          'content-type': `multipart/form-data; boundary=${boundary}`,
        },
        body: Readable.from(formOf(boundary, mimeType, content), { objectMode: false }),
      });
      return toReading({
        kind: 'answered',
        httpStatus: answer.statusCode,
        headers: [],
        body: await answer.body.text(),
      });
    } catch (error) {
      const cause = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
      throw new ProviderRequestError({ kind: 'unknown', cause });
    }
  };

  return {
    async upload(file) {
      const release = await slots.acquire([file.phoneNumberId]);
      const reading = await send(file).finally(release);
      if ('failure' in reading) throw new ProviderRequestError(reading.failure);
      const id = isObject(reading.body) ? reading.body['id'] : undefined;
      if (typeof id === 'string' && id !== '') return id;
      throw new ProviderRequestError({ kind: 'unknown', cause: 'answer without a media id' });
    },
    close: () => (closing ??= agent.close()),
  };
}

async function* formOf(
  boundary: string,
  mimeType: string,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const part = (name: string, head = ''): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${head}\r\n\r\n`;
  yield Buffer.from(
    `${part('messaging_product')}whatsapp\r\n${part('type')}${mimeType}\r\n` +
      part('file', `; filename="file"\r\ncontent-type: ${mimeType}`),
  );
  yield* content;
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}
