import type { Readable } from 'node:stream';

/**
 * Reads at most `limit` bytes of a stream as text and destroys it. A connection reset or the signal ends the read early and
 * returns the text received so far. Never rejects.
 */
export function readUpTo(stream: Readable, limit: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      signal.removeEventListener('abort', finish);
      stream.off('data', onData).off('end', finish).off('close', finish);
      stream.on('error', () => undefined).destroy();
      resolve(textOf(Buffer.concat(chunks).subarray(0, limit)));
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) finish();
    };
    stream.on('error', finish).once('end', finish).once('close', finish).on('data', onData);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted) finish();
  });
}

/** Lenient: bytes that are no UTF-8 become U+FFFD, a character cut off at the end is dropped, NUL (which Postgres cannot hold) too. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\u0000', '');
}
