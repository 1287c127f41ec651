/** Endpoints for the workspace as a whole: overview, notices, sending window, audit. */
import * as t from 'io-ts';
import { DefaultCountry as Country } from '../codecs/campaign-audience.ts';
import { FrequencyCap, NewFrequencyCap } from '../codecs/frequency-cap.ts';
import { describe, named } from '../codecs/json-schema.ts';
import { cursorOf, IsoDateTime, limitUpTo, textOf, Uuid } from '../codecs/scalars.ts';
import { SendingWindow, sendingWindowExample } from '../codecs/sending-window.ts';
import { nullish, oneOf, optional, struct } from '../codecs/struct.ts';
import { SerialCursor, serialCursor } from '../codecs/wallet.ts';
import { deliverWorkflowOutboxes } from '../commands/campaigns/deliver-workflow-outbox.ts';
import { setSendingWindow } from '../commands/workspaces/workspaces.ts';
import type { Dependencies } from '../dependencies.ts';
import { auditObjects } from '../domain/operations/audit.ts';
import { failureBrakeSettings } from '../domain/sending/failure-brake.ts';
import { noticeKinds, noticeSubjectTypes } from '../domain/operations/notice.ts';
import { insertAuditEntry, listAuditEntries } from '../records/operations/audit.ts';
import { listNotices, markNoticesRead, type Notice as NoticeRow } from '../records/operations/notices.ts';
import {
  getFrequencyCap,
  getWorkspaceBrake,
  getWorkspaceCountry,
  getWorkspaceWindow,
  saveFrequencyCap,
  saveWorkspaceBrake,
  saveWorkspaceCountry,
} from '../records/workspaces/workspaces.ts';
import { endpoint } from './frame/endpoint.ts';
import {
  acknowledge,
  acknowledgement,
  answer,
  answerWith,
  cutPage,
  oneCursorPage,
  succeed,
  succeedWith,
} from './frame/envelope.ts';

// Notices for the users of a workspace.

const Notice = named(
  'Notice',
  struct({
    id: Uuid,
    kind: describe(oneOf(noticeKinds, 'NoticeKind'), { description: 'Kind of the notice.' }),
    subject: describe(
      named(
        'NoticeSubject',
        struct({
          type: oneOf(noticeSubjectTypes, 'NoticeSubjectType'),
          id: t.string,
          name: describe(t.string, { description: 'Name of the subject at the time of the notice.' }),
        }),
      ),
      { description: 'Record that the notice is about.' },
    ),
    message: describe(t.string, { description: 'Text for people.' }),
    createdAt: IsoDateTime,
    readAt: describe(nullish(IsoDateTime), {
      description: 'Time at which the notice was marked as read; null while unread.',
    }),
  }),
);

const example = {
  id: '0197c0de-0000-7000-8000-0000000000e1',
  kind: 'campaign_paused',
  subject: { type: 'campaign', id: '0197c0de-0000-7000-8000-0000000000f1', name: 'Winter sale' },
  message:
    'The campaign was paused. The wallet of the channel does not cover the next message. Recharge the wallet, then start the campaign.',
  createdAt: '2026-11-21T09:00:00.000Z',
  readAt: null,
};

const NoticeCursor = cursorOf(struct({ id: Uuid }));

const presentNotice = ({ subjectType, subjectId, subjectName, ...notice }: NoticeRow) => ({
  ...notice,
  subject: { type: subjectType, id: subjectId, name: subjectName },
});

export const listNoticesEndpoint = endpoint(
  {
    method: 'GET',
    path: '/api/notices',
    operationId: 'listNotices',
    summary: 'List the notices of the workspace',
    description:
      'Newest first: template changes, blocked channels, quality and limit changes, disabled webhooks, paused and failed campaigns. Kept for 90 days.',
    tag: 'Operations',
    access: 'workspace',
    query: optional({
      cursor: NoticeCursor,
      limit: limitUpTo(1000),
      unread: describe(oneOf(['true', 'false']), {
        description: '`true` lists unread notices only; default all.',
      }),
      kind: describe(oneOf(noticeKinds, 'NoticeKind'), { description: 'Notices of one kind only.' }),
      from: describe(IsoDateTime, { description: 'Notices at this time or later only.' }),
      to: describe(IsoDateTime, { description: 'Notices before this time only.' }),
    }),
    responses: { 200: oneCursorPage('One page of notices', Notice, example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, query }) => {
    const limit = query.limit ?? 100;
    const found = await listNotices(database, workspaceId, {
      unread: query.unread === 'true',
      kind: query.kind,
      from: query.from,
      to: query.to,
      before: query.cursor?.id,
      limit: limit + 1,
    });
    const cursor = ({ id }: NoticeRow) => NoticeCursor.encode({ id });
    return { status: 200, body: cutPage(found, limit, { cursor, present: presentNotice }) };
  },
);

export const readNotices = endpoint(
  {
    method: 'POST',
    path: '/api/notices/read',
    operationId: 'readNotices',
    summary: 'Mark notices as read',
    description: 'Marks every notice created at `until` or earlier, for all keys of the workspace.',
    tag: 'Operations',
    access: 'workspace',
    body: named(
      'ReadNotices',
      struct({
        until: describe(IsoDateTime, { description: '`createdAt` of the newest notice that was read.' }),
      }),
    ),
    bodyExample: { until: '2026-11-21T09:00:00.000Z' },
    responses: { 200: acknowledgement('Marked as read', 'Notices marked as read') },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, body }) => {
    await markNoticesRead(database, workspaceId, body.until);
    return { status: 200, body: acknowledge('Notices marked as read') };
  },
);

