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
    // German
    ['Stopp', 'stop'],
    ['Abmelden bitte', 'stop'],
    ['ENDE', 'stop unless offered'],
    ['bitte nicht abmelden', 'nothing'],
    ['Ich möchte mich abmelden', 'asks'],
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
    // Thai, Arabic, Hindi, Tamil, Telugu, Bengali, Urdu, Filipino
    ['ยกเลิก', 'stop unless offered'],
    ['إلغاء الاشتراك', 'stop'],
    ['إيقاف', 'stop unless offered'],
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
