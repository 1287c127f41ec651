/** The input of `bench -- prepare`: a CSV file of numbers, and a campaign that waits for its preparation. */
import type pg from 'pg';
import { createSecretBox } from '../../src/secrets.ts';
import { benchSecretsKey } from './bench-config.ts';
import { seedRunningCampaign } from './seed.ts';

export const fileKey = 'contacts.csv';

interface List {
  readonly recipients: number;
  readonly isShuffled: boolean;
  readonly areQuoted: boolean;
  /** Every number is written with a zero in brackets and spaces. */
  readonly needsFixUp: boolean;
  /** Three of ten numbers are too short. */
  readonly hasRefused: boolean;
}

const isRefused = (row: number): boolean => row % 10 < 3;

/** How many rows of the list become recipients that can be sent to. */
export const sendableOf = ({ recipients, hasRefused }: Pick<List, 'recipients' | 'hasRefused'>): number =>
  hasRefused ? recipients - 3 * Math.floor(recipients / 10) - Math.min(3, recipients % 10) : recipients;

/** The CSV file, ten thousand rows per chunk. */
export function* csvChunks({
  recipients,
  isShuffled,
  areQuoted,
  needsFixUp,
  hasRefused,
}: List): Generator<string> {
  const quote = areQuoted ? '"' : '';
  const prefix = needsFixUp ? '+49 (0)151 ' : '+49151';
  const rowsPerChunk = 10_000;
  yield 'phone,country,name,email,city\n';
  for (let at = 0; at < recipients; at += rowsPerChunk) {
    let chunk = '';
    for (let i = at; i < Math.min(at + rowsPerChunk, recipients); i += 1) {
      const number = isShuffled ? (i * 7_919) % recipients : i;
      const digits = hasRefused && isRefused(i) ? '1234' : String(10_000_000 + number);
      chunk += `${prefix}${digits},49,${quote}Ada ${i}${quote},a${i}@example.org,Köln\n`;
    }
    yield chunk;
  }
}

export type AudienceKind = 'csv_contacts' | 'all_contacts' | 'segmented';

export interface PreparedCase {
  readonly kind: AudienceKind;
  /** Connected as the owner of the tables. */
  readonly client: pg.Client;
  readonly recipients: number;
  /** Names, e-mail and a custom field are stored with the contacts. */
  readonly isMapped: boolean;
  /** The contacts exist before the preparation. */
  readonly areKnown: boolean;
}

async function insertSegment(client: pg.Client, campaignId: string): Promise<string> {
  const conditions = [{ field: 'countryCode', operator: 'eq', value: '49' }];
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO segment (workspace_id, name, match, conditions)
     SELECT workspace_id, 'bench', 'all', $2 FROM campaign WHERE id = $1 RETURNING id`,
    [campaignId, JSON.stringify(conditions)],
  );
  return rows[0]?.id ?? '';
}

/** Empties `contact` and `recipient`, then creates a campaign that waits for its preparation. Returns its id. */
export async function seedUnpreparedCampaign({
  client,
  kind,
  recipients,
  isMapped,
  areKnown,
}: PreparedCase): Promise<string> {
  const secrets = createSecretBox([benchSecretsKey]);
  const { campaignId } = await seedRunningCampaign(client, secrets, { recipients: 0, messagesPerSecond: 80 });
  const mapped = { name_column: 2, email_column: 3, custom_field_mapping: { city: 4 } };
  const csvAudience = {
    csv_file_key: fileKey,
    csv_mapping: {
      phone_column: 0,
      country_code_column: 1,
      ...(isMapped ? mapped : { custom_field_mapping: {} }),
    },
  };
  const audience = {
    csv_contacts: csvAudience,
    all_contacts: {},
    segmented: kind === 'segmented' ? { segments: [await insertSegment(client, campaignId)] } : {},
  }[kind];
  const variable = isMapped ? 'name_column' : 'phoneNumber';
  await client.query('TRUNCATE recipient, contact CASCADE');
  await client.query(
    `UPDATE template SET components = '[{"type":"BODY","text":"Hi {{1}}"}]'
     WHERE id = (SELECT template_id FROM campaign WHERE id = $1)`,
    [campaignId],
  );
  await client.query(
    `UPDATE campaign SET status = 'DRAFT', preparation_status = 'PREPARING', contact_selection_type = $4,
       message_plan = NULL, started_at = NULL, audience = $2, variable_mapping = $3 WHERE id = $1`,
    [campaignId, audience, { body: { 1: variable } }, kind],
  );
  if (areKnown || kind !== 'csv_contacts') {
    await client.query(
      `INSERT INTO contact (workspace_id, phone_number, country_code, country, source)
       SELECT workspace_id, '49151' || (10000000 + n), '49', 'DE', 'csv_import'
       FROM campaign, generate_series(0, $2::int - 1) AS n WHERE id = $1`,
      [campaignId, recipients],
    );
    await client.query('ANALYZE contact');
  }
  await client.query('CHECKPOINT');
  return campaignId;
}
