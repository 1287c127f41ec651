/** Segments: saved filters over the contacts of a workspace. */
import { idOf, Integer, limitUpTo, Page } from '../codecs/scalars.ts';
import { CountSegment, CreateSegment, Segment, UpdateSegment } from '../codecs/segment.ts';
import { named } from '../codecs/json-schema.ts';
import { optional, struct } from '../codecs/struct.ts';
import { Invalid } from '../domain/error.ts';
import { checkConditions } from '../commands/contacts/check-conditions.ts';
import { conditionProblems, type SegmentCondition } from '../domain/contacts/segment-filter.ts';
import { countContacts } from '../records/contacts/list.ts';
import * as records from '../records/contacts/segments.ts';
import type { Connection } from '../records/database/database.ts';
import { insertAuditEntry } from '../records/operations/audit.ts';
import { endpoint } from './frame/endpoint.ts';
import {
  acknowledge,
  acknowledgement,
  answer,
  answerWith,
  onePage,
  page,
  succeed,
  succeedWith,
} from './frame/envelope.ts';
import { createOnce } from './frame/idempotency.ts';

const tag = 'Segments';
const params = struct({ id: idOf('Segment') });

const segmentExample = {
  id: '0197c0de-0000-7000-8000-0000000000e1',
  name: 'Customers in Berlin',
  match: 'all',
  conditions: [
    { field: 'custom.city', operator: 'eq', value: 'Berlin' },
    { field: 'subscribed', operator: 'eq', value: true },
  ],
  created_at: '2026-11-21T09:00:00.000Z',
  updated_at: '2026-11-21T09:00:00.000Z',
};

const conditionsDescription =
  'Fields: firstName, lastName, chatName, email, phoneNumber, countryCode, country (ISO 3166 alpha-2, by the number), source, subscribed, consent (`all`, `no_marketing`, `none`), createdAt, updatedAt, dob, tag (takes tag ids), segment (`in` and `not_in` of segment ids), custom.<fieldId>, campaign.<campaign id> (`in` and `not_in` of what became of its message: `ACCEPTED`, `SENT`, `DELIVERED`, `READ`, `FAILED`, `UNKNOWN`, `CANCELLED` are the present state, `REPLIED`: wrote to the channel in the 30 days after it), and last_messaged_at, last_delivered_at, last_read_at, last_replied_at (`before`, `after`, `within_days`, `not_within_days`, `exists`, `not_exists`), as far as messages are kept. Names of fields may be in any case. Operators need a `value`, except exists and not_exists; in and not_in take an array, within_days and not_within_days, which every date takes, a number of days. Custom fields are compared by their type (`GET /api/contact-fields`).';

/** Refuses what is wrong with the conditions themselves before the database is asked. */
function assertConditions(conditions: readonly SegmentCondition[]): void {
  const problems = conditionProblems(conditions, 'conditions');
  if (problems.length > 0) throw Invalid.of(problems);
}

/** Returns the conditions to use. Throws Invalid. */
async function requireConditions(
  connection: Connection,
  workspaceId: number,
  given: readonly SegmentCondition[],
  segmentId?: string,
) {
  const { conditions, problems } = await checkConditions(connection, workspaceId, given, {
    path: 'conditions',
    ...(segmentId !== undefined && { segmentId }),
  });
  if (problems.length > 0) throw Invalid.of(problems);
  return [...conditions];
}

