/** Receives one file of a multipart request as a stream, without writing it to disk. */
import busboy from 'busboy';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { PassThrough, type Readable } from 'node:stream';
import { Invalid } from '../../../domain/error.ts';
import type { FileReceiver } from '../endpoint.ts';
import { fileTooLarge, guardForm, malformedForm } from './form-guard.ts';
import type { FrameContext } from '../state.ts';

/** If the form is broken, too large or abandoned, destroys the file's stream with an error and rejects with the same error. */
export function fileReceiver(ctx: FrameContext): FileReceiver {
  return async ({ field, maxBytes }, take) => {
    const form = guardForm(ctx.req, maxBytes);
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
      // Drops fields as they arrive, and everything after a hundred parts.
      const limits = { fields: 0, parts: 100, fileSize: maxBytes + 1 };
      const parser = busboy({ headers: ctx.req.headers, limits }).on('file', onFile);
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
