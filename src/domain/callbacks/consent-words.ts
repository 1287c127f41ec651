/**
 * Words that unsubscribe or subscribe a person (`STOP`). `commands/callbacks/apply-inbound-message.ts` applies them.
 * Unsubscribed contacts are skipped when an audience is prepared (`domain/audience/candidate.ts`), and again by each claim
 * (`contactNow` in `records/sending/claim-batch.ts`). A message counts if one of its texts consists only of such a word;
 * case, white space and punctuation are ignored: `Stop!` equals `STOP`.
 */

/** The provider's own buttons say `Stop promotions`; the rest is what people write, by language. */
export const defaultOptOutWords: readonly string[] = [
  'STOP, STOP ALL, STOPALL, STOP PROMOTIONS, UNSUBSCRIBE, OPT OUT, OPT-OUT',
  'STOPP, ABMELDEN, ABBESTELLEN, WERBUNG STOPPEN, AFMELDEN, UITSCHRIJVEN, AVREGISTRERA, AFMELD',
  'BAJA, DARME DE BAJA, CANCELAR SUSCRIPCIÓN, DETENER PROMOCIONES, NO MÁS MENSAJES',
  'PARAR, SAIR, DESCADASTRAR, CANCELAR INSCRIÇÃO, PARAR PROMOÇÕES, INTERROMPER PROMOÇÕES',
  'ARRÊT, ARRET, DÉSABONNER, DESABONNER, SE DÉSABONNER, ARRÊTER LES PROMOTIONS',
  'DISISCRIVIMI, ANNULLA ISCRIZIONE, INTERROMPI PROMOZIONI, WYPISZ, REZYGNUJĘ, ODHLÁSIT, DEZABONARE',
  'СТОП, ОТПИСАТЬСЯ, ВІДПИСАТИСЯ, ABONELİKTEN ÇIK, DURDUR, إيقاف, إلغاء الاشتراك, הסר, הסרה, रोकें, बंद करें',
  'BERHENTI, BERHENTI BERLANGGANAN, HENTIKAN PROMOSI, HỦY ĐĂNG KÝ, ยกเลิก, 退订, 退訂, 配信停止, 수신거부',
].flatMap((line) => line.split(', '));

export const defaultOptInWords: readonly string[] = [
  'START, UNSTOP, SUBSCRIBE, RESUME PROMOTIONS, OPT IN, OPT-IN, ANMELDEN, AANMELDEN, ALTA, SUSCRIBIRME',
  "REANUDAR PROMOCIONES, INSCREVER, RETOMAR PROMOÇÕES, S'ABONNER, ISCRIVIMI, СТАРТ, ПОДПИСАТЬСЯ, BERLANGGANAN",
].flatMap((line) => line.split(', '));

/** Returns the subscription that a message asks for: true, false, or null if it asks for neither. */
export function createConsentReader(words: {
  readonly optOutWords: readonly string[];
  readonly optInWords: readonly string[];
}): (texts: readonly string[]) => boolean | null {
  const optOut = new Set(words.optOutWords.map(essence));
  const optIn = new Set(words.optInWords.map(essence));
  return (texts) => {
    const candidates = texts.filter(({ length }) => length <= longestText).map(essence);
    if (candidates.some((text) => optOut.has(text))) return false;
    return candidates.some((text) => optIn.has(text)) ? true : null;
  };
}

/** Maximum length of a text that is compared with the words; longer texts are conversation. */
const longestText = 100;

const spoken = /[\p{L}\p{N}\p{M}]/u;

/** Reduces a text to its letters and digits. A text without any is compared as it is. */
function essence(text: string): string {
  const plain = text.normalize('NFKC').trim().replaceAll(/\s+/gu, ' ').toLowerCase();
  const characters = [...plain];
  const first = characters.findIndex((character) => spoken.test(character));
  if (first === -1) return plain;
  const last = characters.findLastIndex((character) => spoken.test(character));
  return characters.slice(first, last + 1).join('');
}
