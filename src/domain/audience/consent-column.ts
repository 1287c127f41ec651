/** Reads what a list says about consent: which column says so, in any language, and what each cell means. */
import type { ConsentCategory, ConsentDecision } from '../contacts/consent.ts';

/** What `yes` in the column means. */
export const consentMeanings = ['opt_out', 'opt_in'] as const;
export type ConsentMeaning = (typeof consentMeanings)[number];

/** The part of a mapping that says what a list knows about consent; columns are counted from 0. */
export interface ConsentMapping {
  /** Column that says who opted out or opted in. */
  readonly column?: number;
  readonly meaning?: ConsentMeaning;
  /** Cells that mean an opt-out, and an opt-in, besides those that are known. */
  readonly opted_out?: readonly string[];
  readonly opted_in?: readonly string[];
  readonly category?: ConsentCategory;
  /** For rows about which the column says nothing. */
  readonly others?: ConsentMeaning;
  readonly text?: string;
  readonly url?: string;
  readonly language?: string;
  readonly at?: Date;
  readonly text_column?: number;
  readonly url_column?: number;
  readonly language_column?: number;
  readonly at_column?: number;
}

/** What a row says about consent. */
export type RowConsent =
  | (ConsentDecision & {
      readonly kind: 'decision';
      readonly text: string | null;
      readonly url: string | null;
      readonly language: string | null;
      /** Null if the list does not say when. */
      readonly at: Date | null;
    })
  /** The cell is neither blank nor known: nobody may guess. */
  | { readonly kind: 'unclear'; readonly cell: string };

const words = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(', ').map(keyOf)));

/** Small letters without accents; signs become spaces. */
function plainCell(text: string): string {
  return text
    .slice(0, longestCell)
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}+✓✔☑✅✗✘☒❌]+/gu, ' ')
    .trim();
}

const longestCell = 100;

/** Signs alone stand for themselves: `*` or 🚫 is no blank cell. */
function keyOf(text: string): string {
  return plainCell(text) || text.slice(0, longestCell).trim().replaceAll('\uFE0F', '');
}

const yes = words(
  'yes, y, true, t, 1, x, on, ok, ✓, ✔, ☑, ✅, +, si, sí, s, sim, oui, o, vrai, ja, j, wahr, vero, verdadero, verdadeiro, tak, prawda',
  'evet, e, doğru, da, да, истина, так, ano, áno, igen, kyllä, joo, ya, benar, oo, có, ใช่, نعم, صحيح, כן, हाँ, हां, ہاں, হ্যাঁ, ஆம், అవును, 是, はい, 예, 네, ναι',
);
const no = words(
  'no, n, false, f, 0, off, ✗, ✘, ☒, ❌, non, faux, nein, falsch, nee, onwaar, falso, não, nie, fałsz, hayır, h, yanlış',
  'nu, нет, ложь, ні, ne, nem, ei, tidak, bukan, hindi, không, ไม่, لا, خطأ, לא, नहीं, نہیں, না, இல்லை, కాదు, 否, 不, いいえ, 아니요, όχι, nej, inte',
);
/** These say what they mean, whatever the column is called. */
const optedOut = words(
  'none, no_marketing, no marketing, stop, stopped, opted out, opted-out, opt out, optout, unsubscribed, unsubscribe, dnc, do not contact, do not call',
  'blocked, blacklisted, revoked, withdrawn, abgemeldet, abbestellt, gesperrt, widerrufen, werbesperre, afgemeld, uitgeschreven, baja, dado de baja',
  'désabonné, désinscrit, descadastrado, cancelado, disiscritto, wypisany, отписан, отписался, відписаний, abonelikten çıktı, إلغاء الاشتراك, berhenti, 退订, 配信停止, 수신거부',
);
const optedIn = words(
  'all, subscribed, subscriber, opted in, opted-in, opt in, optin, agreed, consented, granted, given, active, abonniert, angemeldet, zugestimmt, erteilt',
  'aangemeld, suscrito, inscrito, abonné, inscrit, iscritto, zapisany, подписан, підписаний, abone, مشترك, berlangganan, 已订阅, 購読中, 수신동의',
);

const date = /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})(?:[T ,].*)?$/;

/**
 * A time as lists write it: ISO 8601, or day, month and year, day first if it can be. Undefined for anything else. Without a zone, it
 * is UTC.
 */
