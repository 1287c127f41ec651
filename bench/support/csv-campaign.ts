/** A campaign that waits for its preparation from a CSV file of any size, in the file storage of `dataDir`. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import type { SecretBox } from '../../src/secrets.ts';
import { seedRunningCampaign, type Seeded } from './seed.ts';

const rowsPerChunk = 10_000;

function* chunks(rows: number): Generator<string> {
  yield 'phone,country,name\n';
  for (let at = 0; at < rows; at += rowsPerChunk) {
    const size = Math.min(rowsPerChunk, rows - at);
    yield Array.from({ length: size }, (_, i) => `+49151${10_000_000 + at + i},49,Ada ${at + i}\n`).join('');
  }
}

export async function seedCsvCampaign(
  client: pg.Client,
  secrets: SecretBox,
  {
    rows,
    dataDir,
    messagesPerSecond = 80,
  }: { readonly rows: number; readonly dataDir: string; readonly messagesPerSecond?: number },
): Promise<Seeded> {
  const key = `${randomUUID()}.csv`;
  await mkdir(join(dataDir, 'files'), { recursive: true });
  await pipeline(Readable.from(chunks(rows)), createWriteStream(join(dataDir, 'files', key)));
  const seeded = await seedRunningCampaign(client, secrets, { recipients: 0, messagesPerSecond });
  const audience = {
    csv_file_key: key,
    csv_mapping: { phone_column: 0, country_code_column: 1, name_column: 2, custom_field_mapping: {} },
  };
  await client.query(
    `UPDATE campaign SET status = 'DRAFT', preparation_status = 'PREPARING', contact_selection_type = 'csv_contacts',
       message_plan = NULL, started_at = NULL, audience = $2, variable_mapping = '{"body":{"1":"name_column"}}'
     WHERE id = $1`,
    [seeded.campaignId, audience],
  );
  await client.query(
    `UPDATE template SET components = '[{"type":"BODY","text":"Hi {{1}}"}]'
     WHERE id = (SELECT template_id FROM campaign WHERE id = $1)`,
    [seeded.campaignId],
  );
  return seeded;
}
