/** GET /api/campaigns/:id/recipients: by state and reason, by cursor, or all of it streamed as CSV. */
import * as t from 'io-ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { AskedReason, MessagePreview, messagePreviewExample, RecipientReason } from '../../codecs/message.ts';
import {
  Digits,
  cursorOf,
  idOf,
  Integer,
  integerOf,
  IsoDateTime,
  limitUpTo,
  repeated,
  textOf,
  Uuid,
} from '../../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../../codecs/struct.ts';
import { recipientStates, statusBits } from '../../domain/campaigns/recipient.ts';
import { possibleNumbers } from '../../domain/contacts/search.ts';
import { compileRenderer, type MessagePlan } from '../../domain/templates/plan.ts';
import { previewMessage } from '../../domain/templates/preview.ts';
import { Conflict } from '../../domain/error.ts';
import { getCampaign } from '../../records/campaigns/campaigns.ts';
import {
  getRecipient,
  listRecipients,
  type RecipientDetail as RecipientDetailRow,
  type RecipientFilter,
  type RecipientReport as RecipientRow,
} from '../../records/campaigns/recipient-report.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, cursorPage, cursorPageOf, succeed } from '../frame/envelope.ts';

const recipientFields = {
  id: Uuid,
  phone_number: nullish(Digits),
  contact_id: nullish(Uuid),
  state: oneOf(recipientStates, 'RecipientState'),
  reason: nullish(RecipientReason),
  reason_detail: nullish(t.string),
  line_number: nullish(Integer),
  message_id: nullish(Uuid),
  provider_message_id: nullish(t.string),
  updated_at: IsoDateTime,
};
const Recipient = named('Recipient', struct(recipientFields));
type Recipient = t.TypeOf<typeof Recipient>;

const messageStatuses = ['accepted', 'sent', 'delivered', 'read', 'failed'] as const;

const RecipientDetail = named(
  'RecipientDetail',
  struct({
    ...recipientFields,
    message: describe(nullish(MessagePreview), {
      description: 'Message that was or will be sent; null before preparation and for skipped recipients.',
    }),
    history: describe(
      t.readonlyArray(
        named('RecipientStatusTime', struct({ status: oneOf(messageStatuses), at: nullish(IsoDateTime) })),
      ),
      {
        description: 'Each status with the time it was first reported.',
      },
    ),
  }),
);

const recipientExample = {
  id: '0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d11',
  phone_number: '919876543210',
  contact_id: '0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d12',
  state: 'FAILED',
  reason: 'PROVIDER_131026',
  reason_detail: 'Message undeliverable',
  line_number: 17,
  message_id: '0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d11',
  provider_message_id: 'wamid.HBgMOTE5ODc2NTQzMjEw',
  updated_at: '2026-11-21T09:00:07.120Z',
};

// The position of a recipient, an int4 in Postgres.
const Cursor = cursorOf(integerOf({ min: 0, max: 2_147_483_647 }));
const defaultLimit = 100;