export function readListTime(cell: string): Date | undefined {
  const text = cell.trim();
  if (text.length > 40 || !date.test(text)) return undefined;
  const [day = '', time = ''] = text.split(/[T ,]+/, 2);
  const [first = 0, second = 0, third = 0] = day.split(/[-./]/).map(Number);
  const isIso = first > 31;
  const year = isIso ? first : third;
  const [monthOrDay, dayOrMonth] = isIso ? [second, third] : [second, first];
  const [month, dayOfMonth] = monthOrDay > 12 ? [dayOrMonth, monthOrDay] : [monthOrDay, dayOrMonth];
  const clock = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i.exec(time);
  if (time !== '' && clock === null) return undefined;
  const at = new Date(
    Date.UTC(
      year,
      month - 1,
      dayOfMonth,
      Number(clock?.[1] ?? 0),
      Number(clock?.[2] ?? 0),
      Number(clock?.[3] ?? 0),
    ),
  );
  if (year < 1900 || at.getUTCMonth() !== month - 1 || at.getUTCDate() !== dayOfMonth) return undefined;
  const zone = /^([+-])(\d{2}):?(\d{2})$/.exec(clock?.[4] ?? '');
  if (zone === null) return at;
  const minutes = Number(zone[2]) * 60 + Number(zone[3]);
  return new Date(at.getTime() - (zone[1] === '-' ? -minutes : minutes) * 60_000);
}

const maxText = 1_000;
const maxUrl = 2_048;
const maxLanguage = 35;

/** Reads the consent of a row; undefined if the row says nothing. */
export function consentReader(mapping: ConsentMapping): (cells: readonly string[]) => RowConsent | undefined {
  const own = {
    out: new Set(mapping.opted_out?.map(keyOf)),
    in: new Set(mapping.opted_in?.map(keyOf)),
  };
  const { meaning } = mapping;
  const cellOf = (cells: readonly string[], column: number | null | undefined): string =>
    column == null ? '' : (cells[column] ?? '').trim();
  const evidenceOf = (
    cells: readonly string[],
    column: number | null | undefined,
    constant: string | null | undefined,
    most: number,
  ): string | null => {
    const cell = cellOf(cells, column).slice(0, most).toWellFormed();
    return cell === '' ? (constant ?? null) : cell;
  };

  const kindOf = (cell: string): ConsentMeaning | 'unclear' | undefined => {
    const plain = keyOf(cell);
    if (own.out.has(plain)) return 'opt_out';
    if (own.in.has(plain)) return 'opt_in';
    if (cell === '' || cell === '-') return mapping.others ?? undefined;
    if (optedOut.has(plain)) return 'opt_out';
    if (optedIn.has(plain)) return 'opt_in';
    // In a column of opt-outs a date is the day of the opt-out.
    if (yes.has(plain) || readListTime(cell) !== undefined) return meaning ?? 'unclear';
    if (no.has(plain) && meaning !== undefined)
      return meaning === 'opt_out' ? (mapping.others ?? undefined) : 'opt_out';
    return 'unclear';
  };

  return (cells) => {
    const cell = cellOf(cells, mapping.column);
    const kind = kindOf(cell);
    if (kind === undefined) return undefined;
    if (kind === 'unclear') return { kind, cell };
    const at = readListTime(cellOf(cells, mapping.at_column)) ?? mapping.at ?? readListTime(cell) ?? null;
    const isAboutMarketing = /^no.?marketing$/i.test(cell);
    return {
      kind: 'decision',
      allows: kind === 'opt_in',
      category: isAboutMarketing
        ? 'MARKETING'
        : (mapping.category ?? (kind === 'opt_in' ? 'MARKETING' : 'ALL')),
      text: evidenceOf(cells, mapping.text_column, mapping.text, maxText),
      url: evidenceOf(cells, mapping.url_column, mapping.url, maxUrl),
      language: evidenceOf(cells, mapping.language_column, mapping.language, maxLanguage),
      at,
    };
  };
}

// Which column it is.

/** `phoneNumber`, `Phone_1` and `TELÉFONO` become `phone number`, `phone 1` and `telefono`. */
export const plainHeader = (header: string): string =>
  header
    .slice(0, longestHeader)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();

const longestHeader = 255;

