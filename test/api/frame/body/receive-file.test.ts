import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FrameState } from '../../../../src/api/frame/state.ts';
import { fileReceiver } from '../../../../src/api/frame/body/receive-file.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { echoEndpoints } from '../../../support/echo-endpoints.ts';
import { openRaw } from '../../../support/raw-request.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startTestApi({ endpoints: echoEndpoints });
  key = (await api.seedWorkspace()).channelKey;
});
afterAll(() => api.close());

const limit = 4 * 1024 * 1024;

interface Part {
  readonly headers: readonly string[];
  readonly content: string | Buffer;
}

const file = (content: string | Buffer, ...headers: readonly string[]): Part => ({
  headers: ['Content-Disposition: form-data; name="file"; filename="a.csv"', ...headers],
  content,
});
const field = (name: string, content: string): Part => ({
  headers: [`Content-Disposition: form-data; name="${name}"`],
  content,
});

function form(parts: readonly Part[], boundary = 'tests'): Buffer {
  const pieces = parts.map(({ headers, content }) => [
    Buffer.from([`--${boundary}`, ...headers, '', ''].join('\r\n')),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces.flat(), Buffer.from(`--${boundary}--\r\n`)]);
}

interface Sending {
  readonly contentType?: string;
  /** Chunks of this size, without a Content-Length; in one piece by default. */
  readonly chunk?: number;
}

/** Leaves the request open when the answer comes first. */
async function upload(body: Buffer, { contentType, chunk }: Sending = {}) {
  const request = httpRequest(`${api.baseUrl}/api/files`, {
    method: 'POST',
    agent: false,
    headers: {
      'X-API-Key': key,
      'Content-Type': contentType ?? 'multipart/form-data; boundary=tests',
      ...(chunk === undefined && { 'Content-Length': body.length }),
    },
  });
  request.on('error', () => undefined);
  const answer = once(request, 'response');
  const piece = chunk ?? body.length;
  for (let at = 0; at < body.length; at += piece) request.write(body.subarray(at, at + piece));
  request.end();
  const [response] = (await answer) as [IncomingMessage];
  return {
    status: response.statusCode,
    body: (await json(response)) as { data?: unknown; message?: string },
  };
}

const echoOf = (content: string | Buffer) => ({
  size: Buffer.byteLength(content),
  sha256: createHash('sha256').update(content).digest('hex'),
});

