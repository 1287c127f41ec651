/** Explains why messages fail, in the words of the domain's tables. */
import {
  failureReasonTable,
  importReasonTable,
  pauseReasonTable,
  skipReasonTable,
  type TitledReasonTable,
  waitingReasonTable,
} from '../../src/domain/campaigns/reasons.ts';
import { providerErrorTable } from '../../src/domain/sending/provider-error.ts';
import { words } from './format.ts';

export interface Explanation {
  readonly title: string;
  readonly advice: string;
  /** Another message to the same recipient would fail again, or should not be sent. */
  readonly isHopeless: boolean;
}

const own: ReadonlyMap<string, Explanation> = new Map(
  Object.entries({ ...failureReasonTable, ...skipReasonTable }),
);
const byCode = new Map(providerErrorTable.flatMap((row) => row.codes.map((code) => [code, row] as const)));

export function explain(reason: string): Explanation {
  const known = own.get(reason);
  if (known !== undefined) return known;
  const code = Number(/^PROVIDER_(\d+)$/.exec(reason)?.[1]);
  if (Number.isNaN(code)) return { title: words(reason), advice: '', isHopeless: false };
  const row = byCode.get(code);
  const meaning = row?.meaning ?? failureReasonTable['PROVIDER_<code>'].title;
  return {
    title: `${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)} (${code})`,
    advice: row?.advice ?? `See WhatsApp error ${code}.`,
    isHopeless: row?.isHopeless === true,
  };
}

const titlesOf = <R extends string>(table: TitledReasonTable<R>) =>
  Object.fromEntries(
    Object.entries<{ readonly title: string }>(table).map(([reason, { title }]) => [reason, title]),
  ) as Readonly<Record<R, string>>;

/** Text for each reason why a campaign is paused. */
export const pauses: Readonly<Record<string, string>> = titlesOf(pauseReasonTable);

/** Text for each reason why a running campaign waits, shown after “Waits:”. */
export const waits = titlesOf(waitingReasonTable);

/** Text for each reason why an import skips a row. */
export const importReasons: Readonly<Record<string, { readonly title: string; readonly advice: string }>> =
  importReasonTable;
