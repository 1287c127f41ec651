/** The opt-outs and opt-ins of a contact. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { cursorOf, idOf, IsoDateTime, limitUpTo, Uuid } from '../codecs/scalars.ts';
import { oneOf, optional, struct } from '../codecs/struct.ts';
import * as records from '../records/contacts/contacts.ts';
import { getContact } from '../records/contacts/contacts.ts';
import { endpoint } from './frame/endpoint.ts';
import { cutPage, oneCursorPage } from './frame/envelope.ts';

const tag = 'Contacts';
const params = struct({ id: idOf('Contact') });
const Cursor = cursorOf(struct({ id: Uuid }));
const query = optional({ cursor: Cursor, limit: limitUpTo(1000) });

const Consent = named(
  'Consent',
  struct({
    subscribed: describe(t.boolean, { description: 'False for an opt-out, true for an opt-in.' }),
    source: describe(oneOf(['person', 'api'], 'ConsentSource'), {
      description:
        'Origin of the decision: `person` by a message or a setting in the app, `api` by a request.',
    }),
    at: describe(IsoDateTime, { description: 'Time of the opt-out or opt-in.' }),
  }),
);

export const listContactConsents = endpoint(
  {
    method: 'GET',
    path: '/api/contacts/:id/consents',
    operationId: 'listContactConsents',
    summary: 'List the opt-outs and opt-ins of a contact',
    description: 'Newest first.',
    tag,
    access: 'workspace',
    params,
    query,
    responses: {
      200: oneCursorPage('One page of opt-outs and opt-ins', Consent, {
        subscribed: false,
        source: 'person',
        at: '2026-11-21T09:00:00.000Z',
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, query: asked }) => {
    const limit = asked.limit ?? 100;
    await getContact(database, workspaceId, id);
    const person = { workspaceId, contactId: id };
    const found = await records.listConsents(database, person, { after: asked.cursor?.id, limit });
    const how = {
      cursor: (one: records.Consent) => Cursor.encode({ id: one.id }),
      present: ({ subscribed, source, at }: records.Consent) => ({ subscribed, source, at }),
    };
    return { status: 200, body: cutPage(found, limit, how) };
  },
);
