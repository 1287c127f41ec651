/** Checks the references of a new campaign: segments, files and the campaign whose failed contacts it sends to. */
import { campaignFileKey } from '../audience/campaign-file-url.ts';
import type { CreateCampaign } from '../../codecs/create-campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import { columnProblems } from '../../domain/audience/csv.ts';
import type { FieldProblem } from '../../domain/error.ts';
import { offerEndsBy } from '../../domain/templates/plan.ts';
import { targetUrlMessage } from '../../outbound/address-guard.ts';
import { listFilters, selectionProblem } from '../../records/audience/audience-sources.ts';
import { findResendableCampaign } from '../../records/audience/failed-recipients.ts';
import { findCampaignFile } from '../../records/campaigns/files.ts';

type Sources = Pick<Dependencies, 'config' | 'database' | 'outbound'>;

interface Reused {
  readonly problems: readonly FieldProblem[];
  /** True if the values that the failed campaign has frozen are used again. */
  readonly frozenValues: boolean;
}

export async function referenceProblems(
  { config, database, outbound }: Sources,
  {
    workspaceId,
    body,
    sendsAt,
  }: { readonly workspaceId: number; readonly body: CreateCampaign; readonly sendsAt: Date },
): Promise<Reused> {
  const problems: FieldProblem[] = [];
  let frozenValues = false;
  if (body.contact_selection_type === 'segmented') {
    problems.push(...(await segmentProblems(database, workspaceId, body)));
  }
  if (body.contact_selection_type === 'failed_contacts' && body.failed_campaign_id !== undefined) {
    const failed = await findResendableCampaign(database, workspaceId, body.failed_campaign_id);
    if (failed === undefined) {
      problems.push({
        field: 'failed_campaign_id',
        message: 'failed_campaign_id is not a campaign of this workspace: GET /api/campaigns lists them',
      });
    }
    if (failed?.archived === true) {
      const message = 'failed_campaign_id is a campaign whose recipients were deleted: send to them by a CSV';
      problems.push({ field: 'failed_campaign_id', message });
    }
    frozenValues =
      body.variable_mapping === undefined && failed?.template_id === body.template_id.toLowerCase();
    if (frozenValues && offerEndsBy(failed?.message_plan, sendsAt)) {
      const message = 'variable_mapping is required: the offer of the failed campaign has expired by then';
      problems.push({ field: 'variable_mapping', message });
    }
  }
  if (body.contact_selection_type === 'csv_contacts') {
    problems.push(...(await fileProblems({ config, database, outbound }, workspaceId, body)));
  }
  return { problems, frozenValues };
}

/** Checks that an uploaded file belongs to the workspace and has the mapped columns; of a foreign URL it checks the address. */
async function fileProblems(
  { config, database, outbound }: Sources,
  workspaceId: number,
  { csv_file_key: key, csv_file_url: url, csv_mapping: mapping }: CreateCampaign,
): Promise<readonly FieldProblem[]> {
  const field = key === undefined ? 'csv_file_url' : 'csv_file_key';
  const uploaded = key ?? (url === undefined ? undefined : campaignFileKey(config, url));
  if (uploaded !== undefined) {
    const file = await findCampaignFile(database, workspaceId, uploaded);
    if (file === undefined)
      return [{ field, message: `${field} names no file of POST /api/campaigns/csv-files` }];
    return mapping === undefined ? [] : columnProblems(mapping, file.headers.length);
  }
  if (url === undefined) return [];
  const checked = outbound.checkUrl(url);
  return checked.ok ? [] : [{ field, message: targetUrlMessage(field, checked.problem) }];
}

async function segmentProblems(
  database: Sources['database'],
  workspaceId: number,
  { segments = [], contact_filters: filter }: CreateCampaign,
): Promise<readonly FieldProblem[]> {
  const found = await listFilters(database, workspaceId, segments);
  const known = new Set(found.map(({ id }) => id));
  const missing = [...segments.keys()].filter((at) => !known.has(segments[at]?.toLowerCase() ?? ''));
  if (missing.length > 0) {
    return missing.map((at) => ({
      field: `segments.${at}`,
      message: `segments.${at} is not a segment of this workspace: GET /api/segments lists them`,
    }));
  }
  const message = selectionProblem({ segments: found, filter });
  return message === undefined ? [] : [{ field: 'segments', message }];
}
