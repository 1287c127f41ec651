/** One file of a multipart request as a stream, by koa-body; nothing of it touches the disk on the way. */
import { multipart, type Part } from 'formidable';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { PassThrough, Writable } from 'node:stream';
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
    const read = koaBody({
      multipart: true,
      json: false,
      text: false,
      urlencoded: false,
      patchKoa: false,
      formidable: {
        // The other plugins look for their names anywhere in the Content-Type: a boundary may hold "json".
        enabledPlugins: [multipart],
        maxFileSize: maxBytes,
        allowEmptyFiles: true,
        minFileSize: 0,
        // Must not throw: nobody waits for formidable's promise here.
        onPart(part, handlePart) {
          form.count(part);
          if (taken !== undefined || part.name !== field || !isFile(part)) return;
          // Without a media type formidable would take it for a text field.
          part.mimetype ??= 'application/octet-stream';
          handlePart(part);
        },
        fileWriteStreamHandler(given) {
          taken = take(file, mimeTypeOf(given));
          return sinkInto(file, taken);
        },
      },
    });
    try {
      await read(Object.create(ctx, { req: { value: form.stream } }) as Context, async () => undefined);
    } catch (error) {
      const problem = problemOf(error, maxBytes);
      file.destroy(problem);
      // Answered when nothing of the file is left.
      await Promise.allSettled([taken]);
      throw problem;
    } finally {
      form.close();
    }
    if (taken === undefined) throw Invalid.at(field, `${field} is required`);
    // Not before the whole form has arrived: what is cut short after the file was not meant to be taken.
    file.end();
    return taken;
  };
}

/** In lower case, without parameters. */
function mimeTypeOf(file: unknown): string {
  const { mimetype } = file as { readonly mimetype?: string };
  return (mimetype ?? '').toLowerCase().split(';', 1).join('').trim();
}

type PartWithHeaders = Part & { readonly headers: Readonly<Record<string, string | undefined>> };

function isFile(part: Part): boolean {
  const { headers } = part as PartWithHeaders;
  // formidable decodes base64 in pieces that line breaks shift.
  if (!/^(?:binary|7bit|8bit)?$/i.test(headers['content-transfer-encoding'] ?? '')) return false;
  if (/;\s*filename\*?=/i.test(headers['content-disposition'] ?? '')) return true;
  return part.mimetype?.toLowerCase() === 'application/octet-stream';
}

/** Where formidable writes the file. Its end does not end the file. */
function sinkInto(file: PassThrough, taken: Promise<unknown>): Writable {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      file.write(chunk, () => done());
    },
    // formidable cuts the file at every line break and reads on after any one piece is written: taken together,
    // the pieces hold the caller back until nearly all of them are.
    writev(pieces, done) {
      file.write(Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer)), () => done());
    },
  });
  taken.catch((error: Error) => sink.destroy(error));
  return sink;
}

/** koa-body passes formidable's errors on, which have an `httpCode` and no status. */
function problemOf(error: unknown, maxBytes: number): Error {
  if (!(error instanceof Error)) return malformedForm();
  if (!('httpCode' in error)) return error;
  return error.httpCode === 413 ? fileTooLarge(maxBytes) : malformedForm();
}
