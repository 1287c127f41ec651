/** The recipients of a campaign by position: filtered, paged by keyset, or streamed page by page. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import { type RecipientState, recipientStates } from '../../domain/campaigns/recipient.ts';
import { notFound } from '../../domain/error.ts';
import { MessageFields, messageFields } from '../contacts/contacts.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';

const RecipientReport = t.type({
  position: t.number,
  id: t.string,
  phone_number: nullable(t.string),
  contact_id: nullable(t.string),
  state: oneOf(recipientStates),
  reason: nullable(t.string),
  reason_detail: nullable(t.string),
  line_number: nullable(t.number),
  provider_message_id: nullable(t.string),
  updated_at: timestamp,
});
export type RecipientReport = t.TypeOf<typeof RecipientReport>;

export interface RecipientFilter {
  readonly campaignId: string;
  /** Empty: every state. */
  readonly states: readonly RecipientState[];
  readonly reasons: readonly string[];
  /** E.164 digits: recipients with one of these numbers. */
  readonly phoneNumbers?: readonly string[] | undefined;
  readonly afterPosition: number;
  readonly limit: number;
}

// States that always have a reason: a filter by them uses the partial index on reasons.
const reasonedStates: readonly RecipientState[] = ['FAILED', 'UNKNOWN', 'SKIPPED'];

// How many positions one query for a rare state scans; without this bound Postgres would read the recipients of every campaign.
// A page runs several such queries, and the next page continues after them.
const window = 20_000;
const windowsOfPage = 5;

const Counted = row(t.type({ all: t.number, wanted: t.number }));

export interface RecipientPage {
  readonly recipients: readonly RecipientReport[];
  /** The position after which the next page begins; null at the end. */
  readonly nextPosition: number | null;
}

/** In order of position. A page that is filtered by a rare state may hold fewer recipients than its limit, or none. */
export async function listRecipients(
  connection: Connection,
  filter: RecipientFilter,
): Promise<RecipientPage> {
  const { campaignId, states, reasons, phoneNumbers, afterPosition, limit } = filter;
  const isReasoned = states.every((state) => reasonedStates.includes(state));
  // The one row beyond the limit tells whether there is a next page.
  const most = limit + 1;
  if (states.length === 0 || reasons.length > 0 || phoneNumbers !== undefined || isReasoned)
    return pageOf(await listWithin(connection, { ...filter, limit: most }, undefined), limit);
  const { all, wanted } = await countRecipients(connection, campaignId, states);
  const found: RecipientReport[] = [];
  let after = afterPosition;
  const end = wanted === 0 ? 0 : Math.min(all, afterPosition + window * windowsOfPage);
  for (; after < end && found.length < Math.min(most, wanted); after += window) {
    const within = { ...filter, afterPosition: after, limit: most - found.length };
    found.push(...(await listWithin(connection, within, after + window)));
  }
  if (found.length > limit || found.length === wanted || after >= all || wanted === 0)
    return pageOf(found, limit);
  return { recipients: found, nextPosition: after };
}

function pageOf(found: readonly RecipientReport[], limit: number): RecipientPage {
  const recipients = found.slice(0, limit);
  return { recipients, nextPosition: found.length > limit ? (recipients.at(-1)?.position ?? null) : null };
}

/** Number of the campaign's recipients: all of them, and those in the given states. */
async function countRecipients(
  connection: Connection,
  campaignId: string,
  states: readonly RecipientState[],
) {
  const counted = await connection.maybeOne(sql.type(Counted)`
    SELECT sum(value::int)::int4 AS all,
      coalesce(sum(value::int) FILTER (WHERE upper(key) = ANY (${sql.array(states, 'text')})), 0)::int4 AS wanted
    FROM campaign_counter, jsonb_each_text(to_jsonb(campaign_counter) - 'campaign_id' - 'claimed_position' - 'charged')
    WHERE campaign_id = ${campaignId} GROUP BY campaign_id`);
  return counted ?? { all: 0, wanted: 0 };
}

