/** The contacts of a workspace; Spec 4.6 is `updateContact`. */
import * as t from 'io-ts';
import { ContactCursor, CreateContact, UpdateContact } from '../codecs/contact.ts';
import { EventContact as Contact } from '../codecs/event.ts';
import { describe, named } from '../codecs/json-schema.ts';
import { idOf, limitUpTo, textOf, Uuid } from '../codecs/scalars.ts';
import { oneOf, optional, struct } from '../codecs/struct.ts';
import { exportContact, forgetPerson } from '../commands/contacts/erase-contact.ts';
import * as creating from '../commands/contacts/create-contact.ts';
import * as updating from '../commands/contacts/update-contact.ts';
import { presentContact, type ContactInput } from '../domain/contacts/contact.ts';
import { readContactSearch } from '../domain/contacts/search.ts';
import { Invalid } from '../domain/error.ts';
import * as listing from '../records/contacts/list.ts';
import * as records from '../records/contacts/contacts.ts';
import { getSegment } from '../records/contacts/segments.ts';
import { endpoint } from './frame/endpoint.ts';
import {
  acknowledge,
  acknowledgement,
  answer,
  answerWith,
  partPage,
  onePart,
  succeed,
  succeedWith,
} from './frame/envelope.ts';

const ContactExport = named(
  'ContactExport',
  struct({
    contact: Contact,
    providerIds: t.readonlyArray(t.string),
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
  email: 'grace@example.com',
  phoneNumber: '30901820',
  countryCode: '49',
  source: 'api',
  subscribed: true,
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
      'Newest first. `search` finds by the beginning of the phone number (with its calling code, or in its national form), of the first name, the last name, the chat name or the e-mail address; several words must all match. Results of a search are ordered by what was found. `tag`, `segment` and `subscribed` leave the contacts that have the tag, match the segment, or are subscribed or not.',
    tag,
    access: 'workspace',
    query: optional({
      cursor: ContactCursor,
      limit: limitUpTo(1000),
      search: textOf({ max: 255 }),
      tag: describe(Uuid, { description: 'Only contacts that have this tag.' }),
      segment: describe(Uuid, { description: 'Only contacts that match this segment.' }),
      subscribed: describe(oneOf(['true', 'false']), {
        description: 'Only contacts that are subscribed (`true`) or that opted out (`false`).',
      }),
    }),
    responses: { 200: onePart('One part of the list', Contact, contactExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
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
      ? await listing.searchContacts(database, workspaceId, { search, ...part })
      : await listing.listContacts(database, workspaceId, part);
    const body = partPage(found, limit, {
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
    summary: 'Register a contact',
    description:
      'Emits `contact.created`. The number of a deleted contact restores that contact, with what is given anew: 200 and `contact.updated`. The number of a present contact is refused with 409.',
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
      200: answerWith(
        'The contact was deleted before and is restored',
        'Contact restored successfully',
        Contact,
        contactExample,
      ),
    },
    errors: [409],
  },
  async ({ dependencies, principal: { workspaceId }, body }) => {
    const { contact, restored } = await creating.createContact(dependencies, workspaceId, {
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
      'Absent fields stay as they are; `tagsId` and `customFields` replace the whole list. Emits `contact.updated` once when something changes, nothing otherwise.',
    tag,
    access: 'workspace',
    params,
    body: UpdateContact,
    bodyExample: { tagsId: [] },
    responses: {
      200: answerWith('The contact as it is now', 'Contact updated successfully', Contact, {
        ...contactExample,
        tagsId: [],
      }),
    },
    errors: [409],
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, body }) => {
    const change = { ...withLowerCaseTags(body), contactId: id };
    const updated = await updating.updateContact(dependencies, workspaceId, change);
    return { status: 200, body: succeedWith('Contact updated successfully', presentContact(updated)) };
  },
);

export const exportContactEndpoint = endpoint(
  {
    method: 'GET',
    path: '/api/contacts/:id/export',
    operationId: 'exportContact',
    summary: 'Export everything that is held of a person',
    description:
      'The contact, the provider’s ids of the person, conversations, messages and the messages of campaigns.',
    tag,
    access: 'workspace',
    params,
    responses: {
      200: answer('What is held of the person', ContactExport, {
        contact: contactExample,
        providerIds: ['US.13491208655302741918'],
        conversations: [],
        messages: [],
        campaignMessages: [],
      }),
    },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id } }) => {
    const contact = await records.getContact(dependencies.database, workspaceId, id);
    const held = await exportContact(dependencies, { workspaceId, contactId: id });
    return { status: 200, body: succeed({ contact: presentContact(contact), ...held }) };
  },
);

export const deleteContact = endpoint(
  {
    method: 'DELETE',
    path: '/api/contacts/:id',
    operationId: 'deleteContact',
    summary: 'Delete a contact',
    description:
      'The contact leaves every list and audience, and is restored when its number turns up again. With `erase=true` the person is forgotten for good, a deleted contact too: number, names, texts, variables and the provider’s ids go from contact, campaigns, messages, events and callbacks; counters, ledger and ids stay, and of a number that had opted out a keyed hash, so that it stays unsubscribed.',
    tag,
    access: 'workspace',
    params,
    query: optional({ erase: oneOf(['true', 'false']) }),
    responses: { 200: acknowledgement('The contact is deleted', 'Contact deleted successfully') },
  },
  async ({ dependencies, principal: { workspaceId }, params: { id }, query }) => {
    if (query.erase === 'true') {
      await forgetPerson(dependencies, { workspaceId, contactId: id });
      return { status: 200, body: acknowledge('Contact erased successfully') };
    }
    await records.deleteContact(dependencies.database, workspaceId, id);
    return { status: 200, body: acknowledge('Contact deleted successfully') };
  },
);

// Ids are UUIDs: their case means nothing.
function withLowerCaseTags<I extends Pick<ContactInput, 'tagsId'>>(input: I): I {
  if (input.tagsId === undefined) return input;
  return { ...input, tagsId: input.tagsId.map((tagId) => tagId.toLowerCase()) };
}