const optOutHeader =
  /\b(?:opt(?:ed)? ?outs?|optout\p{L}*|unsub\p{L}*|do not (?:contact|call|mail|message|text|disturb)|dn[cmd]|no (?:marketing|contact|promo\p{L}*|ads?|sms|whats ?app)|black ?list\p{L}*|block(?:ed)?(?: ?list)?|suppress\p{L}*|revoked|withdrawn|stop(?:ped)?|werbesperre|kontaktsperre|werbewiderspruch|widerspruch\p{L}*|widerruf\p{L}*|abgemeldet|abmeldung|abbestellt|gesperrt|sperre|keine werbung|afgemeld|uitgeschreven|geen reclame|baja|dado de baja|no contactar|no molestar|exclui\p{L}*|desuscri\p{L}*|desinscri\p{L}*|desabonn\p{L}*|opposition|ne pas contacter|descadastr\p{L}*|nao contatar|nao perturbe|disiscri\p{L}*|non contattare|wypisan\p{L}*|rezygnacja|sprzeciw|abonelikten|listeden cik\p{L}*|istenmeyen|berhenti)\b|отпис|отказ|не беспокоить|відпис|الغاء الاشتراك|ممنوع|עצור|הסרה|退订|退訂|拒收|配信停止|수신거부|अनसब्सक्राइब/u;
const optInHeader =
  /\b(?:opt(?:ed)? ?ins?|optin\p{L}*|subscri\p{L}*|consent\p{L}*|agree\p{L}*|permission\p{L}*|gdpr|newsletter|accepts? (?:marketing|sms|whats ?app|email)|marketing|einwilligung\p{L}*|einverstand\p{L}*|zustimmung\p{L}*|werbeerlaubnis|dsgvo|angemeldet|toestemming\p{L}*|akkoord|consentimiento|acepta\p{L}*|autoriza\p{L}*|suscri\p{L}*|permiso|consentement|accord|inscri\p{L}*|abonn\p{L}*|rgpd|consentimento|aceita|permissao|lgpd|consenso|autorizzazione|iscri\p{L}*|zgoda|rodo|onay|izin|kvkk|izinli|persetujuan|setuju|langganan)\b|соглас|подпис|згода|підпис|موافق|اشتراك|אישור|同意|订阅|購読|수신동의|सहमति/u;
/** `No newsletter`, `nicht einverstanden`, `consent refused`; not `newsletter yes no`. */
const negatedHeader =
  /(?:^| )(?:no|not|non|nicht|kein\p{L}*|ohne|sin|sem|nao|ne|pas|geen|niet|without|nie|bez|не|без) (?!yes|ja|si|sim|oui|да)\p{L}|(?:^| )(?:refus\p{L}*|declin\p{L}*|denied|reject\p{L}*|abgelehnt|verweigert)(?: |$)/u;
const marketingHeader =
  /\b(?:marketing|promo\p{L}*|news ?letter|werb\p{L}*|reclame|publici\p{L}*|pubblicit\p{L}*|reklam\p{L}*|ads?)\b|реклам|اعلان|广告|広告|광고/u;

/** What a heading in the form of `plainHeader` says about its column; undefined if it is no column of consent. */
export function consentHeading(
  header: string,
): { readonly meaning: ConsentMeaning; readonly category?: ConsentCategory } | undefined {
  const category = marketingHeader.test(header) ? ({ category: 'MARKETING' } as const) : {};
  if (optOutHeader.test(header)) return { meaning: 'opt_out', ...category };
  if (!optInHeader.test(header)) return undefined;
  return { meaning: negatedHeader.test(header) ? 'opt_out' : 'opt_in', ...category };
}

/** The mapping with what its column's heading adds; without a meaning, a plain `yes` or `no` is unclear. */
export function completeConsent(mapping: ConsentMapping, headers: readonly string[]): ConsentMapping {
  if (mapping.column == null || mapping.meaning !== undefined) return mapping;
  return { ...consentHeading(plainHeader(headers[mapping.column] ?? '')), ...mapping };
}

/**
 * Whether nearly all of the cells can be read, so that the column is one of consent, and not of texts with such a heading. Dates count
 * for opt-outs only: a date of subscription may be that of a contract.
 */
export function looksLikeConsent(cells: readonly string[], meaning: ConsentMeaning): boolean {
  const read = consentReader({ column: 0, meaning });
  const isKnown = (cell: string): boolean =>
    read([cell])?.kind !== 'unclear' && (meaning === 'opt_out' || readListTime(cell) === undefined);
  return cells.filter((cell) => !isKnown(cell)).length * 10 <= cells.length;
}
