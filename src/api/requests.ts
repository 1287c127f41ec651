/** GET /api/requests: the log of requests, by key. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { cursorOf, Integer, IsoDateTime, limitUpTo, textOf, Uuid } from '../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import { listRequests, type LoggedRequest } from '../records/operations/requests.ts';
import { endpoint } from './frame/endpoint.ts';
import { cutPage, oneCursorPage } from './frame/envelope.ts';

const LoggedRequestCodec = named(
  'LoggedRequest',
  struct({
    id: Uuid,
    at: describe(IsoDateTime, { description: 'Time at which the request began.' }),
    key_id: describe(t.string, { description: 'Id of the API key.' }),
    method: describe(t.string, { description: 'HTTP method.' }),
    path: describe(t.string, {
      description:
        'Declared path with ids filled in; other parameters stay names, such as `:key`. No query string.',
    }),
    status: describe(Integer, { description: 'HTTP status of the answer.' }),
    error_code: describe(nullish(t.string), { description: 'Code of the error; null for a success.' }),
    request_id: describe(t.string, { description: 'X-Request-Id of the answer.' }),
    duration_ms: describe(Integer, { description: 'Time until the answer was sent, in milliseconds.' }),
  }),
);

const RequestCursor = cursorOf(Uuid);

export const listRequestsEndpoint = endpoint(
  {
    method: 'GET',
    path: '/api/requests',
    operationId: 'listRequests',
    summary: 'List the requests of the workspace’s API keys',
    description:
      'Newest first, for seven days; without bodies. Requests appear within about two seconds. Those without a valid key, those of the dashboard and those for this log are not in it, and a process that is killed loses those of its last second.',
    tag: 'Operations',
    access: 'workspace',
    query: optional({
      cursor: RequestCursor,
      limit: limitUpTo(1000),
      key_id: describe(textOf({ max: 255 }), { description: 'Requests of one key only.' }),
      failed: describe(oneOf(['true', 'false']), {
        description: '`true` lists requests that were answered with an error; default all.',
      }),
      from: describe(IsoDateTime, { description: 'Requests at this time or later only.' }),
      to: describe(IsoDateTime, { description: 'Requests before this time only.' }),
    }),
    responses: {
      200: oneCursorPage('One page of requests', LoggedRequestCodec, {
        id: '0199d6c1-0000-7000-8000-000000000031',
        at: '2026-11-21T09:00:00.000Z',
        key_id: 'k3JkqP0x',
        method: 'POST',
        path: '/api/campaigns/auto-trigger',
        status: 400,
        error_code: 'validation_failed',
        request_id: '3f6c2a',
        duration_ms: 12,
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 100;
    const found = await listRequests(database, workspaceId, {
      keyId: query.key_id,
      failed: query.failed === 'true',
      from: query.from,
      to: query.to,
      before: query.cursor,
      limit: limit + 1,
    });
    const cursor = ({ id }: LoggedRequest) => RequestCursor.encode(id);
    return { status: 200, body: cutPage(found, limit, { cursor, present: (request) => request }) };
  },
);