async function listWithin(
  connection: Connection,
  { campaignId, states, reasons, phoneNumbers, afterPosition, limit }: RecipientFilter,
  upTo: number | undefined,
): Promise<readonly RecipientReport[]> {
  const conditions = [sql.fragment`campaign_id = ${campaignId} AND position > ${afterPosition}`];
  if (upTo !== undefined) conditions.push(sql.fragment`position <= ${upTo}`);
  if (states.length > 0) conditions.push(sql.fragment`state = ANY (${sql.array(states, 'text')})`);
  if (reasons.length > 0) conditions.push(sql.fragment`reason = ANY (${sql.array(reasons, 'text')})`);
  const reasoned =
    reasons.length > 0 || (states.length > 0 && states.every((state) => reasonedStates.includes(state)));
  if (reasoned) conditions.push(sql.fragment`reason IS NOT NULL`);
  const condition = sql.join(conditions, sql.fragment` AND `);
  const source =
    phoneNumbers === undefined
      ? sql.fragment`recipient WHERE ${condition}`
      : // Two indexes hold the numbers: one of recipients that can be sent to, one of skipped recipients.
        sql.fragment`unnest(${sql.array(phoneNumbers, 'text')}) AS wanted (number)
          CROSS JOIN LATERAL (
            SELECT * FROM recipient WHERE ${condition} AND sendable AND phone_number = wanted.number
            UNION ALL
            SELECT * FROM recipient WHERE ${condition} AND NOT sendable AND phone_number = wanted.number
          ) AS recipient`;
  return connection.any(sql.type(row(RecipientReport))`
    SELECT position, id, phone_number, contact_id, state, reason, reason_detail, line_number, provider_message_id,
      updated_at
    FROM ${source}
    ORDER BY position LIMIT ${limit}`);
}

const RecipientDetail = t.type({
  ...RecipientReport.props,
  variables: nullable(t.array(t.string)),
  statuses_seen: t.number,
  accepted_at: nullable(timestamp),
  sent_at: nullable(timestamp),
  delivered_at: nullable(timestamp),
  read_at: nullable(timestamp),
  message_plan: nullable(t.unknown),
  components: t.readonlyArray(t.unknown),
  parameter_format: t.string,
  category: t.string,
});
export type RecipientDetail = t.TypeOf<typeof RecipientDetail>;

/** One recipient with what its message is made of. Throws NotFound. */
export async function getRecipient(
  connection: Connection,
  campaignId: string,
  recipientId: string,
): Promise<RecipientDetail> {
  const found = await connection.maybeOne(sql.type(row(RecipientDetail))`
    SELECT position, recipient.id, phone_number, contact_id, state, reason, reason_detail, line_number,
      provider_message_id, recipient.updated_at, variables, statuses_seen, accepted_at, sent_at, delivered_at, read_at,
      message_plan, components, parameter_format, category
    FROM recipient
    JOIN campaign ON campaign.id = recipient.campaign_id
    JOIN template ON template.id = campaign.template_id
    WHERE recipient.campaign_id = ${campaignId} AND recipient.id = ${recipientId}`);
  return found ?? notFound('Recipient');
}

// Parts of a test message of a campaign.

const CampaignSample = t.type({
  channel_id: t.string,
  template_id: t.string,
  message_plan: nullable(t.unknown),
  /** The frozen values of the campaign's first recipient; null before it is prepared. */
  variables: nullable(t.array(t.string)),
  /** Present fields of that recipient's contact; null without one. */
  contact: nullable(MessageFields),
});
export type CampaignSample = t.TypeOf<typeof CampaignSample>;

/** Throws NotFound, also for a campaign of another workspace. */
export async function getCampaignSample(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<CampaignSample> {
  const found = await connection.maybeOne(sql.type(row(CampaignSample))`
    SELECT channel_id, template_id, message_plan, variables, contact
    FROM campaign LEFT JOIN LATERAL (
      SELECT COALESCE(recipient.variables, '{}') AS variables,
        CASE WHEN contact.id IS NOT NULL THEN ${messageFields(sql.fragment`contact.custom_fields`)} END AS contact
      FROM recipient LEFT JOIN contact
        ON contact.workspace_id = campaign.workspace_id AND contact.id = recipient.contact_id AND contact.erased_at IS NULL
      WHERE recipient.campaign_id = campaign.id AND recipient.sendable ORDER BY recipient.position LIMIT 1
    ) AS first ON true
    WHERE campaign.workspace_id = ${workspaceId} AND campaign.id = ${campaignId}`);
  return found ?? notFound('Campaign');
}
