/**
 * Loads the contacts of an audience that is given by phone numbers: looks them up in bulk, inserts unknown ones, restores
 * soft-deleted ones, fills empty fields and writes the events of these changes. Uses a transaction of its own beside that of
 * the recipients, so that both are written in parallel, and commits just before it.
 */
import type { AudienceContact } from '../../domain/audience/candidate.ts';
import {
  changedContact,
  newContact,
  type ChangedContact,
  type KnownContact,
  type NewAudienceContact,
  type Reachable,
} from '../../domain/audience/audience-contact.ts';
import { createContactWriter } from './contact-writer.ts';
import { openLoadConnection, type LoadConnection } from '../database/load-connection.ts';
import { createUuidV7Generator, formatUuid } from '../database/uuid-v7.ts';

export interface FoundContacts {
  /** By the digits of their numbers. */
  readonly known: ReadonlyMap<string, KnownContact>;
  /** Numbers of erased people who had opted out: a new contact with such a number stays opted out. */
  readonly optedOut: ReadonlySet<string>;
}

export interface ContactLoad {
  /** Postgres' time at the beginning of the transaction: `updated_at` of every contact that it writes. */
  readonly startedAt: Date;
  readonly find: (candidates: readonly Reachable[]) => Promise<FoundContacts>;
  /**
   * Returns each candidate's contact, in order, with the fields of the input. `written` resolves when the writer accepts
   * more.
   */
  readonly register: (
    candidates: readonly Reachable[],
    found: FoundContacts,
  ) => { readonly contacts: readonly AudienceContact[]; readonly written: Promise<void> };
  /** Resolves when every registered contact is written. */
  readonly flush: () => Promise<void>;
  readonly commit: () => Promise<void>;
  readonly destroy: () => void;
}

export interface ContactLoadOptions {
  readonly workspaceId: number;
  readonly source: 'csv_import' | 'quick_contacts';
  readonly subscribedKeys: ReadonlySet<string>;
  readonly findOptedOut: (numbers: readonly string[]) => Promise<FoundContacts['optedOut']>;
}

export async function openContactLoad(
  databaseUrl: string,
  options: ContactLoadOptions,
): Promise<ContactLoad> {
  const connection = await openLoadConnection(databaseUrl, 'prepare-contacts');
  try {
    const [[startedAt, isEmpty] = [new Date(0), false]] = await connection.rows<[Date, boolean]>(
      'SELECT now(), NOT EXISTS (SELECT FROM contact WHERE workspace_id = $1)',
      [options.workspaceId],
    );
    return contactLoad(connection, { ...options, startedAt, isEmpty });
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

type KnownRow = readonly [
  phone: string,
  id: string,
  firstName: string,
  lastName: string,
  email: string,
  subscribed: boolean,
  deleted: boolean,
  customFields: Readonly<Record<string, unknown>>,
];

interface LoadContext extends ContactLoadOptions {
  /** Postgres' time at the beginning of the transaction. */
  readonly startedAt: Date;
  /** The workspace had no contacts at `startedAt`: lookups are skipped; a conflict reveals a contact inserted since. */
  readonly isEmpty: boolean;
}

// One index lookup per number: the planner may turn a plain join into a scan of all contacts for every batch.
const lookUpStatement = `
  SELECT known.* FROM unnest(string_to_array($2, ',')) AS given (phone_number)
  CROSS JOIN LATERAL (
    SELECT phone_number, id, first_name, last_name, email, subscribed, deleted_at IS NOT NULL, custom_fields
    FROM contact WHERE contact.workspace_id = $1 AND contact.phone_number = given.phone_number
    LIMIT 1
  ) AS known`;

function contactLoad(connection: LoadConnection, context: LoadContext): ContactLoad {
  const { workspaceId } = context;
  const newId = createUuidV7Generator(context.startedAt);
  const writer = createContactWriter(connection, context);

  return {
    startedAt: context.startedAt,
    destroy: connection.destroy,
    async find(candidates) {
      const numbers = candidates.map(({ phone }) => phone.digits);
      const rows = context.isEmpty
        ? []
        : await connection.rows<KnownRow>(lookUpStatement, [workspaceId, numbers.join(',')]);
      const known = new Map(rows.map((row) => [row[0], knownContact(row)]));
      return { known, optedOut: await context.findOptedOut(numbers) };
    },
    register(candidates, { known, optedOut }) {
      const contacts: AudienceContact[] = [];
      const created: NewAudienceContact[] = [];
      const changed: ChangedContact[] = [];
      for (const candidate of candidates) {
        const present = known.size === 0 ? undefined : known.get(candidate.phone.digits);
        if (present === undefined) {
          const contact = newContact(candidate, {
            id: formatUuid(newId()),
            subscribed: !optedOut.has(candidate.phone.digits),
          });
          created.push(contact);
          contacts.push(contact);
        } else {
          const contact = changedContact(candidate, present);
          if (contact !== undefined) changed.push(contact);
          contacts.push(contact ?? present);
        }
      }
      const written = writer.write({ created, changed });
      // The caller that awaits `written` gets the failure; until then Node must not count it as unhandled.
      written.catch(() => undefined);
      return { contacts, written };
    },
    flush: writer.flush,
    commit: connection.commit,
  };
}

function knownContact([
  ,
  id,
  firstName,
  lastName,
  email,
  subscribed,
  deleted,
  customFields,
]: KnownRow): KnownContact {
  return { id, firstName, lastName, email, subscribed, deleted, customFields };
}
