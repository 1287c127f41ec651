import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

const decoders = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/**
 * Removes content encodings from a response body; a proxy may have added some although we ask for none. Throws when they cannot
 * be decoded or exceed `maxBytes`.
 */
export function decodeContent(
  bytes: Buffer,
  { encoding, maxBytes }: { readonly encoding: string | undefined; readonly maxBytes: number },
): Buffer {
  const names = (encoding ?? '').toLowerCase().split(',');
  const applied = names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  return applied.toReversed().reduce((content, name) => {
    const decode = Object.hasOwn(decoders, name) ? decoders[name as keyof typeof decoders] : undefined;
    if (decode === undefined) throw new Error('The content encoding is not known');
    return decode(content, { maxOutputLength: maxBytes });
  }, bytes);
}
