import { describe, expect, it } from 'vitest';
import {
  createConsentReader,
  defaultOptInWords,
  defaultOptOutWords,
  offersWord,
} from '../../../src/domain/callbacks/consent-words.ts';

const read = createConsentReader({ optOutWords: defaultOptOutWords, optInWords: defaultOptInWords });
const outcome = (text: string, isTyped = true): string => {
  const wish = read({ texts: [text], isTyped });
  if (wish === undefined) return 'nothing';
  if (wish.kind === 'asks_to_stop') return 'asks';
  const what = wish.allows ? 'allow' : 'stop';
  const about = wish.category === 'MARKETING' ? ' marketing' : '';
  return `${what}${about}${wish.doubleWord === undefined ? '' : ' unless offered'}`;
};

describe('a typed text', () => {
  it.each([
    // English
    ['STOP', 'stop'],
    ['stop.', 'stop'],
    ['Stop, please!', 'stop'],
    ['plz stop', 'stop'],
    ['OPTOUT', 'stop'],
    ['opt-out', 'stop'],
    ['Revoke', 'stop'],
    ['unsubscribe 🙏', 'stop'],
    ['CANCEL', 'stop unless offered'],
    ['end', 'stop unless offered'],
    ['Quit please', 'stop unless offered'],
    ['please stop sending me offers', 'asks'],
    ['I want to unsubscribe from this list', 'asks'],
    ["Don't stop", 'nothing'],
    ['please do not stop', 'nothing'],
    ['bus stop', 'nothing'],
    ['I will stop by tomorrow', 'nothing'],
    ['cancel my appointment', 'nothing'],
    ['You can stop the car after the second light and then turn left', 'nothing'],
    ['Hello', 'nothing'],
    ['YES', 'nothing'],
    ['Stop promotions', 'stop marketing'],
    ['Resume promotions', 'allow marketing'],
    ['START', 'allow'],
    ['unstop', 'allow'],
    ['STOP ❤️', 'stop'],
    ['stop ❗️', 'stop'],
    ['Stop stop STOP!', 'stop'],
    ['opt out, opt out', 'stop'],
    ['cancel cancel', 'stop unless offered'],
    ['START START', 'allow'],
    ['stop it', 'asks'],
    ['STOP START', 'asks'],
    // German
    ['Stopp', 'stop'],
    ['Abmelden bitte', 'stop'],
    ['ENDE', 'stop unless offered'],
    ['bitte nicht abmelden', 'nothing'],
    ['Ich möchte mich abmelden', 'asks'],
    ['kein Stopp', 'nothing'],
    ['Werbung stoppen', 'stop marketing'],
    // Spanish
    ['Baja', 'stop'],
    ['por favor, darme de baja', 'stop'],
    ['CANCELAR SUSCRIPCION', 'stop'],
    ['alto', 'stop unless offered'],
    ['Cancelar', 'stop unless offered'],
    ['Detener promociones', 'stop marketing'],
    // Portuguese
    ['Descadastrar', 'stop'],
    ['SAIR', 'stop unless offered'],
    ['parar', 'stop unless offered'],
    ['Parar promocoes', 'stop marketing'],
    // French
    ['Arrêt', 'stop'],
    ['ARRET SVP', 'stop'],
    ["Désabonner, s'il vous plaît", 'stop'],
    ['fin', 'stop unless offered'],
    // Italian
    ['Disiscrivimi', 'stop'],
    ['fine', 'stop unless offered'],
    // Indonesian
    ['Berhenti berlangganan', 'stop'],
    ['berhenti', 'stop unless offered'],
    // Turkish
    ['durdur', 'stop'],
    ['iptal', 'stop unless offered'],
    ['İPTAL', 'stop unless offered'],
    ['abonelikten çık', 'stop'],
    // Vietnamese
    ['hủy đăng ký', 'stop'],
    ['huy dang ky', 'stop'],
    // Thai, Arabic, Hindi, Tamil, Telugu, Bengali, Urdu, Filipino
    ['ยกเลิก', 'stop unless offered'],
    ['إلغاء الاشتراك', 'stop'],
    ['الغاء الاشتراك', 'stop'],
    ['إلغاء الإشتراك', 'stop'],
    ['إيقاف', 'stop unless offered'],
    ['ايقاف', 'stop unless offered'],
    ['إيقـــاف', 'stop unless offered'],
    ['रोकें', 'stop'],
    ['कृपया रोकें', 'stop'],
    ['बंद करें', 'stop unless offered'],
    ['நிறுத்து', 'stop'],
    ['ఆపండి', 'stop'],
    ['বন্ধ করুন', 'stop'],
    ['بند کریں', 'stop'],
    ['Itigil', 'stop'],
    // Chinese, Russian
    ['退订', 'stop'],
    ['стоп, пожалуйста', 'stop'],
    ['пожалуйста, не стоп', 'nothing'],
  ])('%j: %s', (text, expected) => {
    expect(outcome(text)).toBe(expected);
  });
});

