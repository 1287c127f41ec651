/** GET /api/campaigns/:id/recipients: by state and reason, by cursor, or all of it streamed as CSV. */
import { named } from '../../codecs/json-schema.ts';
import * as t from 'io-ts';
import {
  cursorOf,
  idOf,
  Integer,
  integerOf,
  IsoDateTime,
  limitUpTo,
  repeated,
  Uuid,
} from '../../codecs/scalars.ts';
import { nullish, oneOf, struct } from '../../codecs/struct.ts';
import { recipientStates } from '../../domain/campaigns/recipient.ts';
import { getCampaignReport } from '../../records/campaigns/report.ts';
import {
  listRecipients,
  type RecipientFilter,
  type RecipientReport as RecipientRow,
} from '../../records/campaigns/recipient-report.ts';
import { endpoint } from '../frame/endpoint.ts';
import { cursorPage, cursorPageOf } from '../frame/envelope.ts';

const Recipient = named(
  'Recipient',
  struct({
    id: Uuid,
    phone_number: nullish(t.string),
    contact_id: nullish(Uuid),
    state: oneOf(recipientStates, 'RecipientState'),
    reason: nullish(t.string),
    reason_detail: nullish(t.string),
    line_number: nullish(Integer),
    message_id: nullish(Uuid),
    provider_message_id: nullish(t.string),
    updated_at: IsoDateTime,
  }),
);
type Recipient = t.TypeOf<typeof Recipient>;

// A position: an int4 of Postgres.
const Cursor = cursorOf(integerOf({ min: 0, max: 2_147_483_647 }));
const defaultLimit = 100;

export const listCampaignRecipients = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id/recipients',
    operationId: 'listCampaignRecipients',
    summary: 'The recipients of a campaign; with `Accept: text/csv` all of them as a file',
    tag: 'Campaigns',
    access: 'workspace',
    params: struct({ id: idOf('Campaign') }),
    query: struct(
      {},
      {
        state: repeated(oneOf(recipientStates, 'RecipientState')),
        reason: repeated(t.string),
        cursor: Cursor,
        limit: limitUpTo(1000),
      },
    ),
    responses: {
      200: {
        description: 'Recipients in order of sending',
        body: cursorPageOf(Recipient),
        content: { 'text/csv': { type: 'string' } },
        example: {
          status: 'success',
          data: [
            {
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
            },
          ],
          pagination: { limit: 100, nextCursor: null },
        },
      },
    },
    errors: [400],
  },
  async ({ dependencies, principal, params, query, request }) => {
    await getCampaignReport(dependencies.database, principal.workspaceId, params.id);
    const limit = query.limit ?? defaultLimit;
    const filter: RecipientFilter = {
      campaignId: params.id,
      states: query.state ?? [],
      reasons: query.reason ?? [],
      afterPosition: query.cursor ?? 0,
      limit,
    };
    if (request.header('accept')?.includes('text/csv')) {
      const content = dependencies.recipientExport.read(principal.workspaceId, filter);
      return {
        status: 200,
        content,
        contentType: 'text/csv; charset=utf-8',
        headers: { 'content-disposition': `attachment; filename="recipients-${params.id}.csv"` },
      };
    }
    const found = await listRecipients(dependencies.database, { ...filter, limit: limit + 1 });
    const shown = found.slice(0, limit);
    const last = found.length > limit ? shown.at(-1) : undefined;
    const nextCursor = last === undefined ? null : Cursor.encode(last.position);
    return { status: 200, body: cursorPage(shown.map(presentRecipient), { limit, nextCursor }) };
  },
);

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
