/** The event feed of a workspace: its switch, and the events for readers that follow a cursor. */
import * as t from 'io-ts';
import { exampleOfEvent } from '../../codecs/event-example.ts';
import { describe, named } from '../../codecs/json-schema.ts';
import {
  cursorOf,
  Integer,
  IsoDateTime,
  integerOf,
  limitUpTo,
  repeated,
  Uuid,
} from '../../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../../codecs/struct.ts';
import { WebhookEvent } from '../../codecs/webhook-event.ts';
import { CursorExpired } from '../../domain/error.ts';
import { noticeKinds, noticeSubjectTypes } from '../../domain/operations/notice.ts';
import { feedKeys } from '../../domain/webhooks/event-key.ts';
import { switchEventFeed } from '../../commands/workspaces/workspaces.ts';
import * as records from '../../records/webhooks/event-feed.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, answerWith, succeed, succeedWith } from '../frame/envelope.ts';

const tag = 'Webhooks';
const path = '/api/workspace/event-feed';

export const FeedCursor = cursorOf(struct({ position: integerOf({ min: 0 }), eventId: nullish(Uuid) }));

const cursorText = (description: string) => describe(new t.StringType(), { description });

const EventFeed = named(
  'EventFeed',
  struct({
    enabled: describe(t.boolean, {
      description: 'True if every event is stored, whether or not a webhook wants it.',
    }),
    oldestCursor: cursorText('Cursor before the oldest event that is kept.'),
    latestCursor: cursorText(
      'Cursor after the latest event: a reader that begins here gets what comes from now on.',
    ),
  }),
);

const startCursor = FeedCursor.encode({ position: 0, eventId: null });
const feedExample = {
  enabled: true,
  oldestCursor: startCursor,
  latestCursor: FeedCursor.encode({ position: 3, eventId: '0199d6c1-0000-7000-8000-000000000003' }),
};

const presentFeed = (feed: records.FeedState | undefined) => ({
  enabled: feed?.enabled ?? false,
  oldestCursor: feed === undefined ? startCursor : FeedCursor.encode(feed.oldest),
  latestCursor: feed === undefined ? startCursor : FeedCursor.encode(feed.latest),
});

