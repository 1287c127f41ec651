/** Finds the digits in what people, spreadsheets, links and other tools write for a phone number. */
import { plainText, withoutSpreadsheetMarks } from './plain-text.ts';

export interface WrittenNumber {
  /** Digits, with a plus sign if one was written. */
  readonly digits: string;
  /** The same without a zero that stood in brackets, as in `+34 (0)612…`. */
  readonly withoutZero?: string;
  /** Found in a link, a JID or a scheme, whose digits are international. */
  readonly isInternational?: true;
  /** The country that the spelling names itself, as `;phone-context=+49` does. */
  readonly country?: string;
}

export type Spelling =
  | WrittenNumber
  | {
      readonly problem: string;
      /** Undefined if the text may hold several numbers. */
      readonly isWhole?: true;
    };

export const sentences = {
  empty: 'the cell is empty',
  scientific: 'a spreadsheet shortened this number: format the column as text and export it again',
  extension: 'it has an extension, and a number with an extension is no WhatsApp number',
  letters: 'it has letters, and a text with letters is no WhatsApp number',
  signs: 'it has signs that no phone number has',
} as const;

const isNo = (thing: string): Spelling => ({
  problem: `it is ${thing}, which is no WhatsApp number`,
  isWhole: true,
});

/** No spelling of a number is longer; only links with a message are. */
const maxLength = 255;

/** In one line with single spaces; '' if the cell holds nothing. Line breaks stay. */
export function textOfCell(cell: string): string {
  const text = withoutSpreadsheetMarks(plainText(cell.length > maxLength ? cell.slice(0, maxLength) : cell));
  return emptyCells.has(text.toLowerCase()) ? '' : text.replaceAll(/ {2,}/g, ' ');
}

const emptyCells = new Set(
  '|#n/a|n/a|na|#name?|#value!|#ref!|#null!|#error!|null|(null)|nan|none|nil|undefined|-|--|---|.|?'.split(
    '|',
  ),
);

/** Reads the text as one number. */
export function readSpelling(text: string): Spelling {
  if (plain.test(text)) return { digits: text };
  return (
    readLink(text) ??
    readVcard(text) ??
    readJid(text) ??
    readScheme(text) ??
    readScientific(text) ??
    readDigits(text)
  );
}

const plain = /^\+?\d+$/;

const links =
  /^(?:https?:\/\/)?(?:www\.)?(wa\.me|wa\.link|api\.whatsapp\.com|web\.whatsapp\.com|chat\.whatsapp\.com|whatsapp\.com)\/(.*)$|^(whatsapp):\/\/(.*)$/is;

