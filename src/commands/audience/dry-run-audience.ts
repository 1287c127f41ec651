/** Dry run of a preparation: counts the recipients that would be sent to or skipped, and writes nothing. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AudienceRules, Candidate, NewRecipient } from '../../domain/audience/candidate.ts';
import type { CsvMapping } from '../../domain/audience/csv.ts';
import { type PlainNumber, plainNumber, probableCountry } from '../../domain/audience/probable-country.ts';
import type { WorkspaceCap } from '../../domain/campaigns/frequency-cap.ts';
import { changedContact, newContact } from '../../domain/audience/audience-contact.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { FieldProblem } from '../../domain/error.ts';
import { countryName } from '../../domain/phone-number.ts';
import { findKnownContacts } from '../../records/audience/audience-sources.ts';
import { findContactsOverCap } from '../../records/contacts/frequency-cap.ts';
import { findOptedOut } from '../contacts/opted-out-numbers.ts';
import { buildRecipients } from './build-recipients.ts';
import { findStopped, type Pages } from './candidates.ts';

type DryRunner = Pick<Dependencies, 'database' | 'secrets'>;

export interface AudienceEstimate {
  readonly rowsRead: number;
  /** False if reading stopped at a row or time limit, so that the audience may have more rows. */
  readonly isWhole: boolean;
  readonly sendable: number;
  readonly skipped: Readonly<Record<string, number>>;
  /** Sendable recipients by ISO 3166 alpha-2 code; '' for numbers without a country. */
  readonly countries: ReadonlyMap<string, number>;
  /** Of the sendable ones: numbers in ranges that are not known to be in use. */
  readonly unverified: Readonly<Record<string, number>>;
  /** The first numbers that name no country. */
  readonly plainNumbers: readonly PlainNumber[];
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
  /** Opens the audience; called twice if a column of a CSV says who opted out. */
  readonly open: () => Pages | Promise<Pages>;
  readonly rules: AudienceRules;
  /** The frequency cap that the campaign has to keep. */
  readonly cap?: WorkspaceCap | undefined;
  /** True if the audience is given as phone numbers, whose contacts are then looked up. */
  readonly byNumber: boolean;
  readonly mapping?: CsvMapping | undefined;
  readonly mostRows: number;
  readonly mostMs: number;
  /** True to return the skipped rows, which then stay in memory. */
  readonly keepsSkipped?: boolean;
}

const shown = 10;
export const mostPlainNumbers = 1_000;

export async function dryRunAudience(
  dependencies: DryRunner,
  request: DryRunRequest,
): Promise<AudienceEstimate> {
  const { workspaceId, byNumber, mapping, cap } = request;
  const countryColumn = countryColumnOf(mapping);
  const skipped: Record<string, number> = {};
  const skippedRows: NewRecipient[] = [];
  const countries = new Map<string, number>();
  const unverified: Record<string, number> = {};
  const plainNumbers: PlainNumber[] = [];
  const candidates: Candidate[] = [];
  const recipients: NewRecipient[] = [];
  let rowsRead = 0;
  let isWhole = true;
  let sendable = 0;
  const endsAt = performance.now() + request.mostMs;
  const stopped = await findStopped(mapping, request.rules, request.open, {
    rows: request.mostRows,
    endsAt: endsAt - request.mostMs / 2,
  });
  const rules = { ...request.rules, stopped };
  const batches = await request.open();

  async function* limited(): AsyncGenerator<readonly Candidate[]> {
    for await (const batch of batches) {
      const taken = batch.slice(0, request.mostRows - rowsRead);
      rowsRead += taken.length;
      candidates.push(...taken.slice(0, shown - candidates.length));
      if (byNumber) {
        for (const candidate of taken.slice(0, mostPlainNumbers - plainNumbers.length)) {
          const plain = plainNumber(candidate, countryColumn);
          if (plain !== undefined) plainNumbers.push(plain);
        }
      }
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
            if (phone?.isUnverified === true) unverified[country] = (unverified[country] ?? 0) + 1;
          }
        }
      },
    },
    contacts: byNumber ? contactsOf(dependencies, workspaceId, rules.customFields) : undefined,
    findOverCap: cap && ((ids) => findContactsOverCap(dependencies.database, cap, ids)),
    checkpoint: () => undefined,
  });
  const first = candidates.flatMap((candidate, at) => {
    const recipient = recipients[at];
    return recipient === undefined ? [] : [{ candidate, recipient }];
  });
  return {
    rowsRead,
    isWhole,
    sendable,
    skipped,
    countries,
    unverified,
    plainNumbers,
    first,
    skippedRows,
  };
}

/** Undefined if the mapping names no column of countries. */
const countryColumnOf = (mapping: CsvMapping | undefined): number | undefined =>
  mapping === undefined || mapping.country_code_column === mapping.phone_column
    ? undefined
    : mapping.country_code_column;

/** Warns of numbers that are sent to and may be wrong. `likely` are countries from which the numbers probably are. */
export function numberWarnings(
  { unverified, plainNumbers }: Pick<AudienceEstimate, 'unverified' | 'plainNumbers'>,
  kind: 'csv_contacts' | 'quick_contacts',
  likely: readonly string[],
): readonly FieldProblem[] {
  const [phoneField, countryField] =
    kind === 'csv_contacts'
      ? ['csv_mapping.phone_column', 'csv_mapping.default_country']
      : ['quick_contacts', 'default_country'];
  const ranges = Object.entries(unverified).map(([country, count]) => `${countryName(country)} ${count}`);
  const meant = probableCountry(plainNumbers, likely);
  return [
    ...(ranges.length === 0
      ? []
      : [
          {
            field: phoneField,
            message: `Numbers in ranges that are not known to be in use are sent to: ${ranges.join(', ')}`,
          },
        ]),
    ...(meant === undefined ? [] : [{ field: countryField, message: meant }]),
  ];
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
