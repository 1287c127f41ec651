/** Compares each night what we charged with the provider's figures. Nothing is booked: an operator does that at a month's end. */
import type { Dependencies } from '../../dependencies.ts';
import { cleanText } from '../../domain/clean-text.ts';
import { Conflict, Invalid, NotFound } from '../../domain/error.ts';
import { formatAmount } from '../../domain/money.ts';
import { pricesDiffer } from '../../domain/operations/notice.ts';
import { compareFigures, differenceCauses } from '../../domain/wallet/comparison.ts';
import { type PricingPoint, ProviderRequestError } from '../../provider/provider.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { insertNotices } from '../../records/operations/notices.ts';
import {
  type ComparedAccount,
  findComparedAccount,
  findComparisonTerms,
  listAccountsToCompare,
  listFigures,
  markCompared,
  saveDifferences,
  saveNotCompared,
  spanOfDay,
  takeDifferences,
} from '../../records/wallet/comparison.ts';
import { postLedgerEntry } from '../../records/wallet/wallets.ts';
import {
  type Channel,
  getChannel,
  listChannelsOfBusinessAccount,
} from '../../records/workspaces/channels.ts';
import { accessTokensOf, withAnyToken } from '../templates/sync-templates.ts';

type Comparer = Pick<Dependencies, 'database' | 'provider' | 'secrets' | 'logger'>;

const accountsAtOnce = 100;
/** The provider's figures of yesterday may be incomplete; those of three days ago are not. */
const comparedDaysAgo = [3, 1];

interface ComparisonSummary {
  readonly accounts: number;
  readonly differences: number;
  /** Days of an account that could not be compared. */
  readonly notCompared: number;
}

/**
 * Compares the accounts that were not compared today. May be stopped anywhere; the next call continues. An account whose figures
 * the provider cannot give at the moment stays due.
 */
export async function compareDueAccounts(
  dependencies: Comparer,
  onAccount: () => void = () => undefined,
): Promise<ComparisonSummary> {
  const summary = { accounts: 0, differences: 0, notCompared: 0 };
  for (let afterId = ''; ;) {
    const accounts = await listAccountsToCompare(dependencies.database, afterId, accountsAtOnce);
    for (const account of accounts) {
      afterId = account.id;
      let isAnswered = true;
      for (const days of comparedDaysAgo) {
        const compared = await compareDay(dependencies, account, daysBefore(account.today, days));
        summary.differences += compared.differences;
        if (compared.problem !== undefined) summary.notCompared += 1;
        isAnswered &&= compared.problem !== 'later';
        onAccount();
      }
      if (isAnswered) await markCompared(dependencies.database, account);
      summary.accounts += 1;
    }
    if (accounts.length < accountsAtOnce) return summary;
  }
}

const dayMs = 24 * 60 * 60 * 1_000;

const daysBefore = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - days * dayMs).toISOString().slice(0, 10);

/** Compares one day of a business account, whenever that is. Throws NotFound. */
export async function compareAccount(
  dependencies: Comparer,
  businessAccountId: string,
  day: string,
): Promise<ComparedFigures> {
  const account = await findComparedAccount(dependencies.database, businessAccountId);
  if (account === undefined) throw new NotFound('Business account');
  return compareDay(dependencies, account, day);
}

interface ComparedFigures {
  readonly differences: number;
  /** Why it was not compared: `later` may help. */
  readonly problem: 'later' | 'refused' | undefined;
}

