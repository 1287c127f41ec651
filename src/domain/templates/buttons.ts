import { listOf, own, textOf } from './json.ts';
import { splitUrl } from './placeholder.ts';
import type { ButtonDefinition } from './definition.ts';

const couponLength = 20;
const offerCouponLength = 15;

const staticTypes: ReadonlySet<string> = new Set(['phone_number', 'spm']);

interface ButtonOptions {
  readonly authentication: boolean;
  readonly limitedTimeOffer: boolean;
}

const parseButton = (button: unknown, index: number, options: ButtonOptions): ButtonDefinition => {
  const type = (textOf(own(button, 'type')) ?? '').toLowerCase();
  const place = { index, type };
  if (staticTypes.has(type)) return { ...place, kind: 'static' };
  switch (type) {
    case 'url': {
      const around = splitUrl(textOf(own(button, 'url')) ?? '');
      // The provider lists the OTP button of an authentication template as a URL whose variable is the code.
      if (options.authentication && around !== undefined) return { ...place, kind: 'otp' };
      return { ...place, kind: 'url', dynamic: around !== undefined, prefix: '', suffix: '', ...around };
    }
    case 'copy_code':
      return {
        ...place,
        kind: 'copy_code',
        maxLength: options.limitedTimeOffer ? offerCouponLength : couponLength,
      };
    case 'otp':
    case 'quick_reply':
    case 'flow':
    case 'catalog':
    case 'mpm':
    case 'voice_call':
      return { ...place, kind: type };
    default:
      return { ...place, kind: 'unsupported' };
  }
};

/** The buttons in the template's order; an unknown one keeps its place. */
export const parseButtons = (buttons: unknown, options: ButtonOptions): readonly ButtonDefinition[] =>
  listOf(buttons).map((button, index) => parseButton(button, index, options));
