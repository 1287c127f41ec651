/** Spec 4.2: the tags of a workspace. */
import { textOf } from '../codecs/scalars.ts';
import { CreateTag, Tag, UpdateTag } from '../codecs/tag.ts';
import * as records from '../records/contacts/tags.ts';
import { resource } from './frame/resource.ts';

const tags = resource({
  name: 'Tag',
  tag: 'Tags',
  path: '/api/tags',
  record: Tag,
  example: {
    tagId: '0197c0de-0000-7000-8000-0000000000a1',
    name: 'VIP',
    text_color: '#ffffff',
    background_color: '#7c3aed',
  },
});

const defaultColours = { text_color: '#1f2937', background_color: '#e5e7eb' };

export const listTags = tags.list(
  { search: textOf({ max: 255 }), createdBy: textOf({ max: 255 }) },
  {
    description:
      'Spec 4.2. By name. `search` finds the tags whose name holds every word of it, the last word as the beginning of one; `createdBy` takes the id of a user.',
  },
  ({ database, workspaceId }, { search = '', createdBy, page, limit }) =>
    records.listTags(database, workspaceId, { search, createdBy, page, limit }),
);

export const createTag = tags.create(
  {
    body: CreateTag,
    bodyExample: { name: 'VIP', text_color: '#ffffff', background_color: '#7c3aed', createdBy: 'user-17' },
  },
  ({ database, workspaceId, principal: { keyId } }, body) =>
    records.insertTag(database, workspaceId, { ...defaultColours, createdBy: keyId, ...body }),
);

export const getTag = tags.read(({ database, workspaceId, id }) => records.getTag(database, workspaceId, id));

export const updateTag = tags.change(
  {
    description: 'Absent fields stay as they are.',
    body: UpdateTag,
    bodyExample: { background_color: '#0f766e' },
  },
  ({ database, workspaceId, id }, body) => records.updateTag(database, workspaceId, { ...body, tagId: id }),
);

export const deleteTag = tags.remove({ description: 'Contacts lose it.' }, ({ database, workspaceId, id }) =>
  records.deleteTag(database, workspaceId, id),
);
