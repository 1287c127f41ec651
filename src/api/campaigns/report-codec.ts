/** The campaign record as GET answers it (Spec 2.1, with what this service adds), and its presenter. */
import * as t from 'io-ts';
import { describe, named } from '../../codecs/json-schema.ts';
import { countsBy } from '../../codecs/message.ts';
import { Integer, IsoDateTime, Uuid } from '../../codecs/scalars.ts';
import { SendingWindow } from '../../codecs/sending-window.ts';
import { nullish, oneOf, struct } from '../../codecs/struct.ts';
import { exampleTemplateId } from '../../codecs/template.ts';
import { Amount } from '../../codecs/wallet.ts';
import {
  campaignStatuses,
  contactSelectionTypes,
  isFinished,
  pauseReasons,
  preparationErrorCodes,
  preparationStatuses,
  sendTypes,
  waitingReasons,
} from '../../domain/campaigns/campaign.ts';
import { afterOpenTime, beginsAt } from '../../domain/campaigns/sending-window.ts';
import { brakeRules, failureSources } from '../../domain/sending/failure-brake.ts';
import { formatAmount } from '../../domain/money.ts';
import type {
  CampaignDetail as DetailRow,
  CampaignReport as ReportRow,
} from '../../records/campaigns/report.ts';

const CampaignButton = named(
  'CampaignButton',
  struct({
    index: describe(Integer, { description: 'Place of the button in the template, from 0.' }),
    text: describe(t.string, { description: 'Text of the button.' }),
    count: describe(Integer, { description: 'Number of recipients who tapped it.' }),
  }),
);

export const Counters = named(
  'CampaignCounters',
  struct({
    pending: Integer,
    claimed: Integer,
    accepted: Integer,
    sent: Integer,
    delivered: Integer,
    read: Integer,
    failed: Integer,
    unknown: Integer,
    cancelled: Integer,
    skipped: Integer,
    replied: describe(Integer, {
      description: 'Recipients who wrote to the channel within 30 days after the message.',
    }),
    opted_out: describe(Integer, {
      description:
        'Recipients who asked to receive nothing more, or no marketing, within 30 days after the message.',
    }),
    buttons: describe(t.readonlyArray(CampaignButton), {
      description: 'Quick-reply buttons that recipients tapped within 30 days after the message.',
    }),
  }),
);

/** Exactly the fields of Spec 2.1. */
export const campaignFields = {
  id: Uuid,
  name: t.string,
  description: nullish(t.string),
  template_id: Uuid,
  contact_selection_type: oneOf(contactSelectionTypes, 'ContactSelectionType'),
  total_contacts: Integer,
  total_contacts_skipped: Integer,
  preparation_status: oneOf(preparationStatuses, 'PreparationStatus'),
  preparation_version: Integer,
  audience_version: Integer,
  status: oneOf(campaignStatuses, 'CampaignStatus'),
  send_type: oneOf(sendTypes, 'SendType'),
  scheduled_at: nullish(IsoDateTime),
  workspace_id: Integer,
  is_auto_trigger: t.boolean,
  created_at: IsoDateTime,
  updated_at: IsoDateTime,
};

export const windowFields = {
  sending_window: describe(nullish(SendingWindow), {
    description: 'Campaign’s own sending window; null if only the workspace’s applies.',
  }),
  ignore_quiet_hours: describe(t.boolean, {
    description: 'True if the workspace’s sending window does not apply.',
  }),
  begins_at: describe(nullish(IsoDateTime), {
    description:
      'Earliest start of sending: `scheduled_at`, the creation time, or the next opening of the sending window; null once sending has begun.',
  }),
};

const PauseEvidence = named(
  'PauseEvidence',
  struct({
    rule: describe(oneOf(brakeRules, 'BrakeRule'), {
      description:
        'first: the first outcomes were failures for one reason. run: failures for one reason in a row. share: at least half of the last 200 outcomes failed for one reason. people: at least 60 % of the last 500 outcomes failed because of the recipients.',
    }),
    reason: describe(t.string, {
      description: 'Reason of the failures, as in `failed_reasons`; under `people` the most frequent one.',
    }),
    source: describe(oneOf(failureSources, 'FailureSource'), {
      description: 'How the last of them became known: in the answer to the request, or by a later status.',
    }),
    failed: describe(Integer, { description: 'Failed messages.' }),
    of: describe(Integer, { description: 'Known outcomes among which they were counted.' }),
    first_at: describe(IsoDateTime, {
      description: 'Time at which the first of these failures became known.',
    }),
    last_at: describe(IsoDateTime, { description: 'Time at which the last of them became known.' }),
    details: describe(t.readonlyArray(t.string), {
      description: 'At most three different texts of the provider, with their digits masked.',
    }),
    recipient_ids: describe(t.readonlyArray(t.string), {
      description: 'Ids of at most three of the recipients.',
    }),
  }),
);