export const listSegments = endpoint(
  {
    method: 'GET',
    path: '/api/segments',
    operationId: 'listSegments',
    summary: 'List the segments of the workspace',
    tag,
    access: 'workspace',
    query: optional({ page: Page, limit: limitUpTo(100) }),
    responses: { 200: onePage('One page of segments, by name', Segment, segmentExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const requested = { page: query.page ?? 1, limit: query.limit ?? 10 };
    const { items, total } = await records.listSegments(database, workspaceId, requested);
    return { status: 200, body: page(items, { ...requested, total }) };
  },
);

export const createSegment = endpoint(
  {
    method: 'POST',
    path: '/api/segments',
    operationId: 'createSegment',
    summary: 'Create a segment',
    description: conditionsDescription,
    tag,
    access: 'workspace',
    idempotent: true,
    body: CreateSegment,
    bodyExample: { name: segmentExample.name, match: 'all', conditions: segmentExample.conditions },
    responses: { 201: answerWith('The segment', 'Segment created successfully', Segment, segmentExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, body, request }) => {
    assertConditions(body.conditions);
    return createOnce(database, request.idempotency, async (transaction) => {
      await records.lockSegments(transaction, workspaceId);
      const conditions = await requireConditions(transaction, workspaceId, body.conditions);
      const created = await records.insertSegment(transaction, workspaceId, {
        match: 'all',
        ...body,
        conditions,
      });
      return { status: 201, body: succeedWith('Segment created successfully', created) };
    });
  },
);

const SegmentCount = named('SegmentCount', struct({ count: Integer, subscribed: Integer }));

/** Counts the contacts that match, so that an editor can show the number before the conditions are saved. */
export const countSegment = endpoint(
  {
    method: 'POST',
    path: '/api/segments/count',
    operationId: 'countSegment',
    summary: 'Count the contacts that match conditions',
    description: `Saves nothing. \`subscribed\` is the number that campaigns may send to. ${conditionsDescription}`,
    tag,
    access: 'workspace',
    body: CountSegment,
    bodyExample: { match: 'all', conditions: segmentExample.conditions },
    responses: { 200: answer('Counts', SegmentCount, { count: 1_204, subscribed: 1_180 }) },
  },
  async ({ dependencies: { searchDatabase }, principal: { workspaceId }, body }) => {
    assertConditions(body.conditions);
    const conditions = await requireConditions(searchDatabase, workspaceId, body.conditions);
    const segment = { match: body.match ?? 'all', conditions };
    return { status: 200, body: succeed(await countContacts(searchDatabase, workspaceId, { segment })) };
  },
);

export const getSegment = endpoint(
  {
    method: 'GET',
    path: '/api/segments/:id',
    operationId: 'getSegment',
    summary: 'Read a segment',
    tag,
    access: 'workspace',
    params,
    responses: { 200: answer('The segment', Segment, segmentExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(await records.getSegment(database, workspaceId, id)),
  }),
);

export const updateSegment = endpoint(
  {
    method: 'PUT',
    path: '/api/segments/:id',
    operationId: 'updateSegment',
    summary: 'Change a segment',
    description: `Omitted fields do not change; \`conditions\` replaces the whole list. ${conditionsDescription}`,
    tag,
    access: 'workspace',
    params,
    body: UpdateSegment,
    bodyExample: { match: 'any' },
    responses: {
      200: answerWith('Segment after the change', 'Segment updated successfully', Segment, {
        ...segmentExample,
        match: 'any',
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, body }) => {
    assertConditions(body.conditions ?? []);
    const updated = await database.transaction(async (transaction) => {
      if (body.conditions === undefined)
        return records.updateSegment(transaction, workspaceId, { ...body, id });
      await records.lockSegments(transaction, workspaceId);
      const conditions = await requireConditions(transaction, workspaceId, body.conditions, id);
      return records.updateSegment(transaction, workspaceId, { ...body, id, conditions });
    });
    return { status: 200, body: succeedWith('Segment updated successfully', updated) };
  },
);

export const deleteSegment = endpoint(
  {
    method: 'DELETE',
    path: '/api/segments/:id',
    operationId: 'deleteSegment',
    summary: 'Delete a segment',
    tag,
    access: 'workspace',
    params,
    description: 'Refused with 409 while another segment has a condition on it.',
    responses: { 200: acknowledgement('The segment is deleted', 'Segment deleted successfully') },
    errors: [409],
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => {
    await database.transaction(async (transaction) => {
      await records.lockSegments(transaction, workspaceId);
      const details = { name: await records.deleteSegment(transaction, workspaceId, id) };
      await insertAuditEntry(transaction, { workspaceId, action: 'segment.delete', objectId: id, details });
    });
    return { status: 200, body: acknowledge('Segment deleted successfully') };
  },
);
