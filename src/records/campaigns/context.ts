/** What the creation of a campaign is judged by: the sending channel, the template, the features and the money. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Features } from '../../domain/workspaces/feature.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row } from '../database/row.ts';

export interface ContextQuestion {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly templateId: string;
  /** As `quotaMonth` gives it. */
  readonly month: string;
}

export interface CampaignContext {
  readonly channelIsActive: boolean;
  /** Undefined when the channel's business account has no such template. */
  readonly template: ContextTemplate | undefined;
  readonly features: Features;
  readonly broadcastsUsed: number;
  /** The wallet covers one message to a country without a price of its own. */
  readonly coversOneMessage: boolean;
}

const Template = t.type({
  id: t.string,
  category: t.string,
  status: t.string,
  parameterFormat: t.string,
  components: t.readonlyArray(t.unknown),
  vanished: t.boolean,
});
export type ContextTemplate = t.TypeOf<typeof Template>;

const ContextRow = row(
  t.type({
    ordinal: t.number,
    channelIsActive: t.boolean,
    template: nullable(Template),
    scheduleCampaigns: t.boolean,
    targetedSegments: t.boolean,
    broadcastsPerMonth: nullable(t.number),
    broadcastsUsed: t.number,
    coversOneMessage: t.boolean,
  }),
);

/** In the order of the questions; undefined for a channel that is not of the workspace. */
export async function findCampaignContexts(
  connection: Connection,
  questions: readonly ContextQuestion[],
): Promise<readonly (CampaignContext | undefined)[]> {
  const wanted = questions.map(({ workspaceId, channelId, templateId, month }) => [
    workspaceId,
    channelId,
    templateId,
    month,
  ]);
  const found = await connection.any(sql.prepared('campaign-context', ContextRow)`
    SELECT wanted.ordinal::int4 AS ordinal, channel.status = 'active' AS "channelIsActive",
      CASE WHEN template.id IS NOT NULL THEN jsonb_build_object(
        'id', template.id, 'category', template.category, 'status', template.status,
        'parameterFormat', template.parameter_format, 'components', template.components,
        'vanished', template.vanished_at IS NOT NULL) END AS template,
      feature.schedule_campaigns AS "scheduleCampaigns", feature.targeted_segments AS "targetedSegments",
      feature.broadcasts_per_month AS "broadcastsPerMonth", coalesce(broadcast_usage.used, 0) AS "broadcastsUsed",
      wallet.balance - wallet.reserved >= coalesce((
        SELECT price FROM rate_card
        WHERE rate_card.category = template.category AND country = ''
          AND (rate_card.workspace_id = wanted.workspace_id OR rate_card.workspace_id IS NULL)
        ORDER BY rate_card.workspace_id NULLS LAST LIMIT 1), 0) AS "coversOneMessage"
    FROM ${sql.unnest(wanted, ['int4', 'uuid', 'uuid', 'date'])} WITH ORDINALITY
      AS wanted (workspace_id, channel_id, template_id, month, ordinal)
    JOIN channel ON channel.workspace_id = wanted.workspace_id AND channel.id = wanted.channel_id
    JOIN workspace_feature AS feature ON feature.workspace_id = wanted.workspace_id
    JOIN wallet ON wallet.channel_id = channel.id
    LEFT JOIN template ON template.workspace_id = wanted.workspace_id AND template.id = wanted.template_id
      AND template.business_account_id = channel.business_account_id
    LEFT JOIN broadcast_usage ON broadcast_usage.workspace_id = wanted.workspace_id
      AND broadcast_usage.month = wanted.month`);
  const contexts = new Map(found.map((context) => [context.ordinal, context]));
  return questions.map((_, index) => {
    const context = contexts.get(index + 1);
    if (context === undefined) return undefined;
    const { scheduleCampaigns, targetedSegments, broadcastsPerMonth } = context;
    return {
      channelIsActive: context.channelIsActive,
      template: context.template ?? undefined,
      features: { scheduleCampaigns, targetedSegments, broadcastsPerMonth },
      broadcastsUsed: context.broadcastsUsed,
      coversOneMessage: context.coversOneMessage,
    };
  });
}