describe('the file of a form is taken', () => {
  const takes = 'phone,name\r\n+49151,Ada\r\n';

  it.each<[string, Part[]]>([
    ['with a media type', [file(takes, 'Content-Type: text/csv')]],
    ['without a media type', [file(takes)]],
    [
      'with an encoded name alone',
      [
        {
          headers: [`Content-Disposition: form-data; name="file"; filename*=utf-8''%C3%A4.csv`],
          content: takes,
        },
      ],
    ],
    [
      'with a media type alone',
      [
        {
          ...field('file', takes),
          headers: [...field('file', '').headers, 'Content-Type: application/octet-stream'],
        },
      ],
    ],
    ['in binary', [file(takes, 'Content-Transfer-Encoding: binary')]],
    ['between fields', [field('note', 'x'.repeat(70_000)), file(takes), field('file', 'later')]],
    ['once', [file(takes), file('a second one')]],
    [
      'beside other files',
      [
        { ...file('another'), headers: ['Content-Disposition: form-data; name="other"; filename="b"'] },
        file(takes),
      ],
    ],
  ])('%s', async (_, parts) => {
    const answer = await upload(form(parts));
    expect(answer).toMatchObject({ status: 200, body: { data: echoOf(takes) } });
  });

  it('whatever words its boundary contains', async () => {
    for (const boundary of ['a-JSON-b', 'octet-stream', 'urlencoded']) {
      const contentType = `multipart/form-data; boundary="${boundary}"`;
      const answer = await upload(form([file(takes)], boundary), { contentType });
      expect(answer).toMatchObject({ status: 200, body: { data: echoOf(takes) } });
    }
  });

  it('byte by byte, however it is cut on the way', async () => {
    const nearly = [
      '\r',
      '\r\n',
      '\r\n-',
      '\r\n--',
      '\r\n--test',
      '\r\n--tesTs',
      '--test',
      '\n',
      '\0\xff',
      'a,b',
    ];
    const piece = (i: number) => nearly[(i * i * i + 3 * i * i + (i >> 3)) % nearly.length];
    const content = Buffer.from(Array.from({ length: 3_000 }, (__, i) => piece(i)).join(''), 'latin1');
    for (const chunk of [1, 7, 61, 1021]) {
      const body = form([file(chunk === 1 ? content.subarray(0, 3_000) : content)]);
      const expected = echoOf(chunk === 1 ? content.subarray(0, 3_000) : content);
      expect(await upload(body, { chunk })).toMatchObject({ status: 200, body: { data: expected } });
    }
  });

  it.each([
    ['CRs', '\r'],
    ['nearly boundaries', '\r\n--test'],
  ])('in time proportional to its size, also for %s', async (_, text) => {
    const cpuMsOf = async (content: Buffer) => {
      const body = form([file(content)]);
      const before = process.cpuUsage();
      expect((await upload(body)).status).toBe(200);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    const ordinary = await cpuMsOf(Buffer.alloc(limit, 'a,b'));
    // A parser that makes a piece of every CR takes a hundred times as long.
    expect(await cpuMsOf(Buffer.alloc(limit, text))).toBeLessThan(20 * ordinary + 500);
  });

  it('up to its limit', async () => {
    const content = Buffer.alloc(limit, 'a,b\r\n');
    expect(await upload(form([file(content)]))).toMatchObject({
      status: 200,
      body: { data: echoOf(content) },
    });
  });
});

describe('a form is refused', () => {
  const good = form([file('a,b')]);
  const refused = 'Request body is not valid multipart/form-data';
  const missing = 'file is required: a part with a filename';

  it.each<[string, string, Buffer]>([
    ['without a file', missing, form([field('note', 'x')])],
    ['that is empty', missing, form([])],
    ['with a text in place of the file', missing, form([field('file', 'a,b')])],
    ['with the file in base64', missing, form([file('YSxi', 'Content-Transfer-Encoding: base64')])],
    ['in an unknown encoding', missing, form([file('a', 'Content-Transfer-Encoding: x-rot13')])],
    ['that ends in a part', refused, good.subarray(0, -20)],
    ['that ends after the file', refused, Buffer.concat([good.subarray(0, -4), Buffer.from('\r\nContent-')])],
    ['with a header line that has no colon', refused, form([{ headers: ['?'], content: '' }])],
    ['with a header that has no end', refused, form([file('a', `X: ${'x'.repeat(1_500_000)}`)])],
    ['that is not multipart/form-data', refused, Buffer.from('a,b')],
  ])('%s', async (_, message, body) => {
    expect(await upload(body, { chunk: 16_384 })).toMatchObject({ status: 400, body: { message } });
  });

  it('that has no boundary', async () => {
    expect(await upload(good, { contentType: 'multipart/form-data; charset=utf-8' })).toMatchObject({
      status: 400,
      body: { message: refused },
    });
  });

  it('whose file is one byte too large', async () => {
    const message = `The file must not be larger than ${limit} bytes`;
    const body = form([file(Buffer.alloc(limit + 1))]);
    expect(await upload(body)).toMatchObject({ status: 413, body: { message } });
    expect(await upload(body, { chunk: 65_536 })).toMatchObject({ status: 413, body: { message } });
  });

  it('whose other parts are too large', async () => {
    const other = form([field('note', 'x'.repeat(limit + 2 * 1024 * 1024)), file('a,b')]);
    expect(await upload(other, { chunk: 65_536 })).toMatchObject({ status: 413 });
  });

  it('and the connection stays usable', async () => {
    const { socket, closed } = openRaw(api.port);
    const body = form([file('a,b', 'Content-Transfer-Encoding: x-rot13'), field('note', 'x'.repeat(50_000))]);
    const head = `Host: a\r\nX-API-Key: ${key}\r\n`;
    socket.write(
      `POST /api/files HTTP/1.1\r\n${head}Content-Type: multipart/form-data; boundary=tests\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    socket.write(`GET /api/notes HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    expect((await closed).match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
  });
});

it('slows down a caller that sends faster than the file is read', async () => {
  const body = form([file(Buffer.alloc(8 * 1024 * 1024, '+4915112345678,49\r\n'))]);
  let ahead = 0;
  const app = new Koa<FrameState>();
  app.use(async (ctx) => {
    const before = ctx.req.socket.bytesRead;
    ctx.body = await fileReceiver(ctx, () => undefined)(
      { field: 'file', maxBytes: body.length },
      async (content) => {
        let size = 0;
        for await (const chunk of content) {
          for (let turn = 0; turn < 20; turn += 1) await setImmediate();
          ahead = Math.max(ahead, ctx.req.socket.bytesRead - before - size);
          size += (chunk as Buffer).length;
        }
        return { size };
      },
    );
  });
  const handle = app.callback();
  const server = createServer((incoming, response) => void handle(incoming, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=tests' },
    body: new Uint8Array(body),
  });
  expect(await response.json()).toEqual({ size: 8 * 1024 * 1024 });
  // A few buffers of sockets and streams, not the file.
  expect(ahead).toBeLessThan(1024 * 1024);
  server.closeAllConnections();
  server.close();
});
