/** GET /api/campaigns and GET /api/campaigns/:id. */
import { idOf, IsoDateTime, limitUpTo, Page, repeated, textOf, Uuid } from '../../codecs/scalars.ts';
import { oneOf, optional, struct } from '../../codecs/struct.ts';
import { campaignStatuses } from '../../domain/campaigns/campaign.ts';
import { getCampaignReport, listCampaignReports } from '../../records/campaigns/report.ts';
import { endpoint } from '../frame/endpoint.ts';
import { onePage, page, record, succeed } from '../frame/envelope.ts';
import {
  CampaignDetail,
  campaignDetailExample,
  CampaignReport,
  campaignReportExample,
  presentCampaignDetail,
  presentCampaignReport,
} from './report-codec.ts';

const defaultLimit = 10;
const CampaignId = struct({ id: idOf('Campaign') });
const example = { status: 'success', data: campaignDetailExample };

export const listCampaigns = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns',
    operationId: 'listCampaigns',
    summary: 'List the campaigns of the workspace',
    description:
      'Newest first. `search` matches part of the name, whatever its case and accents; `from` and `to` limit the creation time.',
    tag: 'Campaigns',
    access: 'workspace',
    query: optional({
      page: Page,
      limit: limitUpTo(100),
      status: repeated(oneOf(campaignStatuses, 'CampaignStatus')),
      search: textOf({ max: 255 }),
      template_id: Uuid,
      from: IsoDateTime,
      to: IsoDateTime,
    }),
    responses: { 200: onePage('One page of campaigns', CampaignReport, campaignReportExample) },
  },
  async ({ dependencies, principal, query }) => {
    const paging = { page: query.page ?? 1, limit: query.limit ?? defaultLimit };
    const { items, total } = await listCampaignReports(dependencies.database, principal.workspaceId, {
      ...paging,
      statuses: query.status ?? [],
      search: query.search,
      templateId: query.template_id,
      from: query.from,
      to: query.to,
    });
    return { status: 200, body: page(items.map(presentCampaignReport), { ...paging, total }) };
  },
);

export const getCampaign = endpoint(
  {
    method: 'GET',
    path: '/api/campaigns/:id',
    operationId: 'getCampaign',
    summary: 'Read a campaign with its counters',
    tag: 'Campaigns',
    access: 'workspace',
    params: CampaignId,
    responses: { 200: { description: 'The campaign', body: record(CampaignDetail), example } },
  },
  async ({ dependencies, principal, params }) => {
    const report = await getCampaignReport(dependencies.database, principal.workspaceId, params.id);
    return { status: 200, body: succeed(presentCampaignDetail(report)) };
  },
);
