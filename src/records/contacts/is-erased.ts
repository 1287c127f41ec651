import { sql, type FragmentSqlToken } from 'slonik';

interface PersonColumns {
  readonly phoneNumber: FragmentSqlToken;
  readonly workspaceId: FragmentSqlToken;
  readonly contactId: FragmentSqlToken;
}

/**
 * A condition on messages and recipients of an erased person: ids of the provider, which contain the number, are not stored any
 * more. Only a row without a number can be one; the others need no lookup. No EXISTS, for which Postgres may read all contacts.
 */
export const isErased = ({ phoneNumber, workspaceId, contactId }: PersonColumns): FragmentSqlToken =>
  sql.fragment`CASE WHEN ${phoneNumber} IS NULL THEN (SELECT erased_at FROM contact
    WHERE contact.workspace_id = ${workspaceId} AND contact.id = ${contactId}) IS NOT NULL ELSE false END`;
