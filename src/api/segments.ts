/** Segments: saved filters over the contacts of a workspace. */
import { idOf, Integer, limitUpTo, Page } from '../codecs/scalars.ts';
import { CountSegment, CreateSegment, Segment, UpdateSegment } from '../codecs/segment.ts';
import { named } from '../codecs/json-schema.ts';
import { optional, struct } from '../codecs/struct.ts';
import { Invalid } from '../domain/error.ts';
import { conditionProblems, type SegmentCondition } from '../domain/contacts/segment-filter.ts';
import { countContacts } from '../records/contacts/list.ts';
import * as records from '../records/contacts/segments.ts';
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
  'Fields: firstName, lastName, chatName, email, phoneNumber, countryCode, source, subscribed, consent (`all`, `no_marketing`, `none`), createdAt, updatedAt, dob, tag (takes tag ids) and custom.<fieldId>. Operators need a `value`, except exists and not_exists; in and not_in take an array.';

function assertConditions(conditions: readonly SegmentCondition[]): void {
  const problems = conditionProblems(conditions, 'conditions');
  if (problems.length > 0) throw Invalid.of(problems);
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
      const created = await records.insertSegment(transaction, workspaceId, { match: 'all', ...body });
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
    const segment = { match: body.match ?? 'all', conditions: body.conditions };
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
    const updated = await records.updateSegment(database, workspaceId, { ...body, id });
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
    responses: { 200: acknowledgement('The segment is deleted', 'Segment deleted successfully') },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => {
    await database.transaction(async (transaction) => {
      await records.deleteSegment(transaction, workspaceId, id);
      await insertAuditEntry(transaction, { workspaceId, action: 'segment.delete', objectId: id });
    });
    return { status: 200, body: acknowledge('Segment deleted successfully') };
  },
);
