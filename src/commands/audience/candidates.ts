/** Opens the audience of a campaign, of any kind, as batches of candidates. */
import type { AudienceInput } from '../../codecs/campaign-audience.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Candidate } from '../../domain/audience/candidate.ts';
import type { ContactSelectionType } from '../../domain/campaigns/campaign.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import {
  contactsQuery,
  hasAtMost,
  listFilters,
  readContacts,
  selectionProblem,
  rowsOfBatch,
  type Query,
} from '../../records/audience/audience-sources.ts';
import { failedQuery, readFailedRecipients } from '../../records/audience/failed-recipients.ts';
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
  /** Ends the reading of a file. */
  readonly signal?: AbortSignal;
}

type Sources = Pick<Dependencies, 'config' | 'database' | 'storage' | 'outbound'>;
type Pages = AsyncIterable<readonly Candidate[]> | Iterable<readonly Candidate[]>;

export async function openCandidates(sources: Sources, request: AudienceRequest): Promise<Pages> {
  const { selectionType, audience, customFields = [] } = request;
  const { databaseUrl } = sources.config;
  switch (selectionType) {
    case 'csv_contacts': {
      if (audience.csv_mapping === undefined)
        throw new PreparationFailure('CSV_UNREADABLE', 'csv_mapping is missing');
      const file = request.file ?? readCampaignFile(sources, audience, request.campaignId, request.signal);
      return readCsvCandidates(file, audience.csv_mapping, rowsOfBatch(customFields));
    }
    case 'quick_contacts':
      return readQuickCandidates(request.quickContacts, rowsOfBatch(customFields));
    case 'all_contacts':
    case 'segmented':
      return readContacts(databaseUrl, await storedAudience(sources, selectionType, request));
    case 'failed_contacts': {
      const query = await storedAudience(sources, selectionType, request);
      return readFailedRecipients(databaseUrl, query, request.keepVariables);
    }
    default:
      return selectionType satisfies never;
  }
}

type StoredKind = Exclude<ContactSelectionType, 'csv_contacts' | 'quick_contacts'>;
type StoredRequest = Pick<AudienceRequest, 'workspaceId' | 'audience' | 'customFields'>;

/** The query of an audience that the database holds. Throws PreparationFailure. */
async function storedAudience(
  { database }: Pick<Sources, 'database'>,
  selectionType: StoredKind,
  { workspaceId, audience, customFields = [] }: StoredRequest,
): Promise<Query> {
  if (selectionType === 'failed_contacts') {
    const { failed_campaign_id: campaignId = '', failed_reasons: reasons = [] } = audience;
    return failedQuery({ campaignId, reasons, customFields });
  }
  if (selectionType === 'all_contacts')
    return contactsQuery(workspaceId, { segments: undefined, filter: undefined, customFields });
  const segments = await listFilters(database, workspaceId, audience.segments ?? []);
  const selection = { segments, filter: audience.contact_filters, customFields };
  // Segments may have grown since the campaign was created.
  const problem = selectionProblem(selection);
  if (problem !== undefined)
    throw new PreparationFailure('AUDIENCE_EMPTY', `The audience cannot be read: ${problem}`);
  return contactsQuery(workspaceId, selection);
}

/** True if an audience that the database holds is known within a second to have at most `most` people. */
export async function isAtMost(
  sources: Pick<Sources, 'config' | 'database'>,
  selectionType: StoredKind,
  request: StoredRequest,
  most: number,
): Promise<boolean> {
  return hasAtMost(sources.config.databaseUrl, await storedAudience(sources, selectionType, request), most);
}
