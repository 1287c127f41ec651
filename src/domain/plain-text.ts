/** Removes the marks that phones, address books, keyboards and spreadsheets leave in cells. */

/** Marks of direction, joiners, soft hyphens, variation selectors and tags of emoji. */
const invisible =
  /\u20E3|\uFE0E|\uFE0F|[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|[\u{E0020}-\u{E007F}]/gu;
const emoji = /(?![#*\d])\p{Extended_Pictographic}|[\u{1F3FB}-\u{1F3FF}]/gu;
const flags = /\p{RI}/gu;

let digitsOfScripts: ReadonlyMap<string, string> | undefined;

/** The decimal digits of all scripts, which Unicode orders in runs from 0 to 9. */
function scriptDigits(): ReadonlyMap<string, string> {
  if (digitsOfScripts !== undefined) return digitsOfScripts;
  const found = new Map<string, string>();
  const isDigit = /^\p{Nd}$/u;
  let value = 0;
  for (let code = 0x0660; code < 0x2_0000; code += 1) {
    const character = String.fromCodePoint(code);
    if (!isDigit.test(character)) {
      value = 0;
      continue;
    }
    found.set(character, String(value % 10));
    value += 1;
  }
  digitsOfScripts = found;
  return found;
}

const isPrintableAscii = /^[\x20-\x7E]*$/;

/** In one line with ASCII digits, plus signs, hyphens and quotes, without emoji and invisible marks. */
export function plainText(cell: string, { keepsFlags = false } = {}): string {
  if (isPrintableAscii.test(cell)) return cell.trim();
  const text = cell.replaceAll(invisible, '').replaceAll(emoji, ' ');
  return (keepsFlags ? text : text.replaceAll(flags, ' '))
    .normalize('NFKC')
    .replaceAll(/\p{Nd}/gu, (digit) => scriptDigits().get(digit) ?? digit)
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[“”„‟«»″]/g, '"')
    .replaceAll(/[‘’‚‛′]/g, "'")
    .replaceAll(/[^\S\n]/g, ' ')
    .trim();
}

const number = /^(\+?\d+)[.,]0{1,2}$/;
const grouped = /^(\+?\d{1,3}(?:([,.' ])\d{3})+)(?:[.,]0{1,2})?$/;

/** Removes quotes, a leading apostrophe, `="…"`, and the decimals and thousands separators of a number. */
export function withoutSpreadsheetMarks(plain: string): string {
  let text = plain;
  if (/^=(?:["'+\d])/.test(text)) text = text.slice(1);
  while (text.length > 1 && /^["'`]/.test(text)) {
    const last = text.at(-1) ?? '';
    text = text.slice(1, /["'`]/.test(last) ? -1 : undefined).trim();
  }
  if (/["'`]$/.test(text)) text = text.slice(0, -1).trimEnd();
  const decimal = number.exec(text)?.[1];
  if (decimal !== undefined) return decimal;
  const groups = grouped.exec(text);
  const separator = groups?.[2];
  if (groups === null || groups[1] === undefined || separator === undefined) return text;
  // Groups are set apart by one sign only: `171.200,300` is something else.
  const whole = groups[1].replaceAll(separator, '');
  return /^\+?\d+$/.test(whole) ? whole : text;
}
