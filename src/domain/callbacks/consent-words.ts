/**
 * Words by which a person stops or allows messages (`STOP`). `commands/callbacks/apply-inbound-message.ts` applies them. A message
 * counts if one of its texts consists only of such a word, also repeated, and polite ones; case, accents, white space, punctuation and
 * emoji are ignored: `Stop, please!` equals `STOP`.
 */
import type { ConsentDecision } from '../contacts/consent.ts';

const words = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(', '));

/** They mean nothing else, in a text or on a button. */
const certainWords = words(
  'STOP, STOP ALL, STOPALL, UNSUBSCRIBE, OPT OUT, OPT-OUT, OPTOUT, REVOKE',
  'STOPP, ABMELDEN, ABBESTELLEN, AFMELDEN, UITSCHRIJVEN, AVREGISTRERA, AFMELD',
  'BAJA, DARME DE BAJA, CANCELAR SUSCRIPCIÓN, NO MÁS MENSAJES',
  'DESCADASTRAR, CANCELAR INSCRIÇÃO, ARRÊT, DÉSABONNER, SE DÉSABONNER',
  'DISISCRIVIMI, ANNULLA ISCRIZIONE, WYPISZ, REZYGNUJĘ, ODHLÁSIT, DEZABONARE',
  'СТОП, ОТПИСАТЬСЯ, ВІДПИСАТИСЯ, ABONELİKTEN ÇIK, DURDUR, إلغاء الاشتراك, הסר, הסרה',
  'BERHENTI BERLANGGANAN, HỦY ĐĂNG KÝ, 退订, 退訂, 配信停止, 수신거부, ITIGIL, IHINTO',
  'रोकें, अनसब्सक्राइब, நிறுத்து, நிறுத்தவும், ఆపు, ఆపండి, বন্ধ করুন, بند کریں, روکیں',
);

/** The provider's own buttons say `Stop promotions`: they are about MARKETING. */
const marketingWords = words(
  'STOP PROMOTIONS, WERBUNG STOPPEN, DETENER PROMOCIONES, PARAR PROMOÇÕES, INTERROMPER PROMOÇÕES',
  'ARRÊTER LES PROMOTIONS, INTERROMPI PROMOZIONI, HENTIKAN PROMOSI',
  'RESUME PROMOTIONS, REANUDAR PROMOCIONES, RETOMAR PROMOÇÕES',
);

/** People also write them to cancel an appointment or to end a conversation, so they count only as a text of their own. */
const doubleWords = words(
  'CANCEL, END, QUIT, REMOVE, ALTO, PARAR, CANCELAR, FIN, SAIR, ANNULER, ENDE, FINE, ANNULLA',
  'BERHENTI, BATAL, İPTAL, ยกเลิก, إيقاف, बंद करें',
);

const isResuming = (word: string): boolean => /^(resume|reanudar|retomar) /i.test(word);

export const defaultOptOutWords: readonly string[] = [
  ...certainWords,
  ...marketingWords.filter((word) => !isResuming(word)),
  ...doubleWords,
];

export const defaultOptInWords: readonly string[] = [
  ...words(
    'START, UNSTOP, SUBSCRIBE, OPT IN, OPT-IN, ANMELDEN, AANMELDEN, ALTA, SUSCRIBIRME, INSCREVER',
    "S'ABONNER, ISCRIVIMI, СТАРТ, ПОДПИСАТЬСЯ, BERLANGGANAN",
  ),
  ...marketingWords.filter(isResuming),
];

const politeWords = words(
  'PLEASE, PLS, PLZ, KINDLY, THANKS, THANK YOU, BITTE, DANKE, POR FAVOR, GRACIAS, OBRIGADO, OBRIGADA',
  "S'IL VOUS PLAÎT, S'IL TE PLAÎT, SVP, MERCI, PER FAVORE, GRAZIE, ALSTUBLIEFT, LÜTFEN, TOLONG, MOHON, PROSZĘ",
  'ПОЖАЛУЙСТА, कृपया, من فضلك',
);

/** Words that turn a stop into its opposite if they come shortly before it. */
const negations = new Set(
  words(
    "DON'T, DONT, NOT, NEVER, CAN'T, WON'T, NICHT, KEIN, NO, NÃO, NON, NE, PAS, NIET, JANGAN, НЕ, NIE, DEĞİL",
  ).map(essence),
);
/** `bus stop`, `stop by`: no wish. */
const placesBefore = new Set(words('BUS, TRAM, TRAIN, METRO, FULL, PIT, NEXT, LAST, A, THE').map(essence));
const placesAfter = new Set(words('BY, AT, IN, OVER, SIGN, LIGHT, WATCH').map(essence));

/** What a message asks for. */
export type ConsentWish =
  | (ConsentDecision & {
      readonly kind: 'decision';
      /** Set for a word that counts only if no recent message of ours offers it as an answer. */
      readonly doubleWord?: string;
    })
  /** A sentence with such a word: a person of the business decides. */
  | { readonly kind: 'asks_to_stop' };

