/** Tells workspaces when a balance falls below its threshold, and when price cards are missing or old. */
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import type { Dependencies } from '../../dependencies.ts';
import { Invalid } from '../../domain/error.ts';
import { amountBounds, formatAmount, parseAmount } from '../../domain/money.ts';
import { balanceLow, pricesMissing } from '../../domain/operations/notice.ts';
import type { Database } from '../../records/database/database.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { insertNotices } from '../../records/operations/notices.ts';
import {
  saveLowBalanceThreshold,
  takeLowBalances,
  takePriceGaps,
} from '../../records/wallet/wallet-notices.ts';

const idleMs = 60_000;

/** 100 days: the provider changes its prices on the first day of a quarter only. */
export const oldCardDays = 100;

export const startWatchingWallets = ({
  database,
  logger,
  config,
}: Pick<Dependencies, 'database' | 'logger' | 'config'>): Loop =>
  startPollingLoop({
    name: 'wallet notices',
    logger,
    idleMs,
    work: async () => {
      await noticeLowBalances(database);
      // Elsewhere the prices of the example do.
      if (config.production && !config.allowExamplePrices) await noticeMissingPrices(database);
      return false;
    },
  });

export const noticeLowBalances = (database: Database): Promise<void> =>
  database.transaction(async (transaction) =>
    insertNotices(transaction, (await takeLowBalances(transaction)).map(balanceLow)),
  );

export const noticeMissingPrices = (database: Database): Promise<void> =>
  database.transaction(async (transaction) =>
    insertNotices(transaction, (await takePriceGaps(transaction, oldCardDays)).map(pricesMissing)),
  );

/** Null: no notice. */
export async function setLowBalanceThreshold(
  { database }: Pick<Dependencies, 'database'>,
  workspaceId: number,
  { channelId, threshold }: { readonly channelId: string; readonly threshold: string | null },
): Promise<void> {
  const parsed = threshold === null ? null : parseAmount(threshold);
  if (parsed === undefined || (parsed !== null && parsed <= 0n))
    throw Invalid.at('threshold', `threshold must be a positive decimal string ${amountBounds}, or null`);
  await database.transaction(async (transaction) => {
    await saveLowBalanceThreshold(transaction, workspaceId, { channelId, threshold: parsed });
    const details = { after: parsed === null ? null : formatAmount(parsed) };
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'wallet.low-balance',
      objectId: channelId,
      details,
    });
  });
}