async function compareDay(
  { database, provider, secrets, logger }: Comparer,
  { id: businessAccountId, workspaceId, currency }: ComparedAccount,
  day: string,
): Promise<ComparedFigures> {
  const channels = await listChannelsOfBusinessAccount(database, workspaceId, businessAccountId);
  const { from, to } = await spanOfDay(database, businessAccountId, day);
  let points: readonly PricingPoint[] = [];
  const read = async (accessToken: string): Promise<void> => {
    points = await provider.readPricing({ businessAccountId, accessToken, from, to });
  };
  const giveUp = async (problem: 'later' | 'refused', details: string): Promise<ComparedFigures> => {
    logger.warn({ businessAccountId, day, reason: details }, 'prices not compared');
    await database.transaction(async (transaction) => {
      for (const { id: channelId } of channels)
        await saveNotCompared(transaction, { workspaceId, channelId, day }, cleanText(details, 500));
    });
    return { differences: 0, problem };
  };
  const tokens = decryptable(secrets, channels);
  if (tokens.length === 0) return giveUp('refused', 'No access token of the account can be decrypted');
  try {
    await withAnyToken(tokens, read, () => undefined);
  } catch (error) {
    if (!(error instanceof ProviderRequestError)) throw error;
    const { failure } = error;
    const isRefused = failure.kind === 'rejected' && !failure.isTransient && failure.httpStatus < 429;
    return giveUp(isRefused ? 'refused' : 'later', error.message);
  }
  let found = 0;
  for (const channel of channels) {
    const theirs = pointsOf(channel, { points, isOnly: channels.length === 1 });
    found += await database.transaction(async (transaction) => {
      const compared = { workspaceId, channelId: channel.id, day };
      const terms = await findComparisonTerms(transaction, channel.id, from);
      if (currency !== null && currency !== terms.currency) {
        const details = `The wallet is in ${terms.currency}, the account in ${currency}`;
        await saveNotCompared(transaction, compared, details);
        return 0;
      }
      const ours = await listFigures(transaction, channel.id, day);
      // Figures that come late, or under another spelling of the number, are not zero.
      if (theirs.length === 0 && ours.some(({ messages }) => messages > 0)) {
        await saveNotCompared(transaction, compared, 'The provider gives no figures for this number');
        return 0;
      }
      const differences = compareFigures(ours, theirs, terms);
      const isKnown = await saveDifferences(transaction, compared, differences);
      if (differences.length > 0 && !isKnown)
        await insertNotices(transaction, [
          pricesDiffer({ ...channel, day, differences, currency: terms.currency }),
        ]);
      return differences.length;
    });
  }
  return { differences: found, problem: undefined };
}

function decryptable(secrets: Comparer['secrets'], channels: readonly Channel[]): readonly string[] {
  try {
    return accessTokensOf(secrets, channels);
  } catch {
    return [];
  }
}

/** The figures of a number; the only one of an account needs no spelling in common. */
function pointsOf(
  { displayPhoneNumber, phoneNumberId }: Channel,
  { points, isOnly }: { readonly points: readonly PricingPoint[]; readonly isOnly: boolean },
): readonly PricingPoint[] {
  const numbers = new Set(points.map(({ phoneNumber }) => phoneNumber));
  if (isOnly && numbers.size === 1) return points;
  const own = new Set([displayPhoneNumber.replaceAll(/\D/g, ''), phoneNumberId]);
  return points.filter(({ phoneNumber }) => own.has(phoneNumber));
}

export interface BookDifference {
  readonly workspaceId: number;
  readonly channelId: string;
  /** Such as `2026-10`. */
  readonly month: string;
  readonly reason: string;
  /** Only differences of this cause; undefined: all. */
  readonly cause?: string | undefined;
}

/**
 * Books the differences of a month that are not booked yet as one `correction`. Returns its amount in micro-units, positive if
 * money is given back, and the number of differences; repeated, it books nothing. Throws Invalid, NotFound and Conflict.
 */
export async function bookDifference(
  { database }: Pick<Dependencies, 'database'>,
  { workspaceId, channelId, month, reason, cause }: BookDifference,
): Promise<{ readonly amount: bigint; readonly differences: number }> {
  if (!/^20\d\d-(0[1-9]|1[0-2])$/.test(month))
    throw Invalid.at('month', 'month must be a month such as 2026-10');
  if (reason.trim() === '' || reason.length > 1000)
    throw Invalid.at('reason', 'reason must have 1 to 1000 characters');
  if (cause !== undefined && !differenceCauses.some((known) => known === cause))
    throw Invalid.at('cause', `cause must be one of ${differenceCauses.join(', ')}`);
  await getChannel(database, workspaceId, channelId);
  return database.transaction(async (transaction) => {
    const { lines, amount } = await takeDifferences(transaction, { channelId, month: `${month}-01`, cause });
    if (lines === 0) return { amount, differences: 0 };
    await insertAuditEntry(transaction, {
      workspaceId,
      action: 'wallet.book-difference',
      objectId: channelId,
    });
    if (amount === 0n) return { amount, differences: lines };
    const balance = await postLedgerEntry(transaction, { channelId, kind: 'correction', amount, reason });
    if (balance === undefined)
      throw new Conflict(
        `The balance does not cover ${formatAmount(-amount)} more than what is reserved: recharge it first`,
      );
    return { amount, differences: lines };
  });
}
