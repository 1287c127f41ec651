/** Segments: saved filters over the contacts of a workspace. */
import { CreateSegment, Segment, UpdateSegment } from '../codecs/segment.ts';
import { Invalid } from '../domain/error.ts';
import { conditionProblems, type SegmentCondition } from '../domain/contacts/segment-filter.ts';
import * as records from '../records/contacts/segments.ts';
import { resource } from './frame/resource.ts';

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

const segments = resource({
  name: 'Segment',
  tag: 'Segments',
  path: '/api/segments',
  record: Segment,
  example: segmentExample,
});

const conditionsDescription =
  'Fields: firstName, lastName, chatName, email, phoneNumber, countryCode, source, subscribed, createdAt, updatedAt, dob, tag (takes tag ids) and custom.<fieldId>. Every operator but exists and not_exists needs a value; in and not_in take an array.';

function assertConditions(conditions: readonly SegmentCondition[]): void {
  const problems = conditionProblems(conditions, 'conditions');
  if (problems.length > 0) throw Invalid.of(problems);
}

export const listSegments = segments.list({}, { order: ', by name' }, ({ database, workspaceId }, place) =>
  records.listSegments(database, workspaceId, place),
);

export const createSegment = segments.create(
  {
    description: conditionsDescription,
    body: CreateSegment,
    bodyExample: { name: segmentExample.name, match: 'all', conditions: segmentExample.conditions },
  },
  async ({ database, workspaceId }, body) => {
    assertConditions(body.conditions);
    return records.insertSegment(database, workspaceId, { match: 'all', ...body });
  },
);

export const getSegment = segments.read(({ database, workspaceId, id }) =>
  records.getSegment(database, workspaceId, id),
);

export const updateSegment = segments.change(
  {
    description: `Absent fields stay as they are; \`conditions\` replaces all of them. ${conditionsDescription}`,
    body: UpdateSegment,
    bodyExample: { match: 'any' },
  },
  async ({ database, workspaceId, id }, body) => {
    assertConditions(body.conditions ?? []);
    return records.updateSegment(database, workspaceId, { ...body, id });
  },
);

export const deleteSegment = segments.remove({}, ({ database, workspaceId, id }) =>
  records.deleteSegment(database, workspaceId, id),
);
