/** Counts the messages that a contact got lately, for the frequency cap of its workspace. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { openStatuses } from '../../domain/campaigns/campaign.ts';
import type { WorkspaceCap } from '../../domain/campaigns/frequency-cap.ts';
import type { Connection } from '../database/database.ts';
import { claimPatience } from '../database/lock-patience.ts';
import { nothing, row } from '../database/row.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** A message that was refused, failed, or is still to be sent does not count; one whose outcome is unknown may have arrived. */
const counted = sql.array(['CLAIMED', 'ACCEPTED', 'SENT', 'DELIVERED', 'READ', 'UNKNOWN'], 'text');

/**
 * True for a contact that has got as many messages as the cap allows. The campaigns that may have sent lately are found once for
 * the statement; in each the contact is looked up by the index `recipient_contact`. Outcomes of the last messages may be recorded
 * after the campaign has ended, hence the hour.
 */
export function isOverCap(
  { workspaceId, messages, days, categories }: WorkspaceCap,
  contactId: Fragment,
): Fragment {
  const since = sql.fragment`now() - make_interval(days => ${days}::int)`;
  const ofCategories = sql.fragment`ANY(${sql.array([...categories], 'text')})`;
  return sql.fragment`((SELECT count(*) FROM (
    (SELECT FROM recipient WHERE recipient.contact_id = ${contactId} AND recipient.sendable
      AND recipient.campaign_id = ANY(ARRAY(
        SELECT past.id FROM campaign AS past JOIN template ON template.id = past.template_id
        WHERE past.workspace_id = ${workspaceId} AND template.category = ${ofCategories}
          AND past.started_at IS NOT NULL AND (past.status = ANY(${sql.array([...openStatuses], 'text')})
            OR coalesce(past.completed_at, past.updated_at) > ${since} - interval '1 hour')))
      AND recipient.state = ANY(${counted})
      AND coalesce(recipient.accepted_at, recipient.updated_at) > ${since} LIMIT ${messages})
    UNION ALL
    (SELECT FROM message WHERE message.contact_id = ${contactId} AND message.direction = 'outbound'
      AND message.created_at > ${since} AND message.state = ANY(${counted})
      AND (SELECT category FROM template WHERE template.id = message.template_id) = ${ofCategories} LIMIT ${messages})
  ) AS received) >= ${messages})`;
}

/**
 * Takes the workspace's advisory lock until the transaction ends, with the patience of a claim. To be called before any row is
 * locked, and in a statement before the one that counts: only then does that one see what the previous claim took.
 */
export async function lockCap(transaction: Connection, { workspaceId }: WorkspaceCap): Promise<void> {
  await transaction.query(sql.type(nothing)`
    SELECT pg_advisory_xact_lock(hashtextextended('frequency cap ' || ${workspaceId}::int4::text, 0))
    FROM (SELECT ${claimPatience} AS patience OFFSET 0) AS patience`);
}

const ContactId = row(t.type({ id: t.string }));

/** Those of the contacts that have got as many messages as the cap allows. */
export async function findContactsOverCap(
  connection: Connection,
  cap: WorkspaceCap,
  contactIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await connection.anyFirst(sql.type(ContactId)`
    SELECT wanted.id FROM unnest(${sql.array(contactIds, 'uuid')}) AS wanted (id)
    WHERE ${isOverCap(cap, sql.fragment`wanted.id`)}`);
  return new Set(found);
}