// The sending window of a workspace: quiet hours for MARKETING templates.

const path = '/api/workspace/sending-window';

const saved = 'Sending window saved successfully';
const removed = 'Sending window removed successfully';

export const getSendingWindow = endpoint(
  {
    method: 'GET',
    path,
    operationId: 'getSendingWindow',
    summary: 'Read the sending window of the workspace',
    description:
      'Applies to campaigns with MARKETING templates. `data` is null if they may send at any time.',
    tag: 'Workspace',
    access: 'workspace',
    responses: { 200: answer('The window', nullish(SendingWindow), sendingWindowExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed(await getWorkspaceWindow(database, workspaceId)),
  }),
);

export const putSendingWindow = endpoint(
  {
    method: 'PUT',
    path,
    operationId: 'putSendingWindow',
    summary: 'Set the sending window of the workspace',
    description:
      'Needs an operator’s key. Applies to campaigns with MARKETING templates, running ones included. A campaign’s own window narrows it further.',
    tag: 'Workspace',
    access: 'operator',
    body: SendingWindow,
    bodyExample: sendingWindowExample,
    responses: { 200: answerWith('Window after the change', saved, SendingWindow, sendingWindowExample) },
  },
  async ({ dependencies, principal: { workspaceId }, body }) => {
    await apply(dependencies, workspaceId, body);
    return { status: 200, body: succeedWith(saved, body) };
  },
);

export const deleteSendingWindow = endpoint(
  {
    method: 'DELETE',
    path,
    operationId: 'deleteSendingWindow',
    summary: 'Remove the sending window of the workspace',
    description: 'Needs an operator’s key. Campaigns keep their own windows.',
    tag: 'Workspace',
    access: 'operator',
    responses: { 200: acknowledgement('Removed', removed) },
  },
  async ({ dependencies, principal: { workspaceId } }) => {
    await apply(dependencies, workspaceId, null);
    return { status: 200, body: acknowledge(removed) };
  },
);

async function apply(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>,
  workspaceId: number,
  window: SendingWindow | null,
): Promise<void> {
  const campaignIds = await setSendingWindow(dependencies, workspaceId, window);
  await deliverWorkflowOutboxes(dependencies, campaignIds);
}

// The failure brake of a workspace.

const FailureBrake = named(
  'FailureBrake',
  struct({
    failure_brake: describe(oneOf(failureBrakeSettings, 'FailureBrakeSetting'), {
      description:
        'off: campaigns neither pause because their messages fail nor wait for their first statuses. default: as the rules of `pause_evidence` say. strict: with half of their numbers.',
    }),
  }),
);
const brakePath = '/api/workspace/failure-brake';
const brakeSaved = 'Failure brake saved successfully';
const brakeExample = { failure_brake: 'default' };

export const getFailureBrake = endpoint(
  {
    method: 'GET',
    path: brakePath,
    operationId: 'getFailureBrake',
    summary: 'Read how soon campaigns of the workspace pause because their messages fail',
    tag: 'Workspace',
    access: 'workspace',
    responses: { 200: answer('The setting', FailureBrake, brakeExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed({ failure_brake: await getWorkspaceBrake(database, workspaceId) }),
  }),
);

export const putFailureBrake = endpoint(
  {
    method: 'PUT',
    path: brakePath,
    operationId: 'putFailureBrake',
    summary: 'Set how soon campaigns of the workspace pause because their messages fail',
    description: 'Needs an operator’s key. Applies to running campaigns from their next outcome on.',
    tag: 'Workspace',
    access: 'operator',
    body: FailureBrake,
    bodyExample: brakeExample,
    responses: { 200: answerWith('Setting after the change', brakeSaved, FailureBrake, brakeExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, body }) => {
    await database.transaction(async (transaction) => {
      await saveWorkspaceBrake(transaction, workspaceId, body.failure_brake);
      const details = { after: body.failure_brake };
      const objectId = String(workspaceId);
      await insertAuditEntry(transaction, {
        workspaceId,
        action: 'workspace.failure-brake',
        objectId,
        details,
      });
    });
    return { status: 200, body: succeedWith(brakeSaved, body) };
  },
);

// The frequency cap of a workspace.

const capPath = '/api/workspace/frequency-cap';
const capSaved = 'Frequency cap saved successfully';
const capExample = { messages: 2, days: 7, categories: ['MARKETING'] };

export const getFrequencyCapEndpoint = endpoint(
  {
    method: 'GET',
    path: capPath,
    operationId: 'getFrequencyCap',
    summary: 'Read how many messages a contact gets at most',
    description: '`data` is null if there is no limit.',
    tag: 'Workspace',
    access: 'workspace',
    responses: { 200: answer('The cap', nullish(FrequencyCap), capExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed(await getFrequencyCap(database, workspaceId)),
  }),
);

export const putFrequencyCap = endpoint(
  {
    method: 'PUT',
    path: capPath,
    operationId: 'putFrequencyCap',
    summary: 'Set how many messages a contact gets at most',
    description:
      'Needs an operator’s key; null, or an object whose fields are null, removes the cap. Counts messages of campaigns and single messages that were not refused and did not fail. A campaign skips a contact that has got as many, with FREQUENCY_CAP and free of charge: when the audience is prepared (unless the campaign is SCHEDULED), and again when its turn comes. Single messages are always sent. A running campaign follows a change within a minute.',
    tag: 'Workspace',
    access: 'operator',
    body: NewFrequencyCap,
    bodyMayBeNull: true,
    bodyExample: capExample,
    responses: { 200: answerWith('Cap after the change', capSaved, nullish(FrequencyCap), capExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, body }) => {
    await database.transaction(async (transaction) => {
      await saveFrequencyCap(transaction, workspaceId, body);
      await insertAuditEntry(transaction, {
        workspaceId,
        action: 'workspace.frequency-cap',
        objectId: String(workspaceId),
      });
    });
    return { status: 200, body: succeedWith(capSaved, body) };
  },
);

// The country of numbers that name none.

const DefaultCountry = named('DefaultCountry', struct({ default_country: Country }));
const countryPath = '/api/workspace/default-country';
const countrySaved = 'Default country saved successfully';
const countryExample = { default_country: 'DE' };

export const getDefaultCountry = endpoint(
  {
    method: 'GET',
    path: countryPath,
    operationId: 'getDefaultCountry',
    summary: 'Read the country of numbers that name none',
    description: 'Null if such numbers are international.',
    tag: 'Workspace',
    access: 'workspace',
    responses: { 200: answer('The setting', DefaultCountry, countryExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed({ default_country: await getWorkspaceCountry(database, workspaceId) }),
  }),
);

export const putDefaultCountry = endpoint(
  {
    method: 'PUT',
    path: countryPath,
    operationId: 'putDefaultCountry',
    summary: 'Set the country of numbers that name none',
    description:
      'Needs an operator’s key; null removes it. A number’s own `+` or link, its country cell and the request’s `default_country` come first. Applies to CSVs, quick contacts and contacts that are read from then on.',
    tag: 'Workspace',
    access: 'operator',
    body: DefaultCountry,
    bodyExample: countryExample,
    responses: { 200: answerWith('Setting after the change', countrySaved, DefaultCountry, countryExample) },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, body }) => {
    await database.transaction(async (transaction) => {
      await saveWorkspaceCountry(transaction, workspaceId, body.default_country);
      const details = { after: body.default_country ?? null };
      const [objectId, action] = [String(workspaceId), 'workspace.default-country'] as const;
      await insertAuditEntry(transaction, { workspaceId, action, objectId, details });
    });
    return { status: 200, body: succeedWith(countrySaved, body) };
  },
);

// GET /api/audit: the audit log of a workspace.

const AuditEntry = named(
  'AuditEntry',
  struct({
    id: t.string,
    at: IsoDateTime,
    key_id: nullish(t.string),
    command: nullish(t.string),
    action: t.string,
    object_id: t.string,
    object_name: nullish(t.string),
    details: nullish(t.record(t.string, nullish(t.string))),
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
        object_name: 'Spring offer',
        details: null,
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
