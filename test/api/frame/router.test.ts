import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Koa from 'koa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { endpoint, type Endpoint, type Method } from '../../../src/api/frame/endpoint.ts';
import type { FrameState } from '../../../src/api/frame/state.ts';
import { HttpProblem } from '../../../src/api/frame/error-envelope.ts';
import { createRouter } from '../../../src/api/frame/mount.ts';

const at = (method: Method, path: `/${string}`): Endpoint =>
  endpoint(
    {
      method,
      path,
      operationId: `${method} ${path}`,
      summary: '',
      tag: '',
      access: 'public',
      responses: { 204: { description: '' } },
    },
    async () => ({ status: 204 }),
  );

const router = createRouter(
  [
    at('GET', '/things/:id'),
    at('POST', '/things/:id/start'),
    at('GET', '/things/files/:key'),
    at('POST', '/things/import'),
    at('DELETE', '/things/:id'),
    at('GET', '/things.json'),
  ],
  async (ctx, { declaration }) => {
    ctx.body = { id: declaration.operationId, params: ctx.params };
  },
);

let server: Server;

beforeAll(async () => {
  const app = new Koa<FrameState>();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof HttpProblem)) throw error;
      ctx.status = error.status;
      ctx.set(error.headers);
    }
  });
  app.use(router.routes());
  const handle = app.callback();
  server = createServer((incoming, response) => void handle(incoming, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => server.close());

async function send(method: string, path: string) {
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(
    request({ host: '127.0.0.1', port, method, path, agent: false }).end(),
    'response',
  )) as [IncomingMessage];
  return { status: response.statusCode, allow: response.headers.allow, body: await text(response) };
}

it.each([
  ['GET', '/things/7', 'GET /things/:id', { id: '7' }],
  ['DELETE', '/things/7', 'DELETE /things/:id', { id: '7' }],
  ['POST', '/things/import', 'POST /things/import', {}],
  ['GET', '/things/files/start', 'GET /things/files/:key', { key: 'start' }],
  ['POST', '/things/7/start', 'POST /things/:id/start', { id: '7' }],
  ['GET', '/things/a%2Fb', 'GET /things/:id', { id: 'a/b' }],
  ['GET', '/things/%', 'GET /things/:id', { id: '%' }],
  ['GET', '/things/%ff?x=%', 'GET /things/:id', { id: '%ff' }],
  ['GET', '/things.json', 'GET /things.json', {}],
])('%s %s is served by %s', async (method, path, id, params) => {
  const { status, body } = await send(method, path);
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({ id, params });
});

it('serves HEAD where there is GET', async () => {
  expect(await send('HEAD', '/things/7')).toMatchObject({ status: 200, body: '' });
});

it.each([
  ['GET', '/things/import', 'POST'],
  ['DELETE', '/things/import', 'POST'],
  ['POST', '/things/files/start', 'GET, HEAD'],
  ['PUT', '/things/7', 'GET, HEAD, DELETE'],
  ['OPTIONS', '/things/7', 'GET, HEAD, DELETE'],
  ['PROPFIND', '/things/7', 'GET, HEAD, DELETE'],
  ['HEAD', '/things/7/start', 'POST'],
])('%s %s is answered 405, Allow: %s', async (method, path, allow) => {
  expect(await send(method, path)).toMatchObject({ status: 405, allow });
});

it.each([
  '/',
  '/things',
  '/things/',
  '/Things/7',
  '/things/7/',
  '/things/7/stop',
  '//things/7',
  '/thingsXjson',
  '/things/import/',
])('%s matches no route', async (path) => {
  expect(await send('GET', path)).toMatchObject({ status: 404 });
});

it('refuses two endpoints of one method and path', () => {
  expect(() => createRouter([at('GET', '/a'), at('GET', '/a')], async () => undefined)).toThrow(
    'GET /a is declared twice',
  );
});