/** Ways of writing a word that leave its meaning as it is. */
const spellings: Readonly<Record<string, (word: string) => string>> = {
  'in small letters': (word) => word.toLowerCase(),
  'in full width': (word) =>
    word.replaceAll(/[A-Z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0)),
  'in bold letters': (word) =>
    word.replaceAll(/[A-Z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) - 65 + 0x1d400)),
  'with composed accents': (word) => word.normalize('NFC'),
  'with separate accents': (word) => word.normalize('NFD'),
  'with a soft hyphen': (word) => `${word.slice(0, 1)}\u00ad${word.slice(1)}`,
  'with a joiner': (word) => `${word.slice(0, 1)}\u200d${word.slice(1)}`,
  'with curly apostrophes': (word) => word.replaceAll("'", '’'),
  'with hyphens that do not break': (word) => word.replaceAll('-', '\u2011'),
  'with wide spaces': (word) => `\u00a0\u3000${word.replaceAll(' ', ' \n ')}\t`,
  'from right to left': (word) => `\u200f\u202b${word}\u202c`,
  isolated: (word) => `\u2068${word}\u2069`,
  'after a byte order mark': (word) => `\ufeff${word}`,
  'with punctuation': (word) => `«${word}»!!! …`,
  'with Arabic, Hindi and Chinese punctuation': (word) => `${word}؟ । 。`,
  'with markup': (word) => `*_~${word}~_*`,
  'with emoji': (word) => `🛑 ${word} 🙏🏽 ❤️ 👨‍👩‍👧 ❗️ 🇩🇪`,
  'with polite words': (word) => `Please, ${word}, thank you`,
  twice: (word) => `${word} ${word}`,
};

it.each(Object.entries(spellings))('knows every word %s, typed or on a button', (_, spell) => {
  for (const word of [...defaultOptOutWords, ...defaultOptInWords].filter((one) => one !== 'FINE')) {
    const typed = outcome(word);
    expect(typed, word).toMatch(/^(?:stop|allow)/);
    expect(outcome(spell(word)), word).toBe(typed);
    expect(outcome(spell(word), false), word).toBe(typed === 'stop unless offered' ? 'nothing' : typed);
  }
});

it.each([
  ['Fine', 'stop unless offered'],
  ['Fine, grazie', 'stop unless offered'],
  ['Fine ☺️', 'nothing'],
  ['fine fine', 'nothing'],
  ['STOP\u200Bplease', 'stop'],
])('the English answer and the Italian word %j: %s', (text, expected) => {
  expect(outcome(text)).toBe(expected);
});

it.each([
  ['STOP', 'stop'],
  ['Stop promotions', 'stop marketing'],
  ['START', 'allow'],
  ['Cancel', 'nothing'],
  ['Cancel appointment', 'nothing'],
  ['please stop sending me offers', 'nothing'],
])('a tap on %j: %s', (text, expected) => {
  expect(outcome(text, false)).toBe(expected);
});

it('finds a word that a message of ours offers', () => {
  expect(offersWord('[{"type":"BODY","text":"Reply CANCEL to cancel your appointment."}]', 'cancel')).toBe(
    true,
  );
  expect(offersWord('Your appointment is cancelled.', 'cancel')).toBe(false);
});