export const getEventFeed = endpoint(
  {
    method: 'GET',
    path,
    operationId: 'getEventFeed',
    summary: 'Read whether the event feed is on',
    tag,
    access: 'workspace',
    responses: { 200: answer('The event feed', EventFeed, feedExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed(presentFeed(await records.findFeed(database, workspaceId))),
  }),
);

const saved = 'Event feed saved successfully';

export const putEventFeed = endpoint(
  {
    method: 'PUT',
    path,
    operationId: 'putEventFeed',
    summary: 'Switch the event feed on or off',
    description:
      'Needs an operator’s key. While it is on, every event is stored for the retention period (default 30 days), whether or not a webhook wants it, and `GET /api/events` returns them. What happens while it is off is not in the feed.',
    tag,
    access: 'operator',
    body: named(
      'SwitchEventFeed',
      struct({
        enabled: describe(t.boolean, { description: 'True to switch it on, false to switch it off.' }),
      }),
    ),
    bodyExample: { enabled: true },
    responses: { 200: answerWith('The event feed after the change', saved, EventFeed, feedExample) },
  },
  async ({ dependencies, principal: { workspaceId }, body: { enabled } }) => {
    await switchEventFeed(dependencies, workspaceId, enabled);
    const feed = await records.findFeed(dependencies.database, workspaceId);
    return { status: 200, body: succeedWith(saved, presentFeed(feed)) };
  },
);

const noticeEvent = named(
  'NoticeEvent',
  struct({
    eventKey: t.literal('notice'),
    workspaceId: Integer,
    timestamp: IsoDateTime,
    data: named(
      'NoticeData',
      struct({
        kind: describe(oneOf(noticeKinds), { description: 'Kind of the notice.' }),
        subject: describe(
          named(
            'NoticeEventSubject',
            struct({
              type: oneOf(noticeSubjectTypes, 'NoticeSubjectType'),
              id: t.string,
              name: describe(t.string, { description: 'Name of the subject at the time of the notice.' }),
            }),
          ),
          { description: 'Record that the notice is about.' },
        ),
        message: describe(t.string, { description: 'Text for people.' }),
      }),
    ),
  }),
);

const eventWithoutData = named(
  'EventWithoutData',
  struct({
    eventKey: oneOf(feedKeys, 'FeedKey'),
    workspaceId: Integer,
    timestamp: IsoDateTime,
    data: named(
      'NoEventData',
      optional({
        erased: describe(t.literal(true), { description: 'Set if the person of the event was erased.' }),
        too_large: describe(t.literal(true), { description: 'Set if the event is larger than 256 KB.' }),
      }),
    ),
  }),
);

const FeedEvent = named(
  'FeedEvent',
  struct({
    id: describe(Uuid, { description: 'Id of the event: the header `webhook-id` of its deliveries.' }),
    cursor: cursorText('Place of the event in the feed; as `after` it continues with the next event.'),
    body: describe(t.union([WebhookEvent, noticeEvent, eventWithoutData]), {
      description: 'The body as webhooks carry it, byte for byte.',
    }),
  }),
);

const EventPage = named(
  'EventPage',
  struct({
    status: t.literal('success'),
    data: t.readonlyArray(FeedEvent),
    pagination: named(
      'EventPagination',
      struct({
        limit: Integer,
        nextCursor: cursorText('Always set, at the end of the feed too: pass it as `after` to continue.'),
        hasMore: describe(t.boolean, { description: 'False at the end of the feed.' }),
      }),
    ),
  }),
);

const example = {
  id: '0199d6c1-0000-7000-8000-000000000003',
  cursor: feedExample.latestCursor,
  body: exampleOfEvent('delivered', 1001),
};

export const listEvents = endpoint(
  {
    method: 'GET',
    path: '/api/events',
    operationId: 'listEvents',
    summary: 'Read the event feed',
    description:
      'Empty until the feed is switched on. Oldest first, in the order in which the events were committed. A reader that passes `nextCursor` as `after` gets every event exactly once. A page may have fewer events than `limit`, or none: `hasMore` says whether to go on at once. `Accept: application/x-ndjson` gives one event per line; the header `X-Next-Cursor` then continues. A cursor whose events are no longer kept gets 410 with `error.oldestCursor`.',
    tag,
    access: 'workspace',
    query: optional({
      after: describe(FeedCursor, {
        description: 'Cursor after which to read; default before the oldest event that is kept.',
      }),
      event_key: describe(repeated(oneOf(feedKeys, 'FeedKey')), {
        description: 'Only events of these keys.',
      }),
      limit: limitUpTo(1000),
    }),
    responses: {
      200: {
        description: 'One page of events',
        body: EventPage,
        content: { 'application/x-ndjson': { type: 'string', description: 'One `FeedEvent` per line.' } },
        example: {
          status: 'success',
          data: [example],
          pagination: { limit: 100, nextCursor: example.cursor, hasMore: false },
        },
      },
    },
    errors: [410],
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query, request }) => {
    const feed = await records.findFeed(database, workspaceId);
    const limit = query.limit ?? 100;
    const latest = feed?.latest.position ?? 0;
    const oldestAfter = (position: number) =>
      records.oldestPlace(database, workspaceId, { after: position, latest });
    const after = query.after ?? (await oldestAfter(0));
    const keys = query.event_key ?? [];
    const found = await records.readFeed(database, workspaceId, { after, latest, keys, limit });
    if (found === 'gone') throw new CursorExpired(FeedCursor.encode(await oldestAfter(after.position)));
    if (found === 'unknown') throw new CursorExpired(FeedCursor.encode(await oldestAfter(0)));
    const nextCursor = FeedCursor.encode(found.next);
    const lines = found.events.map(
      ({ id, place, body }) => `{"id":"${id}","cursor":"${FeedCursor.encode(place)}","body":${body}}`,
    );
    const accept = request.header('accept') ?? '';
    // Generated clients accept every media type of the document, but read JSON only.
    if (accept.includes('application/x-ndjson') && !accept.includes('application/json'))
      return {
        status: 200,
        content: lines.map((line) => `${line}\n`).join(''),
        contentType: 'application/x-ndjson; charset=utf-8',
        headers: { 'X-Next-Cursor': nextCursor },
      };
    const hasMore = found.next.position < latest;
    const pagination = JSON.stringify({ limit, nextCursor, hasMore });
    // The stored bodies are passed on as text: parsing and encoding them again could change their bytes.
    return {
      status: 200,
      content: `{"status":"success","data":[${lines.join(',')}],"pagination":${pagination}}`,
      contentType: 'application/json; charset=utf-8',
    };
  },
);