const PriceChange = named(
  'PriceChange',
  struct({
    category_before: describe(t.string, { description: 'Category of the template when the campaign began.' }),
    category: describe(t.string, { description: 'Present category of the template.' }),
    country: describe(t.string, {
      description:
        'Country (ISO 3166 alpha-2) of the prices: the next recipient’s if its price rose, else the one whose price rose most; empty for every country without a price of its own.',
    }),
    price_before: describe(Amount, { description: 'Price of a message before, as a decimal string.' }),
    price: describe(Amount, { description: 'Price of a message now, as a decimal string.' }),
  }),
);

const reportFields = {
  ...campaignFields,
  ...windowFields,
  channel_id: Uuid,
  phone_number_id: t.string,
  pause_reason: nullish(oneOf(pauseReasons, 'PauseReason')),
  pause_evidence: describe(nullish(PauseEvidence), {
    description: 'Failures that paused the campaign; null unless `pause_reason` is FAILURES.',
  }),
  price_change: describe(nullish(PriceChange), {
    description: 'What made the messages more expensive; null unless `pause_reason` is PRICE_RAISED.',
  }),
  waiting_for: nullish(oneOf(waitingReasons, 'WaitingReason')),
  waiting_until: nullish(IsoDateTime),
  preparation_error: nullish(
    named(
      'PreparationError',
      struct({ code: oneOf(preparationErrorCodes, 'PreparationErrorCode'), message: t.string }),
    ),
  ),
  started_at: nullish(IsoDateTime),
  completed_at: nullish(IsoDateTime),
  archived_at: describe(nullish(IsoDateTime), {
    description:
      'Time at which the recipients were deleted because the campaign had ended long ago; null before.',
  }),
  counters: Counters,
  skipped_reasons: countsBy('SkipReason'),
  failed_reasons: countsBy('RecipientReason'),
  template: named(
    'CampaignTemplate',
    struct({ id: Uuid, name: t.string, language: t.string, category: t.string }),
  ),
  created_by: describe(t.string, { description: 'Id of the API key that created the campaign.' }),
  ignore_frequency_cap: describe(t.boolean, {
    description: 'True if the workspace’s frequency cap does not apply.',
  }),
  max_cost: describe(nullish(Amount), {
    description:
      'Most that the campaign may cost, as a decimal string; null without a maximum. It pauses with MAX_COST before it would reserve more.',
  }),
  charged: describe(Amount, {
    description: 'Cost of the messages so far less refunds, as a decimal string.',
  }),
  estimate: describe(nullish(Amount), {
    description:
      'Most that all recipients could cost at the start of the campaign, as a decimal string; null before, and for campaigns of earlier releases.',
  }),
  given_back: describe(Amount, {
    description:
      'What was charged and given back for messages that failed later or were not delivered in time, as a decimal string.',
  }),
  free_messages: describe(Integer, { description: 'Delivered messages that cost nothing.' }),
  cost_per_delivered: describe(nullish(Amount), {
    description: '`charged` by delivered message, as a decimal string; null before the first is delivered.',
  }),
};
export const CampaignReport = named('Campaign', struct(reportFields));
export type CampaignReport = t.TypeOf<typeof CampaignReport>;

/** A single campaign, which also shows its input and its cost. */
export const CampaignDetail = named(
  'CampaignDetail',
  struct({
    ...reportFields,
    audience: describe(t.UnknownRecord, {
      description: 'Audience fields of the creation, without inline contacts.',
    }),
    variable_mapping: nullish(t.UnknownRecord),
    eta_seconds: describe(nullish(Integer), {
      description:
        'Estimated seconds until all recipients are sent to, at the rate that the channel has and the provider allows at present, and within the sending window; null when unknown.',
    }),
  }),
);
export type CampaignDetail = t.TypeOf<typeof CampaignDetail>;

