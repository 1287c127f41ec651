import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

const decoders = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/**
 * The bytes of an answer without their content encodings, which something between the provider and us may have added
 * although we ask for none. Throws when they cannot be decoded, or become larger than `maxBytes`.
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
