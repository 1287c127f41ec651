/** One file of a multipart request as a stream; nothing of it touches the disk on the way. */
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Invalid } from '../domain/error.ts';
import { CallerGone, HttpProblem } from './http-problem.ts';

interface FileRequest {
  /** The name of the form's field. */
  readonly field: string;
  readonly maxBytes: number;
}

// Boundaries, part headers and small fields beside the file.
const overheadBytes = 1024 * 1024;

/**
 * What `take` makes of the file, once the whole form has arrived. A form that is broken, too large or abandoned breaks the
 * file's stream off with the error that this rejects with.
 */
export async function receiveFile<T>(
  request: IncomingMessage,
  { field, maxBytes }: FileRequest,
  take: (file: Readable) => Promise<T>,
): Promise<T> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes + overheadBytes) throw tooLarge(maxBytes);
  const form = openForm(request, maxBytes);
  let file: BusboyFileStream | undefined;
  let taken: Promise<T> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      form.on('file', (name, stream) => {
        if (name !== field || file !== undefined) {
          stream.resume();
          return;
        }
        file = stream;
        stream.on('error', () => undefined);
        stream.once('limit', () => reject(tooLarge(maxBytes)));
        taken = take(stream);
        taken.catch(reject);
      });
      form.once('error', () => reject(malformed()));
      form.once('finish', resolve);
      request.once('close', () => {
        if (!request.complete) reject(new CallerGone());
      });
      request.pipe(form);
    });
  } catch (error) {
    request.unpipe(form);
    file?.destroy(error instanceof Error ? error : new Error('The upload broke off'));
    // Answered when nothing of the file is left.
    await Promise.allSettled([taken]);
    throw error;
  }
  if (taken === undefined) throw Invalid.at(field, `${field} is required`);
  return taken;
}

function openForm(request: IncomingMessage, maxBytes: number) {
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' },
      limits: { fileSize: maxBytes, files: 2, fields: 100, parts: 102, fieldSize: 64 * 1024 },
    });
  } catch {
    throw malformed();
  }
}

const malformed = () => new HttpProblem(400, 'Request body is not valid multipart/form-data');

const tooLarge = (maxBytes: number) =>
  new HttpProblem(413, `The file must not be larger than ${maxBytes} bytes`);
