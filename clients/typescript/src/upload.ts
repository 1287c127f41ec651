import type { CallOptions, Client } from './client.ts';
import type { CsvFileResponse } from './schemas.ts';

/** A path (Node), a Blob or File, or a stream of bytes. */
export type Upload = string | Blob | ReadableStream<Uint8Array>;

const path = '/api/campaigns/csv-files';

/** Uploads a CSV without holding it in memory; a campaign names it by the `csv_file_key` of the answer. */
export async function uploadCampaignCsv(
  client: Client,
  file: Upload,
  options: CallOptions = {},
): Promise<CsvFileResponse> {
  if (file instanceof ReadableStream) {
    const boundary = `----${crypto.randomUUID()}`;
    const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
    const raw = { body: multipart(file, boundary), headers, once: true };
    return client.send({ method: 'POST', path, raw, ...options });
  }
  const form = new FormData();
  form.set('file', typeof file === 'string' ? await open(file) : file, 'contacts.csv');
  return client.send({ method: 'POST', path, raw: { body: form }, ...options });
}

function open(file: string): Promise<Blob> {
  // An import of node:fs would break bundles for browsers and edge runtimes.
  const files = globalThis.process?.getBuiltinModule('node:fs');
  if (files === undefined) throw new TypeError('Only Node reads a path: pass a Blob or a stream');
  return files.openAsBlob(file, { type: 'text/csv' });
}

function multipart(file: ReadableStream<Uint8Array>, boundary: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="contacts.csv"\r\nContent-Type: text/csv\r\n\r\n`;
  const frame = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    flush: (controller) => controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`)),
  });
  return file.pipeThrough(frame);
}