export const listCampaignRecipients = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id/recipients',
    operationId: 'listCampaignRecipients',
    summary: 'List the recipients of a campaign, or export them as CSV',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ id: idOf('Campaign') }),
    query: optional({
      state: repeated(oneOf(recipientStates, 'RecipientState')),
      reason: repeated(AskedReason),
      phone_number: describe(textOf({ max: 255 }), {
        description: 'Phone number in any spelling, in international or national form.',
      }),
      cursor: Cursor,
      limit: limitUpTo(1000),
      format: describe(oneOf(['csv'], 'RecipientFormat'), {
        description: '`csv` returns a CSV file, as `Accept: text/csv` does; useful for links.',
      }),
    }),
    responses: {
      200: {
        description: 'Recipients in order of sending',
        body: cursorPageOf(Recipient),
        content: { 'text/csv': { type: 'string' } },
        example: {
          status: 'success',
          data: [recipientExample],
          pagination: { limit: 100, nextCursor: null },
        },
      },
    },
    errors: [409],
  },
  async ({ dependencies, principal, params, query, request }) => {
    const { database } = dependencies;
    const { archived_at: deletedAt } = await getCampaign(database, principal.workspaceId, params.id);
    if (deletedAt !== null)
      throw new Conflict('The recipients of this campaign were deleted after the retention period');
    const limit = query.limit ?? defaultLimit;
    const filter: RecipientFilter = {
      campaignId: params.id,
      states: query.state ?? [],
      reasons: query.reason ?? [],
      phoneNumbers: query.phone_number === undefined ? undefined : possibleNumbers(query.phone_number),
      afterPosition: query.cursor ?? 0,
      limit,
    };
    const accept = request.header('accept') ?? '';
    // Generated clients accept every media type of the document, but read JSON only.
    const asCsv =
      query.format === 'csv' || (accept.includes('text/csv') && !accept.includes('application/json'));
    if (asCsv) {
      const { workspaceId } = principal;
      await insertAuditEntry(database, { workspaceId, action: 'campaign.export', objectId: params.id });
      return {
        status: 200,
        content: dependencies.recipientExport.read(workspaceId, filter, request.isStillAllowed),
        contentType: 'text/csv; charset=utf-8',
        headers: { 'content-disposition': `attachment; filename="recipients-${params.id}.csv"` },
      };
    }
    const { recipients, nextPosition } = await listRecipients(database, filter);
    const nextCursor = nextPosition === null ? null : Cursor.encode(nextPosition);
    return { status: 200, body: cursorPage(recipients.map(presentRecipient), { limit, nextCursor }) };
  },
);

export const getCampaignRecipient = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id/recipients/:recipientId',
    operationId: 'getCampaignRecipient',
    summary: 'Read a recipient with its message and history',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ id: idOf('Campaign'), recipientId: idOf('Recipient') }),
    responses: {
      200: answer('The recipient', RecipientDetail, {
        ...recipientExample,
        message: messagePreviewExample,
        history: [
          { status: 'accepted', at: '2026-11-21T09:00:05.020Z' },
          { status: 'failed', at: '2026-11-21T09:00:07.120Z' },
        ],
      }),
    },
  },
  async ({ dependencies: { database }, principal: { workspaceId }, params: { id, recipientId } }) => {
    await getCampaign(database, workspaceId, id);
    const row = await getRecipient(database, id, recipientId);
    return {
      status: 200,
      body: succeed({ ...presentRecipient(row), message: messageOf(row), history: historyOf(row) }),
    };
  },
);

function messageOf(row: RecipientDetailRow) {
  const { message_plan: plan, variables, components, parameter_format: parameterFormat, category } = row;
  if (plan === null || row.state === 'SKIPPED') return null;
  const sent = compileRenderer(plan as MessagePlan)(variables ?? []);
  return previewMessage({ components, parameterFormat, category }, sent);
}

function historyOf(row: RecipientDetailRow) {
  const { sent, delivered, read, failed } = statusBits;
  const seen = (bit: number) => (row.statuses_seen & bit) !== 0;
  const isAccepted = row.provider_message_id !== null || (row.statuses_seen & ~failed) > 0;
  return [
    ...(isAccepted ? [{ status: 'accepted', at: row.accepted_at } as const] : []),
    ...(seen(sent) ? [{ status: 'sent', at: row.sent_at } as const] : []),
    ...(seen(delivered) ? [{ status: 'delivered', at: row.delivered_at } as const] : []),
    ...(seen(read) ? [{ status: 'read', at: row.read_at } as const] : []),
    ...(row.state === 'FAILED' ? [{ status: 'failed', at: row.updated_at } as const] : []),
  ];
}

function presentRecipient(row: RecipientRow): Recipient {
  // The recipient's id is the message's: a skipped or cancelled one never became a message.
  const messageless = row.state === 'SKIPPED' || row.state === 'PENDING' || row.state === 'CANCELLED';
  return {
    id: row.id,
    phone_number: row.phone_number,
    contact_id: row.contact_id,
    state: row.state,
    reason: row.reason,
    reason_detail: row.reason_detail,
    line_number: row.line_number,
    message_id: messageless ? null : row.id,
    provider_message_id: row.provider_message_id,
    updated_at: row.updated_at,
  };
}
