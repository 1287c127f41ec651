/** Loads price cards, and says whether a channel's prices may be used. */
import { createHash } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import { Conflict, Invalid } from '../../domain/error.ts';
import { parseAmount } from '../../domain/money.ts';
import type { Connection } from '../../records/database/database.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import {
  findCardBefore,
  findCardsOf,
  findSameCard,
  insertMarkup,
  insertPriceCard,
  listCardPrices,
  type PriceCardRow,
} from '../../records/wallet/price-cards.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';
import {
  comparePrices,
  implausible,
  type PriceDifference,
  type PriceFiles,
  readPriceFiles,
} from './price-file.ts';

export const maxPriceFileBytes = 1024 * 1024;

export interface LoadPrices extends PriceFiles {
  /** ISO 4217. */
  readonly currency: string;
  /** `2026-10-01`: the card applies from 00:00 of this day in each account's time zone. */
  readonly effectiveOn: string;
  /** Name of the file. */
  readonly source: string;
  readonly loadedBy: string;
  /** Whose audit log names the load; undefined: a command loads it. */
  readonly workspaceId?: number | undefined;
  readonly dryRun: boolean;
  /** Loads prices that change more than tenfold. */
  readonly force: boolean;
}

export interface LoadedPrices {
  /** Undefined after a dry run, unless the same card is loaded already. */
  readonly card: PriceCardRow | undefined;
  /** False: the same file was loaded before, or this was a dry run. */
  readonly loaded: boolean;
  readonly differences: readonly PriceDifference[];
  readonly warnings: readonly string[];
}

/** The same file twice changes nothing. Throws Invalid naming everything that is wrong. */
export async function loadPrices(
  { database }: Pick<Dependencies, 'database'>,
  request: LoadPrices,
): Promise<LoadedPrices> {
  const { currency, effectiveOn, source, loadedBy, workspaceId, dryRun, force } = request;
  if (!/^[A-Z]{3}$/.test(currency))
    throw Invalid.at('currency', 'currency must be an ISO 4217 code such as EUR');
  if (!isDay(effectiveOn)) throw Invalid.at('effective_on', 'effective_on must be a day such as 2026-10-01');
  const read = readPriceFiles(request, currency);
  const hash = createHash('sha256').update(request.file);
  for (const part of [request.tiers, request.markets]) if (part !== undefined) hash.update('\0').update(part);
  const key = { currency, effectiveOn, sha256: hash.digest('hex') };

  const before = await findCardBefore(database, currency, effectiveOn);
  const differences = comparePrices(
    before === undefined ? [] : await listCardPrices(database, before.id),
    read.prices,
  );
  const warnings = /-(?:01|04|07|10)-01$/.test(effectiveOn)
    ? []
    : [`${effectiveOn} is not the first day of a quarter, on which the provider changes its prices`];
  const same = await findSameCard(database, key);
  if (same !== undefined) return { card: same, loaded: false, differences: [], warnings };
  const doubtful = implausible(differences);
  if (doubtful.length > 0 && !force)
    throw Invalid.of(
      doubtful
        .slice(0, 20)
        .map((message) => ({ field: 'file', message: `${message}: load it with force if it is right` })),
    );
  if (dryRun) return { card: undefined, loaded: false, differences, warnings };
  const card = await database.transaction(async (transaction) => {
    const inserted = await insertPriceCard(transaction, {
      ...key,
      ...read,
      source: source.slice(0, 200),
      loadedBy,
    });
    if (inserted !== undefined && workspaceId !== undefined)
      await insertAuditEntry(transaction, {
        workspaceId,
        action: 'wallet.load-prices',
        objectId: inserted.id,
      });
    return inserted;
  });
  return {
    card: card ?? (await findSameCard(database, key)),
    loaded: card !== undefined,
    differences,
    warnings,
  };
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

interface PriceMarkup {
  readonly workspaceId: number;
  readonly effectiveOn: string;
  /** Decimals. */
  readonly factor: string;
  readonly fixed: string;
}

/** From that day on a message costs the card's price times `factor`, plus `fixed`, rounded up to a micro-unit. */
export async function setPriceMarkup(
  { database }: Pick<Dependencies, 'database'>,
  markup: PriceMarkup,
): Promise<PriceMarkup> {
  const { workspaceId, effectiveOn, factor } = markup;
  const [fixed, known] = [parseAmount(markup.fixed), parseAmount(factor)];
  if (known === undefined || known < 0n || known > 1_000_000_000n)
    throw Invalid.at('factor', 'factor must be a decimal from 0 to 1000, such as 1.15');
  if (fixed === undefined || fixed < 0n || fixed > 1_000_000_000n)
    throw Invalid.at('fixed', 'fixed must be a decimal from 0 to 1000, such as 0.002');
  if (!isDay(effectiveOn)) throw Invalid.at('effective-on', 'effective-on must be a day such as 2026-12-01');
  await database.transaction(async (transaction) => {
    await requireWorkspace(transaction, workspaceId);
    await insertMarkup(transaction, { workspaceId, effectiveOn, factor, fixed });
    const action = 'wallet.set-price-markup' as const;
    await insertAuditEntry(transaction, { workspaceId, action, objectId: String(workspaceId) });
  });
  return markup;
}

/** Throws Conflict if campaigns of the channel must not start, because nobody loaded the provider's prices. */
export async function requirePrices(
  { production, allowExamplePrices }: { readonly production: boolean; readonly allowExamplePrices: boolean },
  connection: Connection,
  channelId: string,
): Promise<void> {
  const { present, currency } = await findCardsOf(connection, channelId);
  const isUsable = present !== undefined && (present.name === null || allowExamplePrices || !production);
  if (isUsable) return;
  throw new Conflict(
    present === undefined
      ? `No price card for ${currency} is in force: load one with POST /api/prices or load-prices`
      : 'Only the example prices are in force: load a price card with POST /api/prices or load-prices, or set ALLOW_EXAMPLE_PRICES=yes',
  );
}
