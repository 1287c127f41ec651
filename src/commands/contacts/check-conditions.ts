/** Checks conditions of filters against the workspace: its campaigns, its segments and the types of its custom fields. */
import {
  conditionProblems,
  isProblem,
  readCondition,
  referencesOf,
  type SegmentCondition,
  withKnownField,
} from '../../domain/contacts/segment-filter.ts';
import type { FieldProblem } from '../../domain/error.ts';
import { listPresentCampaigns } from '../../records/campaigns/campaigns.ts';
import { findFieldsAlike } from '../../records/contacts/contact-fields.ts';
import { sizeProblem } from '../../records/contacts/segment-filter.ts';
import { loadFilterContext } from '../../records/contacts/segments.ts';
import type { Connection } from '../../records/database/database.ts';

interface Checked {
  /** With the ids of the custom fields that are meant. */
  readonly conditions: readonly SegmentCondition[];
  readonly problems: readonly FieldProblem[];
}

interface Place {
  /** Of the list in the request. */
  readonly path: string;
  /** The segment that is to have the conditions. */
  readonly segmentId?: string;
}

/** On a transaction that holds `lockSegments`, no other change of a segment can make the result wrong. */
export async function checkConditions(
  connection: Connection,
  workspaceId: number,
  given: readonly SegmentCondition[],
  { path, segmentId }: Place,
): Promise<Checked> {
  const known = await findFieldsAlike(connection, workspaceId, referencesOf(given).customFields);
  const conditions = given.map((condition) => withKnownField(condition, new Set(known)));
  const { campaignIds, segmentIds } = referencesOf(conditions);
  const context = await loadFilterContext(connection, workspaceId, [conditions]);
  const campaigns =
    campaignIds.length === 0
      ? new Set<string>()
      : new Set(await listPresentCampaigns(connection, workspaceId, campaignIds));
  const problems = [
    ...conditionProblems(conditions, path, context.types),
    ...conditions.flatMap((condition, at) => {
      const [campaignId] = referencesOf([condition]).campaignIds;
      if (campaignId === undefined || campaigns.has(campaignId)) return [];
      const message = `${path}.${at}: ${campaignId} is not a campaign of this workspace that still has recipients: GET /api/campaigns lists them`;
      return [{ field: `${path}.${at}.field`, message }];
    }),
    ...conditions.flatMap((condition, at) => {
      const reading = readCondition(condition);
      if (isProblem(reading) || reading.test !== 'segment_any') return [];
      const missing = reading.segmentIds.find((id) => !context.segments.has(id));
      if (missing === undefined) return [];
      const message = `${path}.${at}: ${missing} is not a segment of this workspace: GET /api/segments lists them`;
      return [{ field: `${path}.${at}.value`, message }];
    }),
  ];
  if (segmentId !== undefined && context.segments.has(segmentId.toLowerCase())) {
    const at = conditions.findIndex(({ field }) => field === 'segment');
    const message = `${path}.${at}: a segment cannot name itself, nor a segment that leads back to it`;
    return { conditions, problems: [...problems, { field: `${path}.${at}.value`, message }] };
  }
  const size = segmentIds.length === 0 ? undefined : sizeProblem(conditions, context);
  return {
    conditions,
    problems: size === undefined ? problems : [...problems, { field: path, message: size }],
  };
}
