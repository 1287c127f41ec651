/** Notices for the users of a workspace. */
import { describe, named } from '../codecs/json-schema.ts';
import * as t from 'io-ts';
import { cursorOf, IsoDateTime, limitUpTo, Uuid } from '../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import { noticeKinds, noticeSubjectTypes } from '../domain/operations/notice.ts';
import { listNotices, markNoticesRead, type Notice as NoticeRow } from '../records/operations/notices.ts';
import { endpoint } from './frame/endpoint.ts';
import { acknowledge, acknowledgement, cutPage, oneCursorPage } from './frame/envelope.ts';

const tag = 'Operations';

const Notice = named(
  'Notice',
  struct({
    id: Uuid,
    kind: describe(oneOf(noticeKinds, 'NoticeKind'), { description: 'Kind of the notice.' }),
    subject: describe(
      named(
        'NoticeSubject',
        struct({
          type: oneOf(noticeSubjectTypes, 'NoticeSubjectType'),
          id: t.string,
          name: describe(t.string, { description: 'Name of the subject at the time of the notice.' }),
        }),
      ),
      { description: 'Record that the notice is about.' },
    ),
    message: describe(t.string, { description: 'Text for people.' }),
    createdAt: IsoDateTime,
    readAt: describe(nullish(IsoDateTime), {
      description: 'Time at which the notice was marked as read; null while unread.',
    }),
  }),
);

const example = {
  id: '0197c0de-0000-7000-8000-0000000000e1',
  kind: 'campaign_paused',
  subject: { type: 'campaign', id: '0197c0de-0000-7000-8000-0000000000f1', name: 'Winter sale' },
  message:
    'The campaign was paused. The wallet of the channel does not cover the next message. Recharge the wallet, then start the campaign.',
  createdAt: '2026-11-21T09:00:00.000Z',
  readAt: null,
};

const NoticeCursor = cursorOf(struct({ id: Uuid }));

const present = ({ subjectType, subjectId, subjectName, ...notice }: NoticeRow) => ({
  ...notice,
  subject: { type: subjectType, id: subjectId, name: subjectName },
});

export const listNoticesEndpoint = endpoint(
  {
    method: 'GET',
    path: '/api/notices',
    operationId: 'listNotices',
    summary: 'List the notices of the workspace',
    description:
      'Newest first: template changes, blocked channels, quality and limit changes, disabled webhooks, paused and failed campaigns. Kept for 90 days.',
    tag,
    access: 'workspace',
    query: optional({
      cursor: NoticeCursor,
      limit: limitUpTo(1000),
      unread: describe(oneOf(['true', 'false']), {
        description: '`true` lists unread notices only; default all.',
      }),
      kind: describe(oneOf(noticeKinds, 'NoticeKind'), { description: 'Notices of one kind only.' }),
      from: describe(IsoDateTime, { description: 'Notices at this time or later only.' }),
      to: describe(IsoDateTime, { description: 'Notices before this time only.' }),
    }),
    responses: { 200: oneCursorPage('One page of notices', Notice, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 100;
    const found = await listNotices(database, workspaceId, {
      unread: query.unread === 'true',
      kind: query.kind,
      from: query.from,
      to: query.to,
      before: query.cursor?.id,
      limit: limit + 1,
    });
    const cursor = ({ id }: NoticeRow) => NoticeCursor.encode({ id });
    return { status: 200, body: cutPage(found, limit, { cursor, present }) };
  },
);

export const readNotices = endpoint(
  {
    method: 'POST',
    path: '/api/notices/read',
    operationId: 'readNotices',
    summary: 'Mark notices as read',
    description: 'Marks every notice created at `until` or earlier, for all keys of the workspace.',
    tag,
    access: 'workspace',
    body: named(
      'ReadNotices',
      struct({
        until: describe(IsoDateTime, { description: '`createdAt` of the newest notice that was read.' }),
      }),
    ),
    bodyExample: { until: '2026-11-21T09:00:00.000Z' },
    responses: { 200: acknowledgement('Marked as read', 'Notices marked as read') },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, body }) => {
    await markNoticesRead(database, workspaceId, body.until);
    return { status: 200, body: acknowledge('Notices marked as read') };
  },
);
