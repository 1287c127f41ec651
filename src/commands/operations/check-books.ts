/** Compares counters with rows, ledgers with balances, and reservations with messages. */
import { isFinished } from '../../domain/campaigns/campaign.ts';
import { formatAmount } from '../../domain/money.ts';
import {
  listCampaignIds,
  listOpenCampaigns,
  readCampaignBooks,
  type Batch,
  type CampaignBooks,
} from '../../records/operations/doctor-campaigns.ts';
import { recountCampaign, requeueStranded } from '../../records/operations/doctor-repairs.ts';
import {
  compareReservations,
  correctLedger,
  correctReservations,
  listWalletBooks,
  sumReservedMessages,
  type WalletBooks,
} from '../../records/operations/doctor-wallets.ts';
import { batches, type Doctor, type Finding } from './check.ts';

const batchSize = 200;
/** Each batch of wallets reads the whole ledger once: large batches mean few such reads. */
const walletBatch = 10_000;
const messageBatch = 50_000;

/** Sums that the scan of campaigns found reserved, by channel; the wallets are compared with them afterwards. */
interface Reservations {
  readonly owed: Map<string, bigint>;
  readonly campaigns: Map<string, string[]>;
}

/** Reads every recipient, campaign by campaign. The figures of one campaign are of one instant. */
async function* checkCampaignBooks(
  doctor: Doctor,
  reservations: Reservations,
  again?: readonly string[],
): AsyncIterable<Finding> {
  const { database, quick } = doctor;
  const list = async (batch: Batch) =>
    quick
      ? (await listOpenCampaigns(database, { ...batch, settledSeconds: 0 })).map(({ id }) => id)
      : listCampaignIds(database, batch);
  const pages = again === undefined ? batches(batchSize, list, (id) => id) : [again];
  for await (const page of pages) {
    for (const id of page) {
      const books = await readCampaignBooks(database, id);
      if (books === null) continue;
      noteReservations(reservations, id, books);
      yield* compareBooks(doctor, id, books);
    }
  }
}

function noteReservations({ owed, campaigns }: Reservations, id: string, books: CampaignBooks): void {
  if (books.owed === 0n) return;
  owed.set(books.channel_id, (owed.get(books.channel_id) ?? 0n) + books.owed);
  const noted = campaigns.get(books.channel_id) ?? [];
  campaigns.set(books.channel_id, noted);
  noted.push(id);
}

function* compareBooks({ database }: Doctor, id: string, books: CampaignBooks): Iterable<Finding> {
  if (books.archived) return;
  const wrong = [
    ...differences(books.kept, books.counted),
    ...differences(books.kept_reasons, books.counted_reasons),
  ];
  if (wrong.length > 0) {
    yield {
      kind: 'counters-differ-from-rows',
      id,
      fingerprint: wrong.join(),
      meaning: `the stored counters differ from the counted recipients (stored ≠ counted): ${wrong.join(', ')}`,
      repair: { does: 'count its recipients again', run: () => recountCampaign(database, id) },
    };
  }
  if (books.waiting_behind !== books.queued && !isFinished(books.status)) {
    yield {
      kind: 'recipients-stranded',
      id,
      fingerprint: `${books.waiting_behind} ${books.queued}`,
      meaning: `${books.waiting_behind} recipients wait behind what was claimed, ${books.queued} are queued for another attempt`,
      repair: {
        does: 'queue exactly those that are PENDING',
        run: () => requeueStranded(database, id),
      },
    };
  }
}

function differences(
  kept: Readonly<Record<string, number>>,
  counted: Readonly<Record<string, number>>,
): readonly string[] {
  return [...new Set([...Object.keys(kept), ...Object.keys(counted)])]
    .filter((name) => (kept[name] ?? 0) !== (counted[name] ?? 0))
    .map((name) => `${name} ${kept[name] ?? 0} ≠ ${counted[name] ?? 0}`);
}

/** Checks the books of campaigns, then those of wallets, which need what the campaigns have reserved. */
export async function* checkBooks(doctor: Doctor, again?: readonly string[]): AsyncIterable<Finding> {
  const reservations: Reservations = { owed: new Map(), campaigns: new Map() };
  yield* checkCampaignBooks(doctor, reservations, again);
  const pages =
    again === undefined
      ? batches(
          walletBatch,
          (page) => listWalletBooks(doctor.database, page),
          (wallet) => wallet.channel_id,
        )
      : [await listWalletBooks(doctor.database, { ids: again })];
  const ofMessages = again === undefined ? await reservedByMessages(doctor) : new Map<string, bigint>();
  for await (const page of pages) {
    for (const wallet of page) {
      const id = wallet.channel_id;
      if (wallet.ledger !== wallet.balance) yield ledgerFinding(doctor, wallet);
      const owed = (reservations.owed.get(id) ?? 0n) + (ofMessages.get(id) ?? 0n);
      if (owed === wallet.reserved) continue;
      const finding = await reservationFinding(doctor, id, reservations.campaigns.get(id) ?? []);
      if (finding !== undefined) yield finding;
    }
  }
}

async function reservedByMessages({ database }: Doctor): Promise<ReadonlyMap<string, bigint>> {
  const total = new Map<string, bigint>();
  for (let afterId: string | null = null; ;) {
    const batch: Awaited<ReturnType<typeof sumReservedMessages>> = await sumReservedMessages(database, {
      afterId,
      limit: messageBatch,
    });
    for (const [channelId, owed] of batch.owed) total.set(channelId, (total.get(channelId) ?? 0n) + owed);
    afterId = batch.nextAfterId;
    if (afterId === null) return total;
  }
}

function ledgerFinding({ database }: Doctor, { channel_id: id, balance, ledger }: WalletBooks): Finding {
  return {
    kind: 'ledger-differs-from-balance',
    id,
    fingerprint: String(balance - ledger),
    meaning: `the wallet holds ${formatAmount(balance)}, its entries sum up to ${formatAmount(ledger)}`,
    repair: {
      does: `write a correction of ${formatAmount(balance - ledger)} into the ledger`,
      run: () => correctLedger(database, id),
    },
  };
}

/** Compares again in one snapshot, because the sums of the scan were read at different instants. */
async function reservationFinding(
  { database }: Doctor,
  channelId: string,
  campaignIds: readonly string[],
): Promise<Finding | undefined> {
  const found = await compareReservations(database, { channelId, campaignIds });
  if (found === null || found.owed === found.reserved) return undefined;
  const { owed, reserved, balance } = found;
  const finding = {
    kind: 'reserved-differs-from-messages',
    id: channelId,
    fingerprint: String(reserved - owed),
    meaning: `${formatAmount(reserved)} is held back, the messages without an outcome cost ${formatAmount(owed)}`,
  };
  if (owed > balance) {
    return {
      ...finding,
      meaning: `${finding.meaning}, and the balance is only ${formatAmount(balance)}: adjust the wallet first`,
    };
  }
  return {
    ...finding,
    repair: {
      does: `hold back ${formatAmount(owed)}`,
      run: async () => {
        if (!(await correctReservations(database, { channelId, campaignIds })))
          throw new Error('the balance does not cover it any more');
      },
    },
  };
}
