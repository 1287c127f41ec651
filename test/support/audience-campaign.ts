/** A workspace with a channel and a template, and campaigns that wait for their preparation. */
import { randomBytes } from 'node:crypto';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { createChannel } from '../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import type { ContactSelectionType } from '../../src/domain/campaigns/campaign.ts';
import type { Database } from '../../src/records/database/database.ts';
import { insertCampaign } from '../../src/records/campaigns/creation.ts';
import { row } from '../../src/records/database/row.ts';
import { testSecrets } from './campaign-factory.ts';

const unique = (prefix: string) => `${prefix}-${randomBytes(6).toString('hex')}`;
const Id = row(t.type({ id: t.string }));

export interface Sender {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly businessAccountId: string;
  readonly templateId: string;
}

/** The template's body takes as many variables as the text has. */
export async function aSender(database: Database, bodyText = 'Welcome!'): Promise<Sender> {
  const { workspaceId } = await createWorkspace({ database }, { name: 'Acme' });
  const businessAccountId = unique('account');
  const { channelId } = await createChannel(
    { database, secrets: testSecrets },
    {
      workspaceId,
      phoneNumberId: unique('phone'),
      displayPhoneNumber: '+49 30 901820',
      businessAccountId,
      accessToken: 'token-of-the-channel',
    },
  );
  const templateId = await aTemplate(database, { workspaceId, businessAccountId, bodyText });
  return { workspaceId, channelId, businessAccountId, templateId };
}

export async function aTemplate(
  database: Database,
  {
    workspaceId,
    businessAccountId,
    bodyText = 'Welcome!',
    status = 'APPROVED',
  }: { workspaceId: number; businessAccountId: string; bodyText?: string; status?: string },
): Promise<string> {
  return database.oneFirst(sql.type(Id)`
    INSERT INTO template (workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${workspaceId}, ${businessAccountId}, ${unique('template')}, 'welcome', 'en', 'MARKETING', ${status},
      ${JSON.stringify([{ type: 'BODY', text: bodyText }])}::jsonb)
    RETURNING id`);
}

export interface CampaignOptions {
  readonly selectionType?: ContactSelectionType;
  readonly audience?: unknown;
  readonly variableMapping?: unknown;
  /** The inline CSV, or the JSON of quick contacts. */
  readonly content?: string;
}

/** A campaign that waits for its preparation. */
export async function aCampaignToPrepare(
  database: Database,
  sender: Sender,
  { selectionType = 'csv_contacts', audience = {}, variableMapping = null, content }: CampaignOptions,
): Promise<string> {
  const { id } = await insertCampaign(database, {
    ...sender,
    name: 'Spring offer',
    description: null,
    selectionType,
    audience,
    variableMapping,
    sendType: 'IMMEDIATE',
    scheduledAt: null,
    status: 'DRAFT',
    createdBy: 'test',
    input: content === undefined ? undefined : Buffer.from(content),
  });
  return id;
}
