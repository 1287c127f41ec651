/** Limits a multipart request before it reaches its parser, which does not limit the form as a whole. */
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { CallerGone, HttpProblem } from '../http-problem.ts';

export interface FormGuard {
  /** The request, as far as koa-body needs one. */
  readonly stream: Transform;
  /** Detaches the stream from the request and discards what is left of the body. */
  readonly close: () => void;
}

// Boundaries, part headers and small fields beside the file.
const overheadBytes = 1024 * 1024;

/** Throws the error that rejects the request, or destroys the stream with it. */
export function guardForm(request: IncomingMessage, maxBytes: number): FormGuard {
  const largest = maxBytes + overheadBytes;
  if (Number(request.headers['content-length'] ?? 0) > largest) throw fileTooLarge(maxBytes);
  if (request.destroyed) throw new CallerGone();
  let received = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received > largest) done(fileTooLarge(maxBytes));
      else done(null, chunk);
    },
  });
  // Keeps an error from ending the process when koa-body does not listen yet, or no longer.
  stream.on('error', () => undefined);
  const onClose = () => {
    if (!request.complete) stream.destroy(new CallerGone());
  };
  request.once('close', onClose).pipe(stream);
  return {
    stream: Object.assign(stream, { headers: request.headers }),
    close() {
      request.off('close', onClose).unpipe(stream);
      stream.destroy();
      // Unpiping pauses the request. Reading on discards the rest, so that the next request of the connection can follow.
      request.resume();
    },
  };
}

export const malformedForm = () => new HttpProblem(400, 'Request body is not valid multipart/form-data');

export const fileTooLarge = (maxBytes: number) =>
  new HttpProblem(413, `The file must not be larger than ${maxBytes} bytes`);
