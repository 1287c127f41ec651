/** Spec 4.2: the tags of a workspace. */
import { idOf, limitUpTo, Page, textOf } from '../codecs/scalars.ts';
import { optional, struct } from '../codecs/struct.ts';
import { CreateTag, Tag, UpdateTag } from '../codecs/contact.ts';
import * as records from '../records/contacts/tags.ts';
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

const tag = 'Tags';
const params = struct({ id: idOf('Tag') });

const tagExample = {
  tagId: '0197c0de-0000-7000-8000-0000000000a1',
  name: 'VIP',
  text_color: '#ffffff',
  background_color: '#7c3aed',
};

export const listTags = endpoint(
  {
    method: 'GET',
    path: '/api/tags',
    operationId: 'listTags',
    summary: 'List the tags of the workspace',
    description:
      'Sorted by name. `search` finds tags whose name contains every word, the last of which may be a beginning, or contains the whole text; case and accents do not matter.',
    tag,
    access: 'workspace',
    query: optional({
      page: Page,
      limit: limitUpTo(100),
      search: textOf({ max: 255 }),
      createdBy: textOf({ max: 255 }),
    }),
    responses: { 200: onePage('One page of tags', Tag, tagExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const { search = '', createdBy, page: number = 1, limit = 10 } = query;
    const requested = { page: number, limit };
    const { items, total } = await records.listTags(database, workspaceId, {
      search,
      createdBy,
      ...requested,
    });
    return { status: 200, body: page(items, { ...requested, total }) };
  },
);

export const createTag = endpoint(
  {
    method: 'POST',
    path: '/api/tags',
    operationId: 'createTag',
    summary: 'Create a tag',
    tag,
    access: 'workspace',
    idempotent: true,
    body: CreateTag,
    bodyExample: { name: 'VIP', text_color: '#ffffff', background_color: '#7c3aed', createdBy: 'user-17' },
    responses: { 201: answerWith('The tag', 'Tag created successfully', Tag, tagExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId, keyId }, body, request }) =>
    createOnce(database, request.idempotency, async (transaction) => {
      const wanted = { ...records.defaultTagColours, createdBy: keyId, ...body };
      const created = await records.insertTag(transaction, workspaceId, wanted);
      return { status: 201, body: succeedWith('Tag created successfully', created) };
    }),
);

export const getTag = endpoint(
  {
    method: 'GET',
    path: '/api/tags/:id',
    operationId: 'getTag',
    summary: 'Read a tag',
    tag,
    access: 'workspace',
    params,
    responses: { 200: answer('The tag', Tag, tagExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(await records.getTag(database, workspaceId, id)),
  }),
);

export const updateTag = endpoint(
  {
    method: 'PUT',
    path: '/api/tags/:id',
    operationId: 'updateTag',
    summary: 'Change a tag',
    description: 'Omitted fields do not change.',
    tag,
    access: 'workspace',
    params,
    body: UpdateTag,
    bodyExample: { background_color: '#0f766e' },
    responses: {
      200: answerWith('Tag after the change', 'Tag updated successfully', Tag, {
        ...tagExample,
        background_color: '#0f766e',
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, body }) => {
    const updated = await records.updateTag(database, workspaceId, { ...body, tagId: id });
    return { status: 200, body: succeedWith('Tag updated successfully', updated) };
  },
);

export const deleteTag = endpoint(
  {
    method: 'DELETE',
    path: '/api/tags/:id',
    operationId: 'deleteTag',
    summary: 'Delete a tag',
    description: 'Removes the tag from its contacts.',
    tag,
    access: 'workspace',
    params,
    responses: { 200: acknowledgement('The tag is deleted', 'Tag deleted successfully') },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => {
    await database.transaction(async (transaction) => {
      const details = { name: await records.deleteTag(transaction, workspaceId, id) };
      await insertAuditEntry(transaction, { workspaceId, action: 'tag.delete', objectId: id, details });
    });
    return { status: 200, body: acknowledge('Tag deleted successfully') };
  },
);
