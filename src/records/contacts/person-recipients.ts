/** Finds the recipients of one person. */
import { sql, type FragmentSqlToken } from 'slonik';

interface Person {
  readonly workspaceId: number;
  readonly contactId: string;
  /** A condition on recipients that have a number. */
  readonly isTheirs: FragmentSqlToken;
}

/**
 * A query of recipient ids. OFFSET 0 keeps one lookup per campaign: a join may read all recipients. The callers compare ids with
 * an array for the same reason.
 */
export const recipientsOf = ({ workspaceId, contactId, isTheirs }: Person): FragmentSqlToken => sql.fragment`
  SELECT found.id FROM campaign CROSS JOIN LATERAL (
    SELECT id FROM recipient WHERE campaign_id = campaign.id AND sendable AND ${isTheirs} OFFSET 0
  ) AS found
  WHERE campaign.workspace_id = ${workspaceId}
  UNION
  SELECT id FROM recipient WHERE contact_id = ${contactId} AND NOT sendable
  UNION
  SELECT id FROM recipient WHERE contact_id = ${contactId} AND sendable AND phone_number IS NULL`;
