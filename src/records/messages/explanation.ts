/** Why a person was written to: when a message left, for what, at what price, and what the person had agreed to at that time. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { oneOf } from '../../codecs/struct.ts';
import { settlements } from '../../domain/wallet/settlement.ts';
import type { ConsentEntry } from '../contacts/consents.ts';
import { listConsents } from '../contacts/consents.ts';
import type { Connection } from '../database/database.ts';
import { nullable, row, timestamp } from '../database/row.ts';
import { firstIdAt } from '../database/uuid-v7.ts';

const Explanation = t.type({
  contactId: nullable(t.string),
  campaignId: nullable(t.string),
  campaignName: nullable(t.string),
  templateId: nullable(t.string),
  templateName: nullable(t.string),
  templateLanguage: nullable(t.string),
  templateCategory: nullable(t.string),
  price: t.bigint,
  settlement: oneOf(settlements),
  currency: nullable(t.string),
  acceptedAt: nullable(timestamp),
  sentAt: nullable(timestamp),
  deliveredAt: nullable(timestamp),
  readAt: nullable(timestamp),
  /** When it left, as far as that is known. */
  leftAt: nullable(timestamp),
});
export type Explanation = t.TypeOf<typeof Explanation>;

const shared = (message: ReturnType<typeof sql.fragment>) => sql.fragment`
  campaign.id AS "campaignId", campaign.name AS "campaignName", template.id AS "templateId", template.name AS "templateName",
  template.language AS "templateLanguage", template.category AS "templateCategory", ${message}.price, ${message}.settlement`;

/** Of a message that `getMessage` finds; undefined otherwise. */
export async function findExplanation(
  connection: Connection,
  workspaceId: number,
  messageId: string,
): Promise<Explanation | undefined> {
  const found = await connection.maybeOne(sql.type(row(Explanation))`
    SELECT message.contact_id AS "contactId", ${shared(sql.fragment`message`)},
      (SELECT currency FROM wallet WHERE wallet.channel_id = message.channel_id) AS currency,
      NULL::timestamptz AS "acceptedAt", NULL::timestamptz AS "sentAt", NULL::timestamptz AS "deliveredAt",
      NULL::timestamptz AS "readAt", CASE WHEN direction = 'outbound' THEN message.created_at END AS "leftAt"
    FROM message LEFT JOIN campaign ON campaign.id = message.campaign_id LEFT JOIN template ON template.id = message.template_id
    WHERE message.id = ${messageId} AND message.workspace_id = ${workspaceId}
    UNION ALL
    SELECT recipient.contact_id, ${shared(sql.fragment`recipient`)},
      (SELECT currency FROM wallet WHERE wallet.channel_id = campaign.channel_id),
      accepted_at, recipient.sent_at, recipient.delivered_at, recipient.read_at,
      COALESCE(accepted_at, recipient.sent_at, recipient.delivered_at, recipient.read_at)
    FROM recipient JOIN campaign ON campaign.id = recipient.campaign_id LEFT JOIN template ON template.id = campaign.template_id
    WHERE recipient.id = ${messageId} AND recipient.sendable AND campaign.workspace_id = ${workspaceId}`);
  return found ?? undefined;
}

/** The latest entry of the contact that had been recorded by then: it was in force. */
export async function findConsentInForce(
  connection: Connection,
  {
    workspaceId,
    contactId,
    at,
  }: { readonly workspaceId: number; readonly contactId: string; readonly at: Date },
): Promise<ConsentEntry | undefined> {
  const person = { workspaceId, contactId };
  const [entry] = await listConsents(connection, person, { after: firstIdAt(at), limit: 0 });
  return entry;
}
