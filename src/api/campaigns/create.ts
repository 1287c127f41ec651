/** POST /api/campaigns/auto-trigger (Spec 4.1). */
import * as t from 'io-ts';
import { named } from '../../codecs/json-schema.ts';
import { CreateCampaign } from '../../codecs/create-campaign.ts';
import { Integer, IsoDateTime } from '../../codecs/scalars.ts';
import { struct } from '../../codecs/struct.ts';
import { exampleTemplateId } from '../../codecs/template.ts';
import * as creating from '../../commands/campaigns/create-campaign.ts';
import { endpoint } from '../frame/endpoint.ts';
import { campaignFields, windowFields } from './report-codec.ts';

const Created = named(
  'CreatedCampaign',
  struct({
    status: t.literal('success'),
    code: t.literal(201),
    message: t.string,
    data: named(
      'CreatedCampaignData',
      struct({
        campaign: named('InitialCampaign', struct(campaignFields, windowFields)),
        summary: named('CampaignSummary', struct({ total_contacts: Integer, can_send_test: t.boolean })),
      }),
    ),
    timestamp: IsoDateTime,
  }),
);

const megabyte = 1024 * 1024;

export const createCampaign = endpoint(
  {
    method: 'POST',
    path: '/api/campaigns/auto-trigger',
    operationId: 'createCampaign',
    summary: 'Create a campaign',
    tag: 'Campaigns',
    access: 'channel',
    apiKeyOnly: true,
    idempotent: true,
    body: CreateCampaign,
    bodyLimit: 8 * megabyte,
    bodyExample: {
      name: 'Spring offer',
      template_id: exampleTemplateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678,Ada', '+919876543210,Grace'],
      variable_mapping: { body: { '1': 'firstName' }, default_values: { body: { '1': 'there' } } },
      send_type: 'IMMEDIATE',
    },
    responses: {
      201: {
        description: 'Created; preparation of the audience has started',
        body: Created,
        example: {
          status: 'success',
          code: 201,
          message: 'Campaign created successfully',
          data: {
            campaign: {
              id: '0197c1f2-6a6e-7b52-9a40-3f0f6a3c9d11',
              name: 'Spring offer',
              description: null,
              template_id: exampleTemplateId,
              contact_selection_type: 'quick_contacts',
              total_contacts: 0,
              total_contacts_skipped: 0,
              preparation_status: 'PREPARING',
              preparation_version: 1,
              audience_version: 1,
              status: 'DRAFT',
              send_type: 'IMMEDIATE',
              scheduled_at: null,
              workspace_id: 1001,
              is_auto_trigger: true,
              created_at: '2026-11-21T09:00:00.000Z',
              updated_at: '2026-11-21T09:00:00.000Z',
            },
            summary: { total_contacts: 0, can_send_test: true },
          },
          timestamp: '2026-11-21T09:00:00.012Z',
        },
      },
    },
    errors: [404],
  },
  async ({ dependencies, principal, body, request: { idempotency } }) => {
    const timestamp = dependencies.now();
    const { storeAnswer } = idempotency;
    const onWrite: Parameters<typeof creating.createCampaign>[3] =
      storeAnswer && ((transaction, written) => storeAnswer(transaction, present(written, timestamp)));
    const created = await creating.createCampaign(dependencies, principal, body, onWrite);
    return present(created, timestamp);
  },
);

function present({ campaign, canSendTest, beginsAt }: creating.CreatedCampaign, timestamp: Date) {
  const { sending_window, ignore_quiet_hours, ...fields } = campaign;
  // Without a window the answer has only the fields of Spec 4.1.
  const windowed = beginsAt && { sending_window, ignore_quiet_hours, begins_at: beginsAt };
  const summary = { total_contacts: 0, can_send_test: canSendTest };
  return {
    status: 201,
    body: {
      status: 'success',
      code: 201,
      message: 'Campaign created successfully',
      data: { campaign: { ...fields, ...windowed }, summary },
      timestamp,
    },
  } as const;
}
