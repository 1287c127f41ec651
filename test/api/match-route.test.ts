import { expect, it } from 'vitest';
import { endpoint, type Method } from '../../src/api/endpoint.ts';
import { createRouteMatcher } from '../../src/api/match-route.ts';

const at = (method: Method, path: `/${string}`) =>
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

const match = createRouteMatcher([
  at('GET', '/things/:id'),
  at('POST', '/things/:id/start'),
  at('GET', '/things/files/:key'),
  at('POST', '/things/import'),
  at('DELETE', '/things/:id'),
]);

it.each([
  ['/things/7', '/things/:id', 'GET, HEAD, DELETE', { id: '7' }],
  ['/things/import', '/things/import', 'POST', {}],
  ['/things/files/start', '/things/files/:key', 'GET, HEAD', { key: 'start' }],
  ['/things/7/start', '/things/:id/start', 'POST', { id: '7' }],
  ['/things/a%2Fb', '/things/:id', 'GET, HEAD, DELETE', { id: 'a/b' }],
  ['/things/%', '/things/:id', 'GET, HEAD, DELETE', { id: '%' }],
])('%s is %s', (path, expected, allow, params) => {
  const found = match(path);
  expect(found?.route).toMatchObject({ path: expected, allow });
  expect(found?.params).toEqual(params);
});

it.each(['/', '/things', '/things/', '/Things/7', '/things/7/', '/things/7/stop', '//things/7'])(
  '%s is nothing',
  (path) => {
    expect(match(path)).toBeUndefined();
  },
);

it('refuses two endpoints of one method and path', () => {
  expect(() => createRouteMatcher([at('GET', '/a'), at('GET', '/a')])).toThrow('GET /a is declared twice');
});
