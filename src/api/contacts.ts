import { Readable } from 'node:stream';
/** The contacts of a workspace and their opt-outs and opt-ins; Spec 4.6 is `updateContact`. */
import * as t from 'io-ts';
import { ContactCursor, CreateContact, UpdateContact } from '../codecs/contact.ts';
import { EventContact as Contact } from '../codecs/event.ts';
import { describe, named } from '../codecs/json-schema.ts';
import { idOf, limitUpTo, textOf, Uuid } from '../codecs/scalars.ts';
import { oneOf, optional, struct } from '../codecs/struct.ts';
import { exportContact, eraseContact } from '../commands/contacts/erase-contact.ts';
import * as changing from '../commands/contacts/change-contact.ts';
import { presentContact, type ContactInput } from '../domain/contacts/contact.ts';
import { readContactSearch } from '../domain/contacts/search.ts';
import { Invalid } from '../domain/error.ts';
import * as listing from '../records/contacts/list.ts';
import * as records from '../records/contacts/contacts.ts';
import { getSegment } from '../records/contacts/segments.ts';
import { consentExample } from './consents.ts';
import { endpoint } from './frame/endpoint.ts';
import {
  acknowledge,
  acknowledgement,
  answer,
  answerWith,
  oneCursorPage,
  presentPage,
  succeed,
  succeedWith,
} from './frame/envelope.ts';

const ContactExport = named(
  'ContactExport',
  struct({
    contact: Contact,
    formerNumbers: t.readonlyArray(t.string),
    providerIds: t.readonlyArray(t.string),
    consents: t.readonlyArray(t.UnknownRecord),
    conversations: t.readonlyArray(t.UnknownRecord),
    messages: t.readonlyArray(t.UnknownRecord),
    campaignMessages: t.readonlyArray(t.UnknownRecord),
  }),
);

const tag = 'Contacts';
const params = struct({ id: idOf('Contact') });

const contactExample = {
  id: '0197c0de-0000-7000-8000-0000000000c1',
  firstName: 'Grace',
  lastName: 'Hopper',
  chatName: 'Grace H.',
  username: '',
  email: 'grace@example.com',
  phoneNumber: '30901820',
  countryCode: '49',
  source: 'api',
  subscribed: true,
  consent: 'all',
  customFields: [{ fieldId: 'city', value: 'Berlin' }],
  tagsId: ['0197c0de-0000-7000-8000-0000000000a1'],
  dob: null,
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
};

export const listContacts = endpoint(
  {
    method: 'GET',
    path: '/api/contacts',
    operationId: 'listContacts',
    summary: 'List or search the contacts of the workspace',
    description:
      'Newest first. `search` matches the beginning of the phone number (international or national), of a word of the first, last or chat name, or of the e-mail address, whatever its case and accents; all words must match. In scripts without spaces it matches any part of a name. `tag`, `segment` and `subscribed` filter the list.',
    tag,
    access: 'workspace',
    query: optional({
      cursor: ContactCursor,
      limit: limitUpTo(1000),
      search: describe(textOf({ max: 255 }), {
        description: 'Only contacts whose number, names or e-mail address begin with these words.',
      }),
      tag: describe(Uuid, { description: 'Only contacts that have the tag with this id.' }),
      segment: describe(Uuid, { description: 'Only contacts that match the segment with this id.' }),
      subscribed: describe(oneOf(['true', 'false']), {
        description: 'Only contacts that are subscribed (`true`) or that opted out (`false`).',
      }),
    }),
    responses: { 200: oneCursorPage('One page of contacts', Contact, contactExample) },
    errors: [404],
  },
  async ({ dependencies: { database, searchDatabase }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 100;
    const search = readContactSearch(query.search ?? '');
    const isSearch = search.words.length > 0;
    const filter = {
      tagId: query.tag,
      segment:
        query.segment === undefined ? undefined : await getSegment(database, workspaceId, query.segment),
      subscribed: query.subscribed === undefined ? undefined : query.subscribed === 'true',
    };
    const { cursor } = query;
    if (cursor !== undefined && isSearch !== (cursor.way !== undefined)) {
      throw Invalid.at('cursor', 'cursor is not a cursor of this list: take its nextCursor');
    }
    const part = { after: cursor, limit, ...filter };
    const found = isSearch
      ? await listing.searchContacts(searchDatabase, workspaceId, { search, ...part })
      : await listing.listContacts(
          filter.segment === undefined ? database : searchDatabase,
          workspaceId,
          part,
        );
    const body = presentPage(found, limit, {
      cursor: ({ position }) => ContactCursor.encode(position),
      present: ({ contact }) => presentContact(contact),
    });
    return { status: 200, body };
  },
);

export const createContact = endpoint(
  {
    method: 'POST',
    path: '/api/contacts',
    operationId: 'createContact',
    summary: 'Create a contact',
    description:
      'Emits `contact.created`. The number of a deleted contact restores that contact with the given fields: 200 and `contact.updated`. The number of an existing contact is refused with 409.',
    tag,
    access: 'workspace',
    body: CreateContact,
    bodyExample: {
      phoneNumber: '30901820',
      countryCode: '+49',
      firstName: 'Grace',
      lastName: 'Hopper',
      customFields: [{ fieldId: 'city', value: 'Berlin' }],
    },
    responses: {
      201: answerWith('The contact', 'Contact created successfully', Contact, contactExample),
      200: answerWith('Restored a deleted contact', 'Contact restored successfully', Contact, contactExample),
    },
    errors: [409],
  },
  async ({ dependencies, principal: { workspaceId }, body }) => {
    const { contact, restored } = await changing.createContact(dependencies, workspaceId, {
      ...withLowerCaseTags(body),
      source: 'api',
    });
    const data = presentContact(contact);
    return restored
      ? { status: 200, body: succeedWith('Contact restored successfully', data) }
      : { status: 201, body: succeedWith('Contact created successfully', data) };
  },
);

export const getContact = endpoint(
  {
    method: 'GET',
    path: '/api/contacts/:id',
    operationId: 'getContact',
    summary: 'Read a contact',
    tag,
    access: 'workspace',
    params,
    responses: { 200: answer('The contact', Contact, contactExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id } }) => ({
    status: 200,
    body: succeed(presentContact(await records.getContact(database, workspaceId, id))),
  }),
);

export const updateContact = endpoint(
  {
    method: 'PUT',
    path: '/api/contacts/:id',
    operationId: 'updateContact',
    summary: 'Change a contact and its tags',
    description:
      'Omitted fields do not change; `tagsId` and `customFields` replace the whole list. Emits `contact.updated` if something changed.',
    tag,
    access: 'workspace',
    params,
    body: UpdateContact,
    bodyExample: { tagsId: [] },
    responses: {
      200: answerWith('Contact after the change', 'Contact updated successfully', Contact, {
        ...contactExample,
        tagsId: [],
      }),
    },
    errors: [409],
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, body }) => {
    const change = { ...withLowerCaseTags(body), contactId: id };
    const updated = await changing.updateContact(dependencies, workspaceId, change);
    return { status: 200, body: succeedWith('Contact updated successfully', presentContact(updated)) };
  },
);

