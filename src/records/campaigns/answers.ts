/** What people did within 30 days of a campaign's message: replied, opted out, tapped a button. Counted once per recipient. */
import * as t from 'io-ts';
import { sql } from 'slonik';
import type { Connection } from '../database/database.ts';
import { nothing } from '../database/row.ts';

export interface CampaignAnswer {
  readonly contactId: string;
  readonly channelId: string;
  readonly kind: 'replied' | 'opted_out' | 'button';
  /** The campaign whose message has the button; null: every campaign of the channel that reached the person. */
  readonly campaignId: string | null;
  /** The text of the button; null for the other kinds. */
  readonly text: string | null;
}

/**
 * Adds to the sums of the campaigns that reached the people in the last 30 days. Call it last in a transaction: it locks the sums
 * of several campaigns, in their order.
 */
export async function countAnswers(
  connection: Connection,
  answers: readonly CampaignAnswer[],
): Promise<void> {
  if (answers.length === 0) return;
  const rows = answers.map(({ contactId, channelId, kind, campaignId, text }) => [
    contactId,
    channelId,
    kind,
    campaignId,
    text,
  ]);
  // One lookup per person by contact: as a join Postgres might read all recipients.
  await connection.query(sql.type(nothing)`
    WITH given AS MATERIALIZED (
      SELECT DISTINCT * FROM ${sql.unnest(rows, ['uuid', 'uuid', 'text', 'uuid', 'text'])}
        AS listed (contact_id, channel_id, kind, campaign_id, text)
    ), reached AS MATERIALIZED (
      SELECT recipient.campaign_id, recipient.position, given.kind, given.text, campaign.template_id
      FROM given CROSS JOIN LATERAL (
        SELECT campaign_id, position FROM recipient
        WHERE recipient.contact_id = given.contact_id AND recipient.sendable AND recipient.state <> 'FAILED'
          AND recipient.accepted_at > now() - interval '30 days'
          AND (given.campaign_id IS NULL OR recipient.campaign_id = given.campaign_id)
        OFFSET 0
      ) AS recipient
      CROSS JOIN LATERAL (
        SELECT channel_id, template_id FROM campaign WHERE campaign.id = recipient.campaign_id OFFSET 0) AS campaign
      WHERE campaign.channel_id = given.channel_id
    ), placed AS (
      SELECT campaign_id, position, kind, -1 AS button FROM reached WHERE kind <> 'button'
      UNION
      SELECT campaign_id, position, kind, (
        SELECT min(button.place)::int - 1 FROM template
        CROSS JOIN jsonb_path_query(template.components, '$[*] ? (@.type == "BUTTONS")') AS component
        CROSS JOIN LATERAL jsonb_array_elements(component -> 'buttons') WITH ORDINALITY AS button (value, place)
        WHERE template.id = reached.template_id AND button.value ->> 'text' = reached.text)
      FROM reached WHERE kind = 'button'
    ), marked AS (
      INSERT INTO recipient_answer (campaign_id, position, kind, button)
      SELECT campaign_id, position, kind, button FROM placed WHERE button IS NOT NULL
      ORDER BY campaign_id, position, kind, button
      ON CONFLICT DO NOTHING
      RETURNING campaign_id, kind, button
    )
    INSERT INTO campaign_answer (campaign_id, kind, button, at, count)
    SELECT campaign_id, kind, button, date_trunc('hour', now(), 'UTC'), count(*) FROM marked
    GROUP BY campaign_id, kind, button ORDER BY campaign_id, kind, button
    ON CONFLICT (campaign_id, kind, button, at) DO UPDATE SET count = campaign_answer.count + excluded.count`);
}

export const answerFields = {
  replied: t.number,
  opted_out: t.number,
  buttons: t.array(t.type({ index: t.number, text: t.string, count: t.number })),
};

const sumOf = (kind: 'replied' | 'opted_out') => sql.fragment`
  COALESCE((SELECT sum(count) FROM campaign_answer WHERE campaign_answer.campaign_id = campaign.id AND kind = ${kind}), 0)::int`;

/** Of a query with `campaign` and its `template`. */
export const answerColumns = sql.fragment`
  ${sumOf('replied')} AS replied, ${sumOf('opted_out')} AS opted_out,
  COALESCE((SELECT jsonb_agg(jsonb_build_object('index', button, 'text', COALESCE(jsonb_path_query_first(template.components,
      '$[*] ? (@.type == "BUTTONS").buttons[$place].text', jsonb_build_object('place', button)) #>> '{}', ''), 'count', taps) ORDER BY button)
    FROM (SELECT button, sum(count)::int AS taps FROM campaign_answer
      WHERE campaign_answer.campaign_id = campaign.id AND kind = 'button' GROUP BY button) AS tapped), '[]'::jsonb) AS buttons`;
