/** POST /api/campaigns/check: a creation that creates nothing. */
import * as t from 'io-ts';
import { CheckCampaign } from '../../codecs/create-campaign.ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { Integer, IsoDateTime } from '../../codecs/scalars.ts';
import { nullish, struct } from '../../codecs/struct.ts';
import { exampleTemplateId } from '../../codecs/template.ts';
import { Amount } from '../../codecs/wallet.ts';
import { dryRunCampaign } from '../../commands/campaigns/dry-run-campaign.ts';
import { shownProblems } from '../../domain/error.ts';
import { formatAmount } from '../../domain/money.ts';
import { endpoint } from '../frame/endpoint.ts';
import { answer, FieldProblems, succeed } from '../frame/envelope.ts';

const Checked = named(
  'CampaignCheck',
  struct({
    problems: describe(FieldProblems, {
      description: 'Empty when the campaign can be created and would reach somebody',
    }),
    warnings: describe(FieldProblems, {
      description: 'What is hardly meant: unknown fields, or `{{firstname}}`, which names none and is sent',
    }),
    total_contacts: describe(Integer, { description: 'Who would be sent to' }),
    skipped_reasons: t.record(t.string, Integer),
    is_estimate: describe(t.boolean, {
      description: 'True: the audience is so large that only its beginning was counted',
    }),
    cost: Amount,
    available: describe(Amount, { description: 'What the wallet can spend' }),
    currency: t.string,
    duration_seconds: describe(Integer, {
      description:
        'From `begins_at` to `ends_at` at the present rate of the channel, sent to alone; closed hours between them count',
    }),
    begins_at: describe(nullish(IsoDateTime), {
      description: 'When sending would begin: now, at `scheduled_at`, or when the sending window opens',
    }),
    ends_at: describe(nullish(IsoDateTime), {
      description:
        'When all would be sent to, in the hours of the sending window; null where nobody would be',
    }),
  }),
);

export const checkNewCampaign = endpoint(
  {
    method: 'POST',
    path: '/api/campaigns/check',
    operationId: 'checkCampaign',
    summary: 'Check the body of a creation without creating anything',
    description:
      'Reads the audience as the preparation would: whom the campaign would reach, why others would be skipped, what it would cost and how long it would take.',
    tag: 'Campaigns',
    access: 'channel',
    body: CheckCampaign,
    bodyLimit: 32 * 1024 * 1024,
    bodyExample: {
      name: 'Spring offer',
      template_id: exampleTemplateId,
      contact_selection_type: 'quick_contacts',
      quick_contacts: ['+4915112345678,Ada', '+919876543210|Grace'],
      send_type: 'IMMEDIATE',
    },
    responses: {
      200: answer('What the creation would come to', Checked, {
        problems: [],
        warnings: [],
        total_contacts: 19842,
        skipped_reasons: { INVALID_PHONE: 120, DUPLICATE: 38 },
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
  async ({ dependencies, principal, body }) => {
    const tried = await dryRunCampaign(dependencies, principal, body);
    const ignored = (body.ignored ?? []).map((field) => ({ field, message: `${field} is ignored: unknown` }));
    return {
      status: 200,
      body: succeed({
        problems: shownProblems(tried.problems),
        warnings: shownProblems([...ignored, ...tried.warnings]),
        total_contacts: tried.total,
        skipped_reasons: tried.skipped,
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
