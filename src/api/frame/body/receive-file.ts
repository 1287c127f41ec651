/** One file of a multipart request as a stream; nothing of it touches the disk on the way. */
import busboy from 'busboy';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { PassThrough, type Readable } from 'node:stream';
import { Invalid } from '../../../domain/error.ts';
import type { FileReceiver } from '../endpoint.ts';
import { fileTooLarge, guardForm, malformedForm } from './form-guard.ts';
import type { FrameContext } from '../state.ts';

/** A form that is broken, too large or abandoned breaks the file's stream off with the error that this rejects with. */
export function fileReceiver(ctx: FrameContext): FileReceiver {
  return async ({ field, maxBytes }, take) => {
    const form = guardForm(ctx.req, maxBytes);
    const file = new PassThrough();
    // Whoever takes the file learns of it; after that nobody needs to.
    file.on('error', () => undefined);
    let taken: ReturnType<typeof take> | undefined;
    const onFile = (name: string, content: Readable, { encoding, mimeType }: busboy.FileInfo) => {
      // A part that breaks off: the parser tells of it as well.
      content.on('error', () => undefined);
      // Parts in base64 and the like would have to be decoded.
      if (taken !== undefined || name !== field || !/^(?:binary|7bit|8bit)$/i.test(encoding)) {
        content.resume();
        return;
      }
      content.once('limit', () => form.stream.destroy(fileTooLarge(maxBytes)));
      taken = take(file, mimeType);
      taken.catch((error: Error) => form.stream.destroy(error));
      // Its end does not end the file.
      content.pipe(file, { end: false });
    };
    try {
      // Fields are dropped as they arrive, and what follows a hundred parts.
      const limits = { fields: 0, parts: 100, fileSize: maxBytes + 1 };
      const parser = busboy({ headers: ctx.req.headers, limits }).on('file', onFile);
      // formidable listens for the first one alone.
      parser.on('error', () => undefined);
      const read = koaBody({
        multipart: true,
        json: false,
        text: false,
        urlencoded: false,
        patchKoa: false,
        // Alone: the others look for their names anywhere in the Content-Type, and a boundary may hold "json".
        formidable: { enabledPlugins: [(formidable: unknown) => parseBy(formidable as Form, parser)] },
      });
      await read(Object.create(ctx, { req: { value: form.stream } }) as Context, async () => undefined);
    } catch {
      // What is not ours, or of whoever takes the file, is the parser's.
      const problem = form.stream.errored ?? malformedForm();
      file.destroy(problem);
      // Answered when nothing of the file is left.
      await Promise.allSettled([taken]);
      throw problem;
    } finally {
      form.close();
    }
    if (taken === undefined) throw Invalid.at(field, `${field} is required: a part with a filename`);
    // Not before the whole form has arrived: what is cut short after the file was not meant to be taken.
    file.end();
    return taken;
  };
}

/** What formidable asks of a plugin that parses. */
interface Form {
  type: string;
  _parser: Pick<busboy.Busboy, 'once' | 'end'> & { readonly write: (chunk: Buffer) => void };
  ended: boolean;
  readonly _maybeEnd: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
}

/** In place of formidable's own parser, which makes a piece of every CR and takes 1.7 s of CPU for a MiB of them. */
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
