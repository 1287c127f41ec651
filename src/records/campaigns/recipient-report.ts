/** The recipients of a campaign by position: filtered, paged by keyset, or streamed page by page. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { recipientStates, type RecipientState } from '../../domain/campaigns/recipient.ts';
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
  readonly afterPosition: number;
  readonly limit: number;
}

// States that always come with a reason: asked for alone, the partial index on reasons finds them.
const reasonedStates: readonly RecipientState[] = ['FAILED', 'UNKNOWN', 'SKIPPED'];

/** In order of position. */
export async function listRecipients(
  connection: Connection,
  { campaignId, states, reasons, afterPosition, limit }: RecipientFilter,
): Promise<readonly RecipientReport[]> {
  const conditions = [sql.fragment`campaign_id = ${campaignId} AND position > ${afterPosition}`];
  if (states.length > 0) conditions.push(sql.fragment`state = ANY (${sql.array(states, 'text')})`);
  if (reasons.length > 0) conditions.push(sql.fragment`reason = ANY (${sql.array(reasons, 'text')})`);
  const reasoned =
    reasons.length > 0 || (states.length > 0 && states.every((state) => reasonedStates.includes(state)));
  if (reasoned) conditions.push(sql.fragment`reason IS NOT NULL`);
  return connection.any(sql.type(row(RecipientReport))`
    SELECT position, id, phone_number, contact_id, state, reason, reason_detail, line_number, provider_message_id,
      updated_at
    FROM recipient
    WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY position LIMIT ${limit}`);
}
