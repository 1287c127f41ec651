/** The audience of a resend: the failed recipients of an earlier campaign. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { AudienceContact, Candidate } from '../../domain/audience/candidate.ts';
import type { Consent } from '../../domain/contacts/consent.ts';
import { type PhoneNumber, normalisePhoneNumber } from '../../domain/phone-number.ts';
import { heldBack, hopelessReasons } from '../../domain/sending/provider-error.ts';
import type { CustomFields } from '../../domain/templates/recipient-variables.ts';
import { customFieldsNamed } from '../contacts/contacts.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { readByCursor, storedNumber, toQuery, type Query } from './audience-sources.ts';

type FailedRow = readonly [
  phoneNumber: string | null,
  country: string,
  variables: readonly string[] | null,
  contactId: string | null,
  contactNumber: string | null,
  countryCode: string | null,
  contactCountry: string | null,
  firstName: string | null,
  lastName: string | null,
  email: string | null,
  consent: Consent | null,
  deleted: boolean,
  rests: boolean,
  hopeless: string | null,
  customFields: CustomFields | null,
];

export interface FailedAudience {
  readonly campaignId: string;
  /** Empty: all FAILED recipients, those without a chance to be left out. UNKNOWN recipients are included only if OUTCOME_UNKNOWN is one of the reasons. */
  readonly reasons: readonly string[];
  /** The custom fields to read. */
  readonly customFields?: readonly string[];
}

const outcomeUnknown = 'OUTCOME_UNKNOWN';

/** The recipients of an earlier campaign that failed, in its order, with their contacts as they are now. */
export function failedQuery({ campaignId, reasons, customFields = [] }: FailedAudience): Query {
  return toQuery(
    sql.fragment`
      SELECT recipient.phone_number, recipient.country, recipient.variables, recipient.contact_id,
        contact.phone_number, contact.country_code, contact.country, contact.first_name, contact.last_name,
        contact.email, contact.consent, contact.deleted_at IS NOT NULL,
        recipient.reason = ${heldBack} AND recipient.updated_at > now() - interval '24 hours',
        -- Another number is another chance.
        CASE WHEN ${reasons.length === 0} AND recipient.reason = ANY(${sql.array(hopelessReasons, 'text')})
          AND COALESCE(contact.phone_number, recipient.phone_number) IS NOT DISTINCT FROM recipient.phone_number THEN recipient.reason END,
        ${customFieldsNamed(customFields)}
      FROM recipient
      JOIN campaign ON campaign.id = recipient.campaign_id
      LEFT JOIN contact ON contact.workspace_id = campaign.workspace_id AND contact.id = recipient.contact_id
      WHERE recipient.campaign_id = ${campaignId} AND recipient.sendable AND recipient.reason IS NOT NULL
        AND ((recipient.state = 'FAILED' AND (${reasons.length === 0} OR recipient.reason = ANY(${sql.array(reasons, 'text')})))
          OR (recipient.state = 'UNKNOWN' AND ${reasons.includes(outcomeUnknown)}))
      ORDER BY recipient.campaign_id, recipient.position`,
    customFields,
  );
}

/** Reads the rows of `failedQuery`. `keepVariables`: the values that the campaign stored for its recipients are used again. */
export async function* readFailedRecipients(
  databaseUrl: string,
  query: Query,
  keepVariables: boolean,
): AsyncGenerator<readonly Candidate[]> {
  for await (const batch of readByCursor<FailedRow>(databaseUrl, query)) {
    yield batch.map((found) => candidateOfFailed(found, keepVariables));
  }
}

function candidateOfFailed(found: FailedRow, keepVariables: boolean): Candidate {
  const [
    phoneNumber,
    country,
    variables,
    contactId,
    contactNumber,
    countryCode,
    contactCountry,
    firstName,
    lastName,
    email,
    consent,
    deleted,
    rests,
    hopeless,
    customFields,
  ] = found;
  const contact: AudienceContact | null =
    contactId === null || consent === null
      ? null
      : {
          id: contactId,
          firstName: firstName ?? '',
          lastName: lastName ?? '',
          email: email ?? '',
          consent,
          customFields,
        };
  return {
    line: null,
    given: '',
    // The contact may have a new number, or the present form of the old one.
    phone:
      contactNumber === null
        ? numberOfRecipient(phoneNumber, country)
        : storedNumber(contactNumber, countryCode ?? '', contactCountry ?? ''),
    contact,
    deleted,
    rests,
    hopeless,
    ...(keepVariables && { frozen: variables ?? [] }),
  };
}

/** The number to which the earlier campaign sent. */
function numberOfRecipient(phoneNumber: string | null, country: string): PhoneNumber {
  const number = phoneNumber === null ? undefined : normalisePhoneNumber(`+${phoneNumber}`);
  return storedNumber(
    phoneNumber ?? '',
    number?.digits === phoneNumber ? (number?.countryCode ?? '') : '',
    country,
  );
}

const Resendable = t.type({
  id: t.string,
  template_id: t.string,
  message_plan: t.unknown,
  contacts_read_at: nullable(timestamp),
  archived: t.boolean,
});
export type ResendableCampaign = t.TypeOf<typeof Resendable>;

/** Finds the campaign whose failed recipients get the message again; undefined if it belongs to another workspace. */
export async function findResendableCampaign(
  connection: Connection,
  workspaceId: number,
  campaignId: string,
): Promise<ResendableCampaign | undefined> {
  const found = await connection.maybeOne(sql.type(row(Resendable))`
    SELECT id, template_id, message_plan, contacts_read_at, archived_at IS NOT NULL AS archived
    FROM campaign WHERE workspace_id = ${workspaceId} AND id = ${campaignId}`);
  return found ?? undefined;
}
