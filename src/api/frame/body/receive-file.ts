/** Receives one file of a multipart request as a stream, without writing it to disk. */
import busboy from 'busboy';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { PassThrough, type Readable, Transform } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { Invalid } from '../../../domain/error.ts';
import type { FileReceiver } from '../endpoint.ts';
import type { FrameContext } from '../state.ts';
import { CallerGone, HttpProblem } from '../error-envelope.ts';

/** If the form is broken, too large or abandoned, destroys the file's stream with an error and rejects with the same error. `onBytes` is called for every chunk of the form. */
export function fileReceiver(ctx: FrameContext, onBytes: (bytes: number) => void): FileReceiver {
  return async ({ field, maxBytes, fields, isOptional }, take) => {
    const form = guardForm(ctx.req, maxBytes, onBytes);
    const file = new PassThrough();
    // `take` handles errors of the file; this listener prevents an unhandled one after it has returned.
    file.on('error', () => undefined);
    let taken: ReturnType<typeof take> | undefined;
    const onFile = (name: string, content: Readable, { encoding, mimeType }: busboy.FileInfo) => {
      // The parser reports a part that breaks off as well.
      content.on('error', () => undefined);
      // Skips other fields, and parts with a transfer encoding such as base64, which would have to be decoded.
      if (taken !== undefined || name !== field || !/^(?:binary|7bit|8bit)$/i.test(encoding)) {
        content.resume();
        return;
      }
      content.once('limit', () => form.stream.destroy(fileTooLarge(maxBytes)));
      taken = take(file, mimeType);
      taken.catch((error: Error) => form.stream.destroy(error));
      // The end of the part does not end the file's stream; the end of the form does.
      content.pipe(file, { end: false });
    };
    try {
      // Drops unknown fields as they arrive, and everything after a hundred parts.
      const limits = { fields: fields === undefined ? 0 : 20, parts: 100, fileSize: maxBytes + 1 };
      const parser = busboy({ headers: ctx.req.headers, limits })
        .on('file', onFile)
        .on('field', (name, value) => fields?.set(name, value));
      // formidable listens for the first error only; later ones must not end the process.
      parser.on('error', () => undefined);
      const read = koaBody({
        multipart: true,
        json: false,
        text: false,
        urlencoded: false,
        patchKoa: false,
        // Enables this plugin alone: the others search the whole Content-Type for their names, and a boundary may contain "json".
        formidable: { enabledPlugins: [(formidable: unknown) => parseBy(formidable as Form, parser)] },
      });
      await read(Object.create(ctx, { req: { value: form.stream } }) as Context, async () => undefined);
    } catch {
      // An error that neither we nor `take` raised comes from the parser: the form is malformed.
      const problem = form.stream.errored ?? malformedForm();
      file.destroy(problem);
      // Answers only after the file has been read to its end.
      await Promise.allSettled([taken]);
      throw problem;
    } finally {
      form.close();
    }
    if (taken === undefined && isOptional === true) return undefined as Awaited<ReturnType<typeof take>>;
    if (taken === undefined) throw Invalid.at(field, `${field} is required: a part with a filename`);
    // Waits for the whole form: a request that breaks off after the file was not meant to be accepted.
    file.end();
    return taken;
  };
}

/** The part of formidable's interface that a parsing plugin uses. */
interface Form {
  type: string;
  _parser: Pick<busboy.Busboy, 'once' | 'end'> & { readonly write: (chunk: Buffer) => void };
  ended: boolean;
  readonly _maybeEnd: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Replaces formidable's parser, which splits the input at every CR and takes 1.7 s of CPU for a MiB of them. */
function parseBy(form: Form, parser: busboy.Busboy): void {
  const handed: Pick<Form, 'type' | '_parser'> = {
    type: 'multipart',
    _parser: {
      once: parser.once.bind(parser),
      end: parser.end.bind(parser),
      write(chunk) {
        if (parser.write(chunk)) return;
        form.pause();
        parser.once('drain', () => form.resume());
      },
    },
  };
  Object.assign(form, handed);
  parser.once('finish', () => {
    form.ended = true;
    // oxlint-disable-next-line no-underscore-dangle -- formidable's name
    form._maybeEnd();
  });
}

interface FormGuard {
  /** The request, as far as koa-body needs one. */
  readonly stream: Transform;
  /** Detaches the stream from the request and discards what is left of the body. */
  readonly close: () => void;
}

// Boundaries, part headers and small fields next to the file.
const overheadBytes = 1024 * 1024;

/**
 * Limits a multipart request before it reaches its parser, which does not limit the form as a whole. Throws the error that rejects
 * the request, or destroys the stream with it.
 */
function guardForm(request: IncomingMessage, maxBytes: number, onBytes: (bytes: number) => void): FormGuard {
  const largest = maxBytes + overheadBytes;
  if (Number(request.headers['content-length'] ?? 0) > largest) throw fileTooLarge(maxBytes);
  if (request.destroyed) throw new CallerGone();
  let received = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      onBytes(chunk.length);
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

const malformedForm = () => new HttpProblem(400, 'Request body is not valid multipart/form-data');

const fileTooLarge = (maxBytes: number) =>
  new HttpProblem(413, `The file must not be larger than ${maxBytes} bytes`);
