/** Opens the audience of a campaign, of any kind, as batches of candidates. */
import type { AudienceInput } from '../../codecs/campaign-audience.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Candidate } from '../../domain/audience/candidate.ts';
import type { ContactSelectionType } from '../../domain/campaigns/campaign.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { listFilters, readContacts, selectionProblem } from '../../records/audience/audience-sources.ts';
import { readFailedRecipients } from '../../records/audience/failed-recipients.ts';
import { readCampaignFile } from './campaign-file.ts';
import { readCsvCandidates } from './csv-candidates.ts';
import { readQuickCandidates } from './quick-candidates.ts';

export interface AudienceRequest {
  readonly workspaceId: number;
  readonly selectionType: ContactSelectionType;
  readonly audience: AudienceInput;
  readonly campaignId: string;
  readonly quickContacts: readonly string[];
  /** True if the variable values that the failed campaign stored for its recipients are used again. */
  readonly keepVariables: boolean;
  /** The contacts' custom fields that the mapping names. */
  readonly customFields?: readonly string[];
  /** The CSV, if it has been downloaded already. */
  readonly file?: AsyncIterable<Buffer>;
}

type Sources = Pick<Dependencies, 'config' | 'database' | 'storage' | 'outbound'>;
type Pages = AsyncIterable<readonly Candidate[]> | Iterable<readonly Candidate[]>;

export async function openCandidates(sources: Sources, request: AudienceRequest): Promise<Pages> {
  const { workspaceId, selectionType, audience, customFields = [] } = request;
  const { databaseUrl } = sources.config;
  switch (selectionType) {
    case 'csv_contacts': {
      if (audience.csv_mapping === undefined)
        throw new PreparationFailure('CSV_UNREADABLE', 'csv_mapping is missing');
      const file = request.file ?? readCampaignFile(sources, audience, request.campaignId);
      return readCsvCandidates(file, audience.csv_mapping);
    }
    case 'quick_contacts':
      return readQuickCandidates(request.quickContacts);
    case 'all_contacts':
      return readContacts(databaseUrl, workspaceId, {
        segments: undefined,
        filter: undefined,
        customFields,
      });
    case 'segmented': {
      const segments = await listFilters(sources.database, workspaceId, audience.segments ?? []);
      const selection = { segments, filter: audience.contact_filters, customFields };
      // Segments may have grown since the campaign was created.
      const problem = selectionProblem(selection);
      if (problem !== undefined)
        throw new PreparationFailure('AUDIENCE_EMPTY', `The audience cannot be read: ${problem}`);
      return readContacts(databaseUrl, workspaceId, selection);
    }
    case 'failed_contacts':
      return readFailedRecipients(databaseUrl, {
        campaignId: audience.failed_campaign_id ?? '',
        reasons: audience.failed_reasons ?? [],
        keepVariables: request.keepVariables,
        customFields,
      });
    default:
      return selectionType satisfies never;
  }
}
