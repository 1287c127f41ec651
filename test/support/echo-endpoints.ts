/** Endpoints that answer what the frame decoded, for the tests of the frame itself. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import * as t from 'io-ts';
import { endpoint, type Endpoint } from '../../src/api/frame/endpoint.ts';
import { record, succeed } from '../../src/api/frame/envelope.ts';
import { idOf, Integer, Page } from '../../src/codecs/scalars.ts';
import { struct, withMessage } from '../../src/codecs/struct.ts';

const shared = { tag: 'Echo', responses: { 200: { description: 'Echo', body: record(t.unknown) } } } as const;
const Note = struct(
  { name: withMessage(t.string, 'Note name is required') },
  { count: Integer, extra: t.UnknownRecord },
);

export const echoEndpoints: readonly Endpoint[] = [
  endpoint(
    {
      ...shared,
      method: 'GET',
      path: '/api/notes',
      operationId: 'listNotes',
      summary: 'Query',
      access: 'workspace',
      query: struct({}, { page: Page, search: t.string }),
    },
    async ({ query, principal }) => ({ status: 200, body: succeed({ query, principal }) }),
  ),
  endpoint(
    {
      ...shared,
      method: 'GET',
      path: '/api/old-notes',
      operationId: 'listOldNotes',
      summary: 'Deprecated',
      description: 'Lists notes.',
      access: 'workspace',
      deprecation: {
        since: new Date('2027-01-01T00:00:00Z'),
        sunset: new Date('2027-07-01T00:00:00Z'),
        advice: 'Use GET /api/notes.',
      },
    },
    async () => ({ status: 200, body: succeed([]) }),
  ),
  endpoint(
    {
      ...shared,
      method: 'POST',
      path: '/api/notes',
      operationId: 'createNote',
      summary: 'Body',
      access: 'workspace',
      body: Note,
    },
    async ({ body }) => ({ status: 200, body: succeed(body) }),
  ),
  endpoint(
    {
      ...shared,
      method: 'PUT',
      path: '/api/notes/:id',
      operationId: 'updateNote',
      summary: 'Path and body',
      access: 'workspace',
      params: struct({ id: idOf('Note') }),
      body: Note,
    },
    async ({ params, body }) => ({ status: 200, body: succeed({ params, body }) }),
  ),
  endpoint(
    {
      ...shared,
      method: 'POST',
      path: '/api/notes/broadcast',
      operationId: 'send',
      summary: 'Sends',
      access: 'channel',
      apiKeyOnly: true,
      body: Note,
    },
    async ({ principal }) => ({ status: 200, body: succeed(principal) }),
  ),
  endpoint(
    {
      ...shared,
      method: 'POST',
      path: '/api/notes/fund',
      operationId: 'fund',
      summary: 'Operators',
      access: 'operator',
      body: Note,
    },
    async ({ principal }) => ({ status: 200, body: succeed(principal) }),
  ),
  endpoint(
    {
      ...shared,
      method: 'POST',
      path: '/callback',
      operationId: 'callback',
      summary: 'Raw',
      access: 'public',
      body: 'raw',
      bodyLimit: 4 * 1024 * 1024,
    },
    async ({ body }) => ({ status: 200, body: succeed({ size: body.length }) }),
  ),
  endpoint(
    {
      ...shared,
      method: 'POST',
      path: '/api/files',
      operationId: 'upload',
      summary: 'Stream',
      access: 'workspace',
      body: 'multipart',
    },
    async ({ body }) => {
      const content = await body({ field: 'file', maxBytes: 4 * 1024 * 1024 }, (file) => buffer(file));
      const sha256 = createHash('sha256').update(content).digest('hex');
      return { status: 200, body: succeed({ size: content.length, sha256 }) };
    },
  ),
  endpoint(
    {
      ...shared,
      method: 'GET',
      path: '/api/failure',
      operationId: 'fail',
      summary: 'Fails',
      access: 'public',
    },
    async () => {
      throw new TypeError('a secret of the inside');
    },
  ),
];