export const exportContactEndpoint = endpoint(
  {
    method: 'GET',
    path: '/api/contacts/:id/export',
    operationId: 'exportContact',
    summary: 'Export all data of a person',
    description:
      'Returns the contact, its former numbers and provider ids, opt-outs and opt-ins, conversations, messages and campaign messages.',
    tag,
    access: 'workspace',
    params,
    responses: {
      200: answer('All stored data of the person', ContactExport, {
        contact: contactExample,
        formerNumbers: ['4930901821'],
        providerIds: ['US.13491208655302741918'],
        consents: [consentExample],
        conversations: [],
        messages: [],
        campaignMessages: [],
      }),
    },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id } }) => {
    const contact = await records.getContact(dependencies.database, workspaceId, id);
    const members = await exportContact(dependencies, { workspaceId, contactId: id });
    const own = JSON.stringify(Contact.encode(presentContact(contact)));
    async function* write(): AsyncGenerator<string> {
      yield `{"status":"success","data":{"contact":${own},`;
      yield* members;
      yield '}}';
    }
    return {
      status: 200,
      content: Readable.from(write(), { highWaterMark: 1 }),
      contentType: 'application/json; charset=utf-8',
    };
  },
);

export const deleteContact = endpoint(
  {
    method: 'DELETE',
    path: '/api/contacts/:id',
    operationId: 'deleteContact',
    summary: 'Delete a contact',
    description:
      'Removes the contact from lists and audiences; it is restored when its number is added again. `erase=true` also erases number, names, texts, variables and provider ids from contact, campaigns and messages at once; events, callbacks and stored answers are hidden at once and erased by a job. It also works on a deleted contact. What stays, and why: totals, ledger and audit log, which hold ids and no number; of a number or user id that had opted out a keyed hash, so that it is not written to again; uploaded CSV files until they are deleted (`DELETE /api/campaigns/csv-files/{key}`); whatever you wrote into names of campaigns, conditions of segments and filters, or texts of a mapping; cells of a CSV that held no readable number, with digits and letters masked if one may be in them. Temporal holds ids only. The provider and your webhooks keep their own copies.',
    tag,
    access: 'workspace',
    params,
    query: optional({ erase: oneOf(['true', 'false']) }),
    responses: { 200: acknowledgement('The contact is deleted', 'Contact deleted successfully') },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, query }) => {
    if (query.erase === 'true') {
      await eraseContact(dependencies, { workspaceId, contactId: id });
      return { status: 200, body: acknowledge('Contact erased successfully') };
    }
    await records.deleteContact(dependencies.database, workspaceId, id);
    return { status: 200, body: acknowledge('Contact deleted successfully') };
  },
);

// Ids are UUIDs, whose case does not matter.
function withLowerCaseTags<I extends Pick<ContactInput, 'tagsId'>>(input: I): I {
  if (input.tagsId === undefined) return input;
  return { ...input, tagsId: input.tagsId.map((tagId) => tagId.toLowerCase()) };
}
