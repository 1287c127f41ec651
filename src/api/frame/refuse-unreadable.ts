/** Answers a request that Node's parser cannot read with the error envelope, and closes the connection. */
import type { Socket } from 'node:net';
import { errorBody } from './error-envelope.ts';

const parserFailures: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'Request headers are too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'Chunk extensions are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
};
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket, now: Date): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const failure = parserFailures[error.code ?? ''] ?? {
    status: 400,
    message: 'The request is not valid HTTP',
  };
  const body = errorBody(failure, now);
  socket.end(
    [
      `HTTP/1.1 ${failure.status} ${reasons[failure.status] ?? ''}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
