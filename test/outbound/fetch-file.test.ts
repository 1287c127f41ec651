import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutboundPolicy } from '../../src/outbound/address-guard.ts';
import type { Dialer } from '../../src/outbound/dial.ts';
import { fetchFile, type FetchLimits, type FileFetchError } from '../../src/outbound/outbound.ts';
import type { RawAnswer } from '../support/raw-receiver.ts';
import { rawResponse, startRawReceiver } from '../support/raw-receiver.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function fileServer(answer: RawAnswer) {
  const server = await startRawReceiver(answer);
  closers.push(server.close);
  return { url: `http://127.0.0.1:${server.port}/audience.csv?v=1`, connections: server.connections };
}

const dialer: Dialer = {
  policy: createOutboundPolicy(['127.0.0.0/8']),
  resolve: async () => ({ ok: false, problem: 'not_found' }),
};
const limits: FetchLimits = { maxBytes: 1000, headTimeoutMs: 2_000, totalTimeoutMs: 2_500 };

const failureOf = async (url: string, by: Dialer = dialer): Promise<FileFetchError | undefined> => {
  const result = await fetchFile(by, url, limits);
  return result.ok ? undefined : result.error;
};

/** Reads the stream to its end or its error. */
async function streamOf(url: string): Promise<string> {
  const result = await fetchFile(dialer, url, limits);
  if (!result.ok) throw result.error;
  return text(result.stream);
}

describe('fetchFile', () => {
  it('streams the file', async () => {
    const { url, connections } = await fileServer(
      (socket) => void socket.end(rawResponse('200 OK', [], 'a,b\n1,2\n')),
    );
    expect(await streamOf(url)).toBe('a,b\n1,2\n');
    expect(connections[0]).toMatch(/^GET \/audience\.csv\?v=1 HTTP\/1\.1\r\n/);
  });

  it.each(['301 Moved', '302 Found', '303 See Other', '307 Temporary', '308 Permanent'])(
    'refuses a redirect (%s) and follows none',
    async (status) => {
      const { url, connections } = await fileServer((socket) => {
        socket.end(rawResponse(status, [`location: http://127.0.0.1:${socket.localPort}/other`]));
      });
      expect(await failureOf(url)).toMatchObject({ code: 'FILE_FETCH_REFUSED', isTemporary: false });
      expect(connections).toHaveLength(1);
    },
  );

  it.each(['http://10.0.0.1/a.csv', 'ftp://example.com/a.csv', 'http://user@example.com/', 'nonsense'])(
    'refuses %s',
    async (url) => {
      expect(await failureOf(url)).toMatchObject({ code: 'FILE_FETCH_REFUSED', isTemporary: false });
    },
  );

  it('refuses a name that stands for a private address', async () => {
    const by: Dialer = { ...dialer, resolve: async () => ({ ok: true, addresses: ['192.168.0.1'] }) };
    expect(await failureOf('http://files.test/a.csv', by)).toMatchObject({ code: 'FILE_FETCH_REFUSED' });
  });

  it('refuses a compressed body', async () => {
    const { url } = await fileServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n');
      socket.end(gzipSync('a,b'));
    });
    expect(await failureOf(url)).toMatchObject({ code: 'FILE_FETCH_REFUSED' });
  });

  it.each([
    ['404 Not Found', false],
    ['403 Forbidden', false],
    ['204 No Content', false],
    ['500 Error', true],
    ['503 Busy', true],
    ['429 Slow down', true],
  ])('says that there is no file on %s; worth another try: %s', async (status, isTemporary) => {
    const { url } = await fileServer((socket) => void socket.end(rawResponse(status)));
    expect(await failureOf(url)).toMatchObject({ code: 'FILE_NOT_FOUND', isTemporary });
  });

  it('says that there is no file when the name does not exist, for good', async () => {
    expect(await failureOf('http://files.test/a.csv')).toMatchObject({
      code: 'FILE_NOT_FOUND',
      isTemporary: false,
    });
  });

  it('gives up on a server that never answers', async () => {
    const { url } = await fileServer(() => undefined);
    expect(await failureOf(url)).toMatchObject({ code: 'FILE_NOT_FOUND', isTemporary: true });
  });

  it('refuses a file that announces more than the limit', async () => {
    const { url } = await fileServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n');
    });
    expect(await failureOf(url)).toMatchObject({ code: 'FILE_TOO_LARGE' });
  });

  it('takes exactly the limit', async () => {
    const { url } = await fileServer(
      (socket) => void socket.end(rawResponse('200 OK', [], 'x'.repeat(1000))),
    );
    expect(await streamOf(url)).toHaveLength(1000);
  });

  it.each([
    [
      'grows beyond the limit',
      'FILE_TOO_LARGE',
      ((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1001)}`)) as RawAnswer,
    ],
    [
      'is cut off',
      'FILE_NOT_FOUND',
      ((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart', () => {
          setTimeout(() => socket.destroy(), 50);
        });
      }) as RawAnswer,
    ],
    [
      'drips for too long',
      'FILE_NOT_FOUND',
      ((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const drip = setInterval(() => socket.write('x'), 20);
        socket.on('close', () => clearInterval(drip));
      }) as RawAnswer,
    ],
  ])('breaks the stream off when the file %s: %s', async (_what, code, answer) => {
    const { url } = await fileServer(answer);
    await expect(streamOf(url)).rejects.toMatchObject({ name: 'FileFetchError', code });
  });
});
