/** GET /api/audit: the audit log of a workspace. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { IsoDateTime, limitUpTo, textOf } from '../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import { auditObjects } from '../domain/operations/audit.ts';
import { SerialCursor, serialCursor } from '../codecs/wallet.ts';
import { listAuditEntries } from '../records/operations/audit.ts';
import { endpoint } from './frame/endpoint.ts';
import { cutPage, oneCursorPage } from './frame/envelope.ts';

const AuditEntry = named(
  'AuditEntry',
  struct({
    id: t.string,
    at: IsoDateTime,
    key_id: nullish(t.string),
    command: nullish(t.string),
    action: t.string,
    object_id: t.string,
    request_id: nullish(t.string),
  }),
);

export const listAudit = endpoint(
  {
    method: 'GET',
    path: '/api/audit',
    operationId: 'listAuditEntries',
    summary: 'List the audit log of the workspace',
    description:
      'Newest first: actions of API keys (`key_id`) and operators’ commands (`command`). Contains no personal data.',
    tag: 'Operations',
    access: 'workspace',
    query: optional({
      cursor: SerialCursor,
      limit: limitUpTo(1000),
      object_id: describe(textOf({ max: 255 }), {
        description: 'Only entries about the record with this id, such as a campaign.',
      }),
      object: describe(oneOf(auditObjects), {
        description: 'Entries of one kind of object only: those whose action begins with it.',
      }),
      key_id: describe(textOf({ max: 255 }), { description: 'Entries of one key only.' }),
      from: describe(IsoDateTime, { description: 'Entries at this time or later only.' }),
      to: describe(IsoDateTime, { description: 'Entries before this time only.' }),
    }),
    responses: {
      200: oneCursorPage('One page of the audit log', AuditEntry, {
        id: '7',
        at: '2026-11-21T09:00:00.000Z',
        key_id: 'k3JkqP0x',
        command: null,
        action: 'campaign.pause',
        object_id: '0197c0de-0000-7000-8000-0000000000f1',
        request_id: '3f6c2a',
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 100;
    const before = query.cursor === undefined ? undefined : BigInt(query.cursor.id);
    const found = await listAuditEntries(database, workspaceId, {
      before,
      objectId: query.object_id,
      object: query.object,
      keyId: query.key_id,
      from: query.from,
      to: query.to,
      limit: limit + 1,
    });
    const present = (entry: (typeof found)[number]) => ({ ...entry, id: String(entry.id) });
    return { status: 200, body: cutPage(found, limit, { cursor: serialCursor, present }) };
  },
);
