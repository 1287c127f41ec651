/** POST /api/campaigns/auto-trigger (Spec 4.1), and POST /api/campaigns/check: the same checks without creating anything. */
import * as t from 'io-ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { UnverifiedNumbers } from '../../codecs/campaign-audience.ts';
import { CheckCampaign, CreateCampaign } from '../../codecs/create-campaign.ts';
import { Integer, integerFromString, IsoDateTime } from '../../codecs/scalars.ts';
import { nullish, optional, struct } from '../../codecs/struct.ts';
import { exampleTemplateId } from '../../codecs/template.ts';
import * as creating from '../../commands/campaigns/create-campaign.ts';
import { endpoint } from '../frame/endpoint.ts';
import { campaignFields, windowFields } from './report-codec.ts';
import { countsBy } from '../../codecs/message.ts';
import { Amount } from '../../codecs/wallet.ts';
import { dryRunCampaign } from '../../commands/campaigns/dry-run-campaign.ts';
import { shownProblems } from '../../domain/error.ts';
import { formatAmount } from '../../domain/money.ts';
import { answer, FieldProblems, succeed } from '../frame/envelope.ts';

const warnings = describe(FieldProblems, {
  description:
    'Probable mistakes that do not prevent the campaign: unknown fields of the body; `{{firstname}}`, which is the name of no field and would be sent as it stands; a field with little room left in its text; numbers in ranges that are not known to be in use; digits that are probably national numbers of one country; a start that the sending window delays.',
});

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
        warnings,
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
            warnings: [],
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

function present(
  { campaign, canSendTest, beginsAt, warnings: found }: creating.CreatedCampaign,
  timestamp: Date,
) {
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
      data: { campaign: { ...fields, ...windowed }, summary, warnings: shownProblems(found) },
      timestamp,
    },
  } as const;
}

/** How long an audience is counted unless the request says otherwise, and at most, in seconds. */
const countedSeconds = 8;
const maxCountedSeconds = 30;

const Checked = named(
  'CampaignCheck',
  struct({
    problems: describe(FieldProblems, {
      description:
        'Problems that prevent the campaign, by field; empty if it can be created and has recipients.',
    }),
    warnings,
    total_contacts: describe(Integer, { description: 'Number of recipients that would be sent to.' }),
    skipped_reasons: countsBy('SkipReason'),
    unverified_numbers: UnverifiedNumbers,
    is_estimate: describe(t.boolean, {
      description:
        'True if only the beginning of a large audience was counted; `total_contacts` and `cost` are then lower bounds.',
    }),
    cost: Amount,
    available: describe(Amount, { description: 'Amount the wallet can spend, as a decimal string.' }),
    currency: t.string,
    duration_seconds: describe(Integer, {
      description:
        'Estimated seconds from `begins_at` to `ends_at` at the channel’s present rate without other campaigns; closed hours count.',
    }),
    begins_at: describe(nullish(IsoDateTime), {
      description:
        'Time at which sending would begin: now, at `scheduled_at`, or when the sending window opens; null if the campaign cannot be created.',
    }),
    ends_at: describe(nullish(IsoDateTime), {
      description: 'Estimated end of sending within the sending window; null without recipients.',
    }),
  }),
);

export const checkNewCampaign = endpoint(
  {
    method: 'POST',
    path: '/api/campaigns/check',
    operationId: 'checkCampaign',
    summary: 'Check a campaign without creating it',
    description:
      'Reads the audience as preparation would and returns the number of recipients, reasons for skipping, cost and duration. Creates nothing.',
    tag: 'Campaigns',
    access: 'channel',
    query: optional({
      max_seconds: describe(integerFromString(1, maxCountedSeconds), {
        description: 'Longest time for which the audience is counted; a larger one gives an estimate.',
        default: countedSeconds,
      }),
    }),
    body: CheckCampaign,
    bodyLimit: 8 * 1024 * 1024,
    bodyExample: {
      name: 'Spring offer',
      template_id: exampleTemplateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678,Ada', '+919876543210,Grace'],
      send_type: 'IMMEDIATE',
    },
    responses: {
      200: answer('Result of the check', Checked, {
        problems: [],
        warnings: [],
        total_contacts: 19842,
        skipped_reasons: { INVALID_PHONE: 120, DUPLICATE: 38 },
        unverified_numbers: { IQ: 12 },
        is_estimate: false,
        cost: '992.1',
        available: '1500',
        currency: 'USD',
        duration_seconds: 255,
        begins_at: '2026-11-21T09:00:00.000Z',
        ends_at: '2026-11-21T09:04:15.000Z',
      }),
    },
  },
  async ({ dependencies, principal, body, query }) => {
    const tried = await dryRunCampaign(
      { ...dependencies, database: dependencies.searchDatabase },
      principal,
      body,
      (query.max_seconds ?? countedSeconds) * 1_000,
    );
    const ignored = (body.ignored ?? []).map((field) => ({ field, message: `${field} is ignored: unknown` }));
    return {
      status: 200,
      body: succeed({
        problems: shownProblems(tried.problems),
        warnings: shownProblems([...ignored, ...tried.warnings]),
        total_contacts: tried.total,
        skipped_reasons: tried.skipped,
        unverified_numbers: tried.unverified,
        is_estimate: tried.isEstimate,
        cost: formatAmount(tried.cost),
        available: formatAmount(tried.available),
        currency: tried.currency,
        duration_seconds: tried.durationSeconds,
        begins_at: tried.beginsAt,
        ends_at: tried.endsAt,
      }),
    };
  },
);