function readLink(text: string): Spelling | undefined {
  const found = links.exec(text);
  if (found === null) return /^[a-z]+:\/\/|^www\./i.test(text) ? isNo('a link') : undefined;
  const host = (found[1] ?? found[3] ?? '').toLowerCase();
  const path = decoded(found[2] ?? found[4] ?? '');
  if (host === 'chat.whatsapp.com') return isNo('an invitation to a group');
  const named = /[?&]phone=([^&#]*)/i.exec(path)?.[1] ?? /^(?:c\/)?([^/?#]*)/i.exec(path)?.[1] ?? '';
  const digits = named.replaceAll(/[^\d+]/g, '');
  if (!/[a-z]/i.test(named) && plain.test(digits)) return { digits, isInternational: true };
  return isNo(/^channel\//i.test(path) ? 'a link to a channel' : 'a link without a number');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `TEL;TYPE=CELL;waid=491712345678:+49 171 2345678` of a shared contact. */
function readVcard(text: string): Spelling | undefined {
  const found = /^(?:item\d+\.)?tel;([^:]*):(.*)$/is.exec(text);
  if (found === null) return undefined;
  const [, parameters = '', value = ''] = found;
  const id = /(?:^|;)waid=(\d+)/i.exec(parameters)?.[1];
  return id === undefined ? readDigits(value) : { digits: id, isInternational: true };
}

const otherIds: Readonly<Record<string, string>> = {
  lid: 'a hidden id (LID)',
  'hosted.lid': 'a hidden id (LID)',
  'g.us': 'the id of a group',
  broadcast: 'a broadcast list',
  newsletter: 'the id of a channel',
  bot: 'the id of a bot',
  call: 'the id of a call',
};

/** `491712345678:7@s.whatsapp.net`: user, agent and device of a WhatsApp client. */
function readJid(text: string): Spelling | undefined {
  const at = text.lastIndexOf('@');
  if (at === -1) return undefined;
  const server = text.slice(at + 1).toLowerCase();
  const other = otherIds[server];
  if (other !== undefined) return isNo(other);
  const user = /^\+?(\d+)(?:_\d+)?(?::\d+)?$/.exec(text.slice(0, at))?.[1];
  if (user !== undefined && ['s.whatsapp.net', 'c.us', 'hosted'].includes(server))
    return { digits: user, isInternational: true };
  return /^sips?:/i.test(text) ? undefined : isNo('an e-mail address');
}

function readScheme(text: string): Spelling | undefined {
  const found = /^(?:tel|callto|smsto|sms|mms|whatsapp|wa|phone|sips|sip|p):(?=[\d+(])(.*)$/is.exec(text);
  if (found === null) return undefined;
  const [number = '', ...parameters] = (found[1] ?? '').split(/[?@]/, 1).join('').split(';');
  const named = new URLSearchParams(parameters.join('&').replaceAll('+', '%2B').toLowerCase());
  if (named.get('ext')) return { problem: sentences.extension };
  const spelling = readDigits(number);
  if ('problem' in spelling) return parameters.length > 0 ? undefined : spelling;
  const context = named.get('phone-context');
  if (context !== null && context.startsWith('+')) return { ...spelling, country: context };
  return { ...spelling, isInternational: true };
}

/** `4.91712345678E+11` is a number if its digits are all there. */
function readScientific(text: string): Spelling | undefined {
  const found = /^\+?(\d+)(?:[.,](\d*))?e\+?(\d{1,2})$/i.exec(text);
  if (found === null) return undefined;
  const [, whole = '', fraction = '', exponent = ''] = found;
  const kept = fraction.slice(0, Number(exponent));
  const isExact = kept.length === Number(exponent) && /^0*$/.test(fraction.slice(kept.length));
  return isExact ? { digits: whole + kept } : { problem: sentences.scientific, isWhole: true };
}

const extension =
  /(?<=[\d ).;,-])(?:[;,] ?)?(?:ext|extn|extension|x|#|доб|добавочный|ramal|anexo|poste|durchwahl|dw)\.? ?[:=]? ?(\d{0,8})$/i;
/** A placeholder for the carrier's code in Brazil. */
const carrier = /(?<!\d)0 ?(?:xx|\*\*) ?(?=\D?\d\d)/i;
const bracketedZero = /[([]0[)\]]/;
const separators = /[ \n\-./()[\]_~·•∙⋅]+/g;

function readDigits(given: string): Spelling {
  let text = withoutClosingRemark(given.replace(carrier, '0'));
  const found = extension.exec(text);
  if (found !== null) {
    if (found[1] !== '') return { problem: sentences.extension };
    text = text.slice(0, found.index).trimEnd();
  }
  const numbers = withoutLabels(text);
  if (numbers === undefined) return { problem: /\p{L}/u.test(text) ? sentences.letters : sentences.signs };
  const digits = numbers.replaceAll(separators, '');
  if (!plain.test(digits)) return { problem: /\p{L}/u.test(digits) ? sentences.letters : sentences.signs };
  if (!bracketedZero.test(text)) return { digits };
  const zeroless = withoutLabels(text.replace(bracketedZero, ' '))?.replaceAll(separators, '');
  return { digits, ...(zeroless !== undefined && plain.test(zeroless) && { withoutZero: zeroless }) };
}

/** Removes letters in brackets at the end: `+49 171 2345678 (office)`. */
function withoutClosingRemark(text: string): string {
  const open = Math.max(text.lastIndexOf('('), text.lastIndexOf('['));
  if (open <= 0 || !/[)\]]$/.test(text)) return text;
  return /\d/.test(text.slice(open)) ? text : text.slice(0, open).trimEnd();
}

/** Removes known words in front of the number and behind it; undefined if there are others. */
function withoutLabels(text: string): string | undefined {
  let begin = 0;
  while (begin < text.length && !/[\d+]/.test(text.charAt(begin))) begin += 1;
  let end = text.length;
  while (end > begin && !/\d/.test(text.charAt(end - 1))) end -= 1;
  if (begin === end) return undefined;
  if (begin === 0 && end === text.length) return text;
  const around = `${text.slice(0, begin)} ${text.slice(end)}`;
  const isKnown = fold(around)
    .split(/[^\p{L}\p{M}]+/u)
    .every((word) => word === '' || labels.has(word));
  return isKnown ? text.slice(begin, end) : undefined;
}

const fold = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036F]/g, '')
    .normalize('NFC');

const labels: ReadonlySet<string> = new Set(
  fold(
    `whatsapp wa watsapp wapp zap mob mobil mobile mobiltelefon movil móvil cel cell celular celulares cellulare cellphone
    telefonino komorka kom telemovel tlm handy handynummer tel tél teléfono telefon telefono telefone telephone téléphone
    phone phones fone fon ph hp hape ponsel cep gsm portable port mobiel telefoon number numbers nummer numéro numero número
    num nr no contact contacto contato kontakt тел телефон моб мобильный сот сотовый ватсап вотсап جوال الجوال هاتف الهاتف
    موبايل محمول واتساب رقم 手机 手机号 手机号码 电话 电话号码 手機 手機號碼 電話 電話號碼 電話番号 携帯 携帯電話 携帯番号
    微信 휴대폰 휴대전화 전화 전화번호 핸드폰 फ़ोन फोन मोबाइल मोबाईल व्हाट्सएप home work private privat privé privado
    particular personal persönlich perso business office office primary main other dienstlich geschäftlich arbeit büro
    casa trabajo trabalho lavoro domicile bureau maison дом раб рабочий домашний ev is m t c w h p`,
  )
    .split(/\s+/)
    .filter((word) => word !== ''),
);

const splitters =
  / ?::: ?|[;,](?! ?(?:ext|x|#))|[|&\n]| \/ |\/(?=[+0])| (?:or|oder|o|ou|y|e|und|and) |(?<=\d[\d)]) ?(?=\+)/i;
const maxParts = 8;

/** The parts of a text that may hold several numbers; undefined if it is one. */
export function partsOf(text: string): readonly string[] | undefined {
  if (!splitters.test(text)) return undefined;
  const parts = text
    .split(splitters, maxParts)
    .map((part) => part.trim())
    .filter((part) => /\d/.test(part));
  return parts.length === 0 ? undefined : parts;
}

/** The number in front of a repeated ending: `022-27654640` of `022-27654640/41`. */
export function beforeRepeatedEnd(text: string): string | undefined {
  const end = / ?\/ ?\d{1,2}$/.exec(text);
  return end === null ? undefined : text.slice(0, end.index);
}