/** Converts a row: counters and preparation error become objects. */
export function presentCampaignReport<R extends ReportRow>(row: R) {
  const {
    pending,
    claimed,
    accepted,
    sent,
    delivered,
    read,
    failed,
    unknown,
    cancelled,
    skipped,
    ...outside
  } = row;
  const { replied, opted_out, buttons, ...rest } = outside;
  const { preparation_error_code: code, preparation_error_message: message, windows, ...campaign } = rest;
  const { pause_evidence: evidence } = row;
  return {
    ...campaign,
    pause_evidence:
      evidence === null
        ? null
        : { ...evidence, first_at: new Date(evidence.first_at), last_at: new Date(evidence.last_at) },
    max_cost: row.max_cost === null ? null : formatAmount(row.max_cost),
    charged: formatAmount(row.charged),
    estimate: row.estimate === null ? null : formatAmount(row.estimate),
    given_back: formatAmount(row.given_back),
    cost_per_delivered:
      row.delivered + row.read === 0 ? null : formatAmount(row.charged / BigInt(row.delivered + row.read)),
    begins_at: beginningOf(row),
    preparation_error: code === null ? null : { code, message: message ?? '' },
    counters: {
      pending,
      claimed,
      accepted,
      sent,
      delivered,
      read,
      failed,
      unknown,
      cancelled,
      skipped,
      replied,
      opted_out,
      buttons,
    },
  };
}

export function presentCampaignDetail(row: DetailRow): CampaignDetail {
  const { rate, now, ...report } = presentCampaignReport(row);
  return { ...report, eta_seconds: etaSeconds(row, rate, now) };
}

function beginningOf({ status, started_at, scheduled_at, created_at, windows }: ReportRow): Date | null {
  if (started_at !== null || isFinished(status)) return null;
  return beginsAt(windows, { scheduledAt: scheduled_at, createdAt: created_at });
}

/** Seconds until all recipients are sent to at the channel's rate and within the windows; ignores other limits. */
function etaSeconds(row: DetailRow, rate: number, now: Date): number | null {
  if (row.pending === 0 || row.status === 'PAUSED' || isFinished(row.status)) return null;
  // While the circuit of the channel is open nothing is sent.
  if (rate <= 0) return null;
  const begins = row.started_at === null ? (row.scheduled_at ?? now) : now;
  const from = begins > now ? begins : now;
  const end = afterOpenTime(row.windows, from, row.pending / rate);
  return end === null ? null : Math.ceil((end.getTime() - now.getTime()) / 1_000);
}

export const campaignReportExample = {
  id: '0197c1f2-6a6e-7b52-9a40-3f0f6a3c9d11',
  name: 'Spring offer',
  description: null,
  template_id: exampleTemplateId,
  contact_selection_type: 'csv_contacts',
  total_contacts: 19842,
  total_contacts_skipped: 158,
  preparation_status: 'READY',
  preparation_version: 1,
  audience_version: 1,
  status: 'RUNNING',
  send_type: 'IMMEDIATE',
  scheduled_at: null,
  sending_window: null,
  ignore_quiet_hours: false,
  begins_at: null,
  workspace_id: 1001,
  is_auto_trigger: true,
  created_at: '2026-11-21T09:00:00.000Z',
  updated_at: '2026-11-21T09:00:05.000Z',
  channel_id: '0197c1f2-4b0a-7d33-9b21-2e1d3c4b5a66',
  phone_number_id: '106540352242922',
  pause_reason: null,
  pause_evidence: null,
  price_change: null,
  waiting_for: null,
  waiting_until: null,
  preparation_error: null,
  started_at: '2026-11-21T09:00:05.000Z',
  completed_at: null,
  archived_at: null,
  counters: {
    pending: 10000,
    claimed: 42,
    accepted: 300,
    sent: 500,
    delivered: 6000,
    read: 2900,
    failed: 98,
    unknown: 2,
    cancelled: 0,
    skipped: 158,
    replied: 412,
    opted_out: 9,
    buttons: [{ index: 0, text: 'Show me', count: 350 }],
  },
  skipped_reasons: { INVALID_PHONE: 120, DUPLICATE: 38 },
  failed_reasons: { PROVIDER_131026: 98, OUTCOME_UNKNOWN: 2 },
  template: {
    id: exampleTemplateId,
    name: 'hello_campaign',
    language: 'en_US',
    category: 'MARKETING',
  },
  created_by: 'a1B2c3D4e5F6',
  ignore_frequency_cap: false,
  max_cost: '1000',
  charged: '485',
  estimate: '992.1',
  given_back: '4.9',
  free_messages: 0,
  cost_per_delivered: '0.054494',
};

export const campaignDetailExample = {
  ...campaignReportExample,
  audience: {
    csv_file_key: 'csv_4f7a2d2e-5a0b-4c55-9d0a-0a3f5b0c7b11.csv',
    csv_mapping: { phone_column: 0, country_code_column: 1 },
  },
  variable_mapping: { body: { '1': 'firstName' } },
  eta_seconds: 125,
};
