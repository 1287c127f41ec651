/** Dry run of a preparation: counts the recipients that would be sent to or skipped, and writes nothing. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AudienceRules, Candidate, NewRecipient } from '../../domain/audience/candidate.ts';
import { changedContact, newContact } from '../../domain/audience/audience-contact.ts';
import type { Dependencies } from '../../dependencies.ts';
import { findKnownContacts } from '../../records/audience/audience-sources.ts';
import { findOptedOut } from '../contacts/opted-out-numbers.ts';
import { buildRecipients } from './build-recipients.ts';

type DryRunner = Pick<Dependencies, 'database' | 'secrets'>;

export interface AudienceEstimate {
  readonly rowsRead: number;
  /** False if reading stopped at a row or time limit, so that the audience may have more rows. */
  readonly isWhole: boolean;
  readonly sendable: number;
  readonly skipped: Readonly<Record<string, number>>;
  /** Sendable recipients by ISO 3166 alpha-2 code; '' for numbers without a country. */
  readonly countries: ReadonlyMap<string, number>;
  /** The first rows, each as given and as the recipient that would be written. */
  readonly first: readonly TriedRow[];
  /** Every row that would be skipped; empty unless `keepsSkipped`. */
  readonly skippedRows: readonly NewRecipient[];
}

export interface TriedRow {
  readonly candidate: Candidate;
  readonly recipient: NewRecipient;
}

export interface DryRunRequest {
  readonly workspaceId: number;
  readonly batches: AsyncIterable<readonly Candidate[]> | Iterable<readonly Candidate[]>;
  readonly rules: AudienceRules;
  /** True if the audience is given as phone numbers, whose contacts are then looked up. */
  readonly byNumber: boolean;
  readonly mostRows: number;
  readonly mostMs: number;
  /** True to return the skipped rows, which then stay in memory. */
  readonly keepsSkipped?: boolean;
}

const shown = 10;

export async function dryRunAudience(
  dependencies: DryRunner,
  request: DryRunRequest,
): Promise<AudienceEstimate> {
  const { workspaceId, rules, byNumber } = request;
  const skipped: Record<string, number> = {};
  const skippedRows: NewRecipient[] = [];
  const countries = new Map<string, number>();
  const candidates: Candidate[] = [];
  const recipients: NewRecipient[] = [];
  let rowsRead = 0;
  let isWhole = true;
  let sendable = 0;
  const endsAt = performance.now() + request.mostMs;

  async function* limited(): AsyncGenerator<readonly Candidate[]> {
    for await (const batch of request.batches) {
      const taken = batch.slice(0, request.mostRows - rowsRead);
      rowsRead += taken.length;
      candidates.push(...taken.slice(0, shown - candidates.length));
      yield taken;
      // A batch without a valid number awaits no query, so it yields to the event loop here to let other requests run.
      await nextTurn();
      isWhole = taken.length === batch.length;
      if (!isWhole || performance.now() > endsAt) {
        isWhole = false;
        return;
      }
    }
  }

  await buildRecipients({
    batches: limited(),
    rules,
    recipients: {
      write: async (written) => {
        for (const recipient of written) {
          const { skip, phone } = recipient;
          if (recipients.length < shown) recipients.push(recipient);
          if (skip !== undefined) {
            skipped[skip.reason] = (skipped[skip.reason] ?? 0) + 1;
            if (request.keepsSkipped === true) skippedRows.push(recipient);
          } else {
            sendable += 1;
            const country = phone?.country ?? '';
            countries.set(country, (countries.get(country) ?? 0) + 1);
          }
        }
      },
    },
    contacts: byNumber ? contactsOf(dependencies, workspaceId, rules.customFields) : undefined,
    checkpoint: () => undefined,
  });
  const first = candidates.flatMap((candidate, at) => {
    const recipient = recipients[at];
    return recipient === undefined ? [] : [{ candidate, recipient }];
  });
  return { rowsRead, isWhole, sendable, skipped, countries, first, skippedRows };
}

function contactsOf(
  { database, secrets }: DryRunner,
  workspaceId: number,
  customFields: readonly string[] = [],
): Parameters<typeof buildRecipients>[0]['contacts'] {
  return {
    async find(candidates) {
      const numbers = candidates.map(({ phone }) => phone.digits);
      const known = await findKnownContacts(database, workspaceId, numbers, customFields);
      return { known, optedOut: await findOptedOut({ secrets }, database, workspaceId, numbers) };
    },
    register: (candidates, { known, optedOut }) => ({
      contacts: candidates.map((candidate) => {
        const present = known.get(candidate.phone.digits);
        return present === undefined
          ? newContact(candidate, { id: '', consent: optedOut.get(candidate.phone.digits) ?? 'all' })
          : (changedContact(candidate, present) ?? present);
      }),
      written: Promise.resolve(),
    }),
    flush: async () => undefined,
  };
}
