/** The register of opt-ins and opt-outs, with their evidence, and whether campaigns require one. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { cursorOf, idOf, IsoDateTime, limitUpTo, textOf, Uuid } from '../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import { hashKnownNames } from '../commands/contacts/opted-out-numbers.ts';
import { recordConsent } from '../commands/contacts/record-consent.ts';
import { consentCategories, consentPolicies, consents, maxEvidenceText } from '../domain/contacts/consent.ts';
import { possibleNumbers } from '../domain/contacts/search.ts';
import { Invalid } from '../domain/error.ts';
import {
  type ConsentEntry,
  consentSources,
  listConsents,
  listRegister,
  type RegisterEntry,
} from '../records/contacts/consents.ts';
import { getContact } from '../records/contacts/contacts.ts';
import { insertAuditEntry } from '../records/operations/audit.ts';
import { getConsentPolicy, saveConsentPolicy } from '../records/workspaces/workspaces.ts';
import { csvAnswer, wantsCsv } from './frame/csv.ts';
import { endpoint } from './frame/endpoint.ts';
import {
  answer,
  answerWith,
  cursorPageOf,
  cutPage,
  oneCursorPage,
  succeed,
  succeedWith,
} from './frame/envelope.ts';

const tag = 'Contacts';
const params = struct({ id: idOf('Contact') });

const ConsentCursor = cursorOf(struct({ id: Uuid }));

const ConsentText = textOf({ max: maxEvidenceText });
const Url = textOf({ max: 2048 });
const Language = textOf({ max: 35 });

const consentFields = {
  id: Uuid,
  subscribed: describe(t.boolean, { description: 'False for an opt-out, true for an opt-in.' }),
  category: describe(oneOf(consentCategories, 'ConsentCategory'), {
    description: 'What the decision is about: `ALL` messages, or those of the category `MARKETING`.',
  }),
  consent: describe(oneOf(consents, 'ContactConsent'), {
    description: 'What the contact agrees to receive after the decision.',
  }),
  source: describe(oneOf(consentSources, 'ConsentSource'), {
    description:
      'Origin of the decision: `person` by a message or a setting in the app, `api` by a request, `import` by a file.',
  }),
  text: describe(nullish(t.string), { description: 'What the person saw or wrote; null if unknown.' }),
  url: describe(nullish(t.string), { description: 'Address of the page or form; null if unknown.' }),
  language: describe(nullish(t.string), { description: 'Language of the text; null if unknown.' }),
  recorded_by: describe(nullish(t.string), {
    description: 'Id of the API key that recorded it; null if the provider reported it.',
  }),
  at: describe(IsoDateTime, { description: 'Time of the decision.' }),
};

export const Consent = named('Consent', struct(consentFields));

const RegisteredConsent = named(
  'RegisteredConsent',
  struct({
    ...consentFields,
    contact_id: describe(Uuid, { description: 'Id of the contact.' }),
    phone_number: describe(nullish(t.string), {
      description:
        'Phone number of the contact: digits with country calling code; null without one and after an erasure.',
    }),
  }),
);

export const consentExample = {
  id: '0197c0de-0000-7000-8000-0000000000e1',
  subscribed: true,
  category: 'MARKETING',
  consent: 'all',
  source: 'api',
  text: 'Yes, send me offers by WhatsApp.',
  url: 'https://shop.example.com/signup',
  language: 'en',
  recorded_by: '0197c0de-0000-7000-8000-0000000000f1',
  at: '2026-11-21T09:00:00.000Z',
} as const;

export const recordContactConsent = endpoint(
  {
    method: 'POST',
    path: '/api/contacts/:id/consents',
    operationId: 'recordContactConsent',
    summary: 'Record an opt-in or opt-out of a contact with its evidence',
    description:
      'Always adds an entry to the register, and applies the decision: of two about the same category the later one counts, so an opt-in from before an opt-out is recorded and changes nothing. An opt-in of `MARKETING` does not lift an opt-out from everything; one of `ALL` lifts both.',
    tag,
    access: 'workspace',
    params,
    body: optional({
      subscribed: describe(t.boolean, { description: 'True (default) for an opt-in, false for an opt-out.' }),
      category: describe(oneOf(consentCategories, 'ConsentCategory'), {
        description: 'What the decision is about; default `MARKETING`.',
      }),
      source: describe(oneOf(consentSources, 'ConsentSource'), {
        description: 'Origin of the decision; default `api`.',
      }),
      text: describe(nullish(ConsentText), { description: 'What the person saw or wrote; null if unknown.' }),
      url: describe(nullish(Url), { description: 'Address of the page or form; null if unknown.' }),
      language: describe(nullish(Language), {
        description: 'Language of the text, such as `en`; null if unknown.',
      }),
      at: describe(nullish(IsoDateTime), {
        description: 'Time of the decision; now if it is null or absent.',
      }),
    }),
    bodyExample: {
      subscribed: true,
      category: 'MARKETING',
      text: consentExample.text,
      url: consentExample.url,
      language: 'en',
      at: consentExample.at,
    },
    responses: {
      201: answerWith('The entry of the register', 'Consent recorded successfully', Consent, consentExample),
    },
  },
  async ({ dependencies, principal: { workspaceId, keyId }, params: { id }, body }) => {
    const { subscribed = true, category = 'MARKETING', source = 'api', at = null } = body;
    if (at !== null && at > dependencies.now()) throw Invalid.at('at', 'at must not lie in the future');
    const { text = null, url = null, language = null } = body;
    const entry = await recordConsent(dependencies, {
      workspaceId,
      contactId: id,
      decision: { category, allows: subscribed },
      source,
      at,
      evidence: { text, url, language, recordedBy: keyId },
    });
    return { status: 201, body: succeedWith('Consent recorded successfully', entry) };
  },
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
    query: optional({ cursor: ConsentCursor, limit: limitUpTo(1000) }),
    responses: {
      200: oneCursorPage('One page of opt-outs and opt-ins', Consent, consentExample),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id }, query: asked }) => {
    const limit = asked.limit ?? 100;
    await getContact(database, workspaceId, id);
    const person = { workspaceId, contactId: id };
    const found = await listConsents(database, person, { after: asked.cursor?.id, limit });
    const how = {
      cursor: (one: ConsentEntry) => ConsentCursor.encode({ id: one.id }),
      present: (one: ConsentEntry) => one,
    };
    return { status: 200, body: cutPage(found, limit, how) };
  },
);

const csvColumns = [
  'id',
  'contact_id',
  'phone_number',
  'subscribed',
  'category',
  'consent',
  'source',
  'text',
  'url',
  'language',
  'recorded_by',
  'at',
] as const;

export const listConsentRegister = endpoint(
  {
    method: 'GET',
    path: '/api/consents',
    operationId: 'listConsents',
    summary: 'List the register of opt-ins and opt-outs',
    description:
      'Newest first: of the whole workspace, or of the person with `phone_number`, also if the person was erased since. `Accept: text/csv` or `format=csv` returns all of it as CSV.',
    tag,
    access: 'workspace',
    query: optional({
      phone_number: describe(textOf({ max: 255 }), {
        description: 'Phone number in international or national form.',
      }),
      cursor: ConsentCursor,
      limit: limitUpTo(1000),
      format: describe(oneOf(['csv'], 'ConsentFormat'), {
        description: '`csv` returns a CSV file, as `Accept: text/csv` does; useful for links.',
      }),
    }),
    responses: {
      200: {
        description: 'Entries of the register',
        body: cursorPageOf(RegisteredConsent),
        content: { 'text/csv': { type: 'string' } },
        example: {
          status: 'success',
          data: [
            {
              ...consentExample,
              contact_id: '0197c0de-0000-7000-8000-0000000000c1',
              phone_number: '4915112345678',
            },
          ],
          pagination: { limit: 100, nextCursor: null },
        },
      },
    },
  },
  async ({ dependencies, principal: { workspaceId }, query: asked, request }) => {
    const { database } = dependencies;
    const numbers = asked.phone_number === undefined ? undefined : possibleNumbers(asked.phone_number);
    const person =
      numbers === undefined
        ? undefined
        : { numbers, hashes: await hashKnownNames(dependencies, database, workspaceId, numbers) };
    const list = (after: string | undefined, limit: number) =>
      listRegister(database, { workspaceId, person }, { after, limit });
    if (asked.format === 'csv' || wantsCsv(request)) {
      await insertAuditEntry(database, {
        workspaceId,
        action: 'consent.export',
        objectId: String(workspaceId),
      });
      return {
        status: 200,
        ...csvAnswer('consents.csv', csvColumns, {
          list: (after: RegisterEntry | undefined, limit) => list(after?.id, limit),
          isStillAllowed: request.isStillAllowed,
        }),
      };
    }
    const limit = asked.limit ?? 100;
    const found = await list(asked.cursor?.id, limit);
    const how = {
      cursor: (one: RegisterEntry) => ConsentCursor.encode({ id: one.id }),
      present: (one: RegisterEntry) => one,
    };
    return { status: 200, body: cutPage(found, limit, how) };
  },
);

// Whether campaigns of a workspace need recorded consent.

const Policy = named(
  'ConsentPolicy',
  struct({
    require_consent: describe(oneOf(consentPolicies, 'RequireConsent'), {
      description:
        'Which campaigns to a CSV skip people who are no contacts, with NO_CONSENT. off: none; such people become contacts who agree to everything. marketing: those of category MARKETING. all: all.',
    }),
  }),
);
const policyPath = '/api/workspace/consent-policy';
const policySaved = 'Consent policy saved successfully';
const policyExample = { require_consent: 'marketing' };

export const getConsentPolicyEndpoint = endpoint(
  {
    method: 'GET',
    path: policyPath,
    operationId: 'getConsentPolicy',
    summary: 'Read which campaigns skip people without recorded consent',
    tag: 'Workspace',
    access: 'workspace',
    responses: { 200: answer('The setting', Policy, policyExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed({ require_consent: await getConsentPolicy(database, workspaceId) }),
  }),
);

export const putConsentPolicy = endpoint(
  {
    method: 'PUT',
    path: policyPath,
    operationId: 'putConsentPolicy',
    summary: 'Set which campaigns skip people without recorded consent',
    description:
      'Needs an operator’s key. Applies to campaigns whose preparation begins afterwards. Import people with their consent before you write to them: `POST /api/contacts/imports`.',
    tag: 'Workspace',
    access: 'operator',
    body: Policy,
    bodyExample: policyExample,
    responses: { 200: answerWith('Setting after the change', policySaved, Policy, policyExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, body }) => {
    await database.transaction(async (transaction) => {
      await saveConsentPolicy(transaction, workspaceId, body.require_consent);
      await insertAuditEntry(transaction, {
        workspaceId,
        action: 'workspace.consent-policy',
        objectId: String(workspaceId),
      });
    });
    return { status: 200, body: succeedWith(policySaved, body) };
  },
);