export interface ConsentText {
  readonly texts: readonly string[];
  /** The person typed it, and did not tap a button. */
  readonly isTyped: boolean;
}

export function createConsentReader(given: {
  readonly optOutWords: readonly string[];
  readonly optInWords: readonly string[];
}): (message: ConsentText) => ConsentWish | undefined {
  const optOut = new Set(given.optOutWords.map(essence));
  const optIn = new Set(given.optInWords.map(essence));
  const asking = [...optOut].filter((word) => !double.has(word) && !marketing.has(word));

  const read = (text: string, isTyped: boolean): ConsentWish | undefined => {
    const whole = essence(text);
    for (const word of new Set([whole, withoutRepetition(withoutPoliteWords(whole))])) {
      const category = marketing.has(word) ? 'MARKETING' : 'ALL';
      if (optOut.has(word)) {
        const stop = { kind: 'decision', category, allows: false } as const;
        if (!double.has(word)) return stop;
        const isAnswer = everyday.has(word) && isDecorated(text, whole, word);
        return isTyped && !isAnswer ? { ...stop, doubleWord: word } : undefined;
      }
      if (optIn.has(word)) return { kind: 'decision', category, allows: true };
    }
    return isTyped && asking.some((word) => asksFor(whole, word)) ? { kind: 'asks_to_stop' } : undefined;
  };

  return ({ texts, isTyped }) => {
    const wishes = texts
      .filter(({ length }) => length <= longestText)
      .map((text) => read(text, isTyped))
      .filter((wish) => wish !== undefined);
    const isStop = (wish: ConsentWish) => wish.kind === 'decision' && !wish.allows;
    return wishes.find(isStop) ?? wishes.find(({ kind }) => kind === 'decision') ?? wishes[0];
  };
}

/** Whether a text of ours, such as a template's, contains the word. */
export const offersWord = (text: string, word: string): boolean => ` ${essence(text)} `.includes(` ${word} `);

/** Maximum length of a text that is compared with the words; longer texts are conversation. */
const longestText = 100;
const mostWordsOfWish = 8;
/** A negation counts this many words before the stop. */
const negationReach = 2;

const marketing = new Set(marketingWords.map(essence));
const double = new Set(doubleWords.map(essence));
const polite = politeWords.map(essence);
/** An opt-out in Italian, and a friendly answer in English. */
const everyday = new Set(['fine']);

/** `Fine ☺️`, `fine fine`. */
const isDecorated = (text: string, whole: string, word: string): boolean =>
  withoutPoliteWords(whole) !== word || /\p{Extended_Pictographic}/u.test(text);

/** True for a short sentence that contains the word and does not mean the opposite or a place. */
function asksFor(text: string, word: string): boolean {
  const at = ` ${text} `.indexOf(` ${word} `);
  if (at === -1) return false;
  const before = text.slice(0, at).split(' ').filter(Boolean);
  const after = text
    .slice(at + word.length)
    .split(' ')
    .filter(Boolean);
  if (before.length + word.split(' ').length + after.length > mostWordsOfWish) return false;
  if (before.slice(-negationReach).some((one) => negations.has(one))) return false;
  return !placesBefore.has(before.at(-1) ?? '') && !placesAfter.has(after[0] ?? '');
}

function withoutPoliteWords(text: string): string {
  let rest = text;
  for (;;) {
    const present = rest;
    const word = polite.find((one) => present.startsWith(`${one} `) || present.endsWith(` ${one}`));
    if (word === undefined) return rest;
    rest = rest.startsWith(`${word} `) ? rest.slice(word.length + 1) : rest.slice(0, -word.length - 1);
  }
}

/** `stop stop stop` equals `stop`. */
function withoutRepetition(text: string): string {
  const all = text.split(' ');
  for (let length = 1; length <= all.length / 2; length += 1)
    if (all.length % length === 0 && all.every((word, at) => word === all[at % length]))
      return all.slice(0, length).join(' ');
  return text;
}

/** Letters that Unicode does not take for another one with an accent, as people type them without it. */
const plainLetters: Readonly<Record<string, string>> = { ı: 'i', đ: 'd', ł: 'l', '’': "'" };

/**
 * Reduces a text to its words, without case and the accents, vowel signs and hamzas that people leave out. A text without any word is
 * compared as it is.
 */
function essence(text: string): string {
  const plain = text
    // Direction marks, joiners, soft hyphens, and what makes an emoji of the sign before it.
    .replaceAll('\u200b', ' ')
    .replaceAll(/[\p{Cf}\p{Me}\p{Variation_Selector}]/gu, '')
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f\u0591-\u05bd\u0640\u064b-\u0655]/gu, '')
    .normalize('NFKC')
    .trim()
    .toLowerCase()
    .replaceAll(/[ıđł’]/gu, (letter) => plainLetters[letter] ?? letter);
  const found = plain.match(/[\p{L}\p{N}\p{M}]+(?:'[\p{L}\p{N}\p{M}]+)*/gu);
  return found === null ? plain : found.join(' ');
}
