/** The body of POST /api/campaigns/auto-trigger (Spec 4.1). What depends on other fields is checked by the command. */
import { either } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { contactSelectionTypes, sendTypes } from '../domain/campaigns/campaign.ts';
import { ContactFilters, CsvMapping, DefaultCountry } from './campaign-audience.ts';
import { listOf, shortListOf } from './collections.ts';
import { describe } from './json-schema.ts';
import { AskedReason } from './message.ts';
import { failWith } from './report.ts';
import { textOf, Uuid } from './scalars.ts';
import { StructType } from './struct-type.ts';
import { inOrder, needed, oneOf, readAs, refined, struct } from './struct.ts';
import { SendingWindow } from './sending-window.ts';
import { MaxCost } from './wallet.ts';
import { VariableMapping } from './variable-mapping.ts';

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

const Name = describe(
  new t.Type<string, string>(
    'string',
    t.string.is,
    (input, context) => {
      if (isBlank(input)) return failWith('name_required', 'Campaign name is required', input, context);
      return textOf({ max: 255 }).validate(input, context);
    },
    String,
  ),
  { type: 'string', minLength: 1, maxLength: 255 },
);

/** The key supplies the channel: a body that names one is refused. */
const Absent = (field: string) =>
  describe(
    new t.Type<undefined, undefined>(
      field,
      t.undefined.is,
      (input, context) =>
        input === undefined
          ? t.success(undefined)
          : t.failure(input, context, `${field} must not be sent: the API key of a channel supplies it`),
      t.identity,
    ),
    { not: {}, description: 'Must not be sent: the API key of a channel supplies it.' },
  );

const nonEmpty = refined(
  t.string,
  (text) => text.trim() !== '',
  (field) => `${field} must not be empty`,
  {
    minLength: 1,
  },
);

const withoutNulls = (record: Readonly<Record<string, unknown>>) =>
  Object.values(record).includes(null)
    ? Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
    : record;

/** Clients write null for what they leave out. */
function nullIsAbsent<A, O>(codec: t.Type<A, O>): t.Type<A, O> {
  return readAs(codec, (input, context) =>
    codec.validate(t.UnknownRecord.is(input) ? withoutNulls(input) : input, context),
  );
}

const Body = struct(
  {
    name: Name,
    template_id: needed(Uuid, 'one of GET /api/templates?status=APPROVED'),
    contact_selection_type: oneOf(contactSelectionTypes, 'ContactSelectionType'),
    send_type: oneOf(sendTypes, 'SendType'),
  },
  {
    description: textOf({ max: 1000 }),
    channel_id: Absent('channel_id'),
    phone_number_id: Absent('phone_number_id'),
    contact_filters: ContactFilters,
    segments: shortListOf(Uuid, 100),
    quick_contacts: listOf(t.string),
    default_country: DefaultCountry,
    csv_contacts_string: nonEmpty,
    csv_file_key: nonEmpty,
    csv_file_url: nonEmpty,
    csv_mapping: CsvMapping,
    failed_campaign_id: Uuid,
    failed_reasons: shortListOf(describe(nonEmpty, {}, AskedReason), 1000),
    variable_mapping: VariableMapping,
    // Ignored for IMMEDIATE, so its form is checked for SCHEDULED only.
    scheduled_at: describe(t.unknown, { type: ['string', 'null'], format: 'date-time' }),
    sending_window: SendingWindow,
    max_cost: describe(MaxCost, {
      description:
        'The campaign pauses with MAX_COST before its messages could cost more, as a decimal string in the currency of the wallet; default no maximum.',
    }),
    ignore_quiet_hours: describe(t.boolean, {
      description:
        'True if the workspace’s sending window does not apply; needs an operator’s key. Default false.',
    }),
    ignore_frequency_cap: describe(t.boolean, {
      description:
        'True if the workspace’s frequency cap does not apply; needs an operator’s key. Default false.',
    }),
  },
);

/** The fields in the order of Spec 4.1, with those that select failed contacts before the mapping. */
const declared = [
  'name',
  'description',
  'template_id',
  'channel_id',
  'phone_number_id',
  'contact_selection_type',
  'contact_filters',
  'segments',
  'quick_contacts',
  'default_country',
  'csv_contacts_string',
  'csv_file_key',
  'csv_file_url',
  'csv_mapping',
  'failed_campaign_id',
  'failed_reasons',
  'variable_mapping',
  'send_type',
  'scheduled_at',
  'sending_window',
  'ignore_quiet_hours',
  'ignore_frequency_cap',
  'max_cost',
];
export const CreateCampaign = inOrder(nullIsAbsent(Body), declared);
export type CreateCampaign = t.TypeOf<typeof CreateCampaign>;

/** Names unknown fields at any depth, in dot form. */
function unknownFields(codec: t.Mixed, value: unknown, path = ''): readonly string[] {
  if (!(codec instanceof StructType) || !t.UnknownRecord.is(value)) return [];
  const fields: t.Props = { ...codec.required, ...codec.optional };
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field === undefined ? `${path}${name}` : unknownFields(field, inner, `${path}${name}.`);
  });
}

/** Like `CreateCampaign`; also names the fields of the body that are ignored. */
export const CheckCampaign = describe(
  new t.Type<CreateCampaign & { readonly ignored?: readonly string[] }, unknown>(
    CreateCampaign.name,
    CreateCampaign.is,
    (input, context) =>
      either.map(CreateCampaign.validate(input, context), (body) => ({
        ...body,
        ignored: unknownFields(Body, input).slice(0, 20),
      })),
    CreateCampaign.encode,
  ),
  {},
  CreateCampaign,
);
