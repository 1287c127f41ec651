import {
  type BodyDefinition,
  type ButtonDefinition,
  type CardDefinition,
  type CarouselDefinition,
  type HeaderDefinition,
  mediaKinds,
  type ParameterFormat,
  type TemplateDefinition,
} from './definition.ts';
import { isRecord, listOf, own, textOf } from './values.ts';
import { placeholderNames, splitUrl } from './placeholder.ts';

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
const parseButtons = (buttons: unknown, options: ButtonOptions): readonly ButtonDefinition[] =>
  listOf(buttons).map((button, index) => parseButton(button, index, options));

const bodyLength = 1024;
const offerBodyLength = 600;
const cardBodyLength = 160;

/** Component types that this service understands; any other is kept as unsupported. */
const knownTypes: ReadonlySet<string> = new Set([
  'HEADER',
  'BODY',
  'FOOTER',
  'BUTTONS',
  'LIMITED_TIME_OFFER',
  'CAROUSEL',
  'CALL_PERMISSION_REQUEST',
]);

export const typeOf = (component: unknown): string => (textOf(own(component, 'type')) ?? '').toUpperCase();

export const componentOf = (components: readonly unknown[], type: string): unknown =>
  components.find((component) => typeOf(component) === type);

const namedExamples = ['header_text_named_params', 'body_text_named_params'];

/** NAMED if the provider declares it or the examples have names; else POSITIONAL. */
const parameterFormatOf = (declared: string | undefined, components: readonly unknown[]): ParameterFormat => {
  if (declared?.toUpperCase() === 'NAMED') return 'NAMED';
  const isNamed = components.some((component) =>
    namedExamples.some((key) => own(own(component, 'example'), key) !== undefined),
  );
  return isNamed ? 'NAMED' : 'POSITIONAL';
};

const parseHeader = (component: unknown, format: ParameterFormat): HeaderDefinition | undefined => {
  if (component === undefined) return undefined;
  const kind = (textOf(own(component, 'format')) ?? 'TEXT').toLowerCase();
  if (kind === 'text') {
    const text = textOf(own(component, 'text')) ?? '';
    return { kind, text, variables: placeholderNames(text, format), named: format === 'NAMED' };
  }
  if (kind === 'location' || kind === 'product') return { kind };
  const media = mediaKinds.find((known) => known === kind);
  return media === undefined ? { kind: 'unsupported', format: kind } : { kind: media };
};

interface BodyOptions {
  readonly format: ParameterFormat;
  readonly maxLength: number;
  readonly authentication: boolean;
  readonly hasOtpButton: boolean;
}

const parseBody = (component: unknown, options: BodyOptions): BodyDefinition | undefined => {
  if (component === undefined) return undefined;
  const text = textOf(own(component, 'text')) ?? '';
  const found = placeholderNames(text, options.format);
  // The provider writes the text of an authentication template itself; its one variable is the code.
  const isImplied = options.authentication && (text === '' || options.hasOtpButton);
  const variables = found.length === 0 && isImplied ? ['1'] : found;
  const named = options.format === 'NAMED' && found.length > 0;
  return { text, variables, named, maxLength: options.maxLength };
};

const parseCard = (card: unknown, format: ParameterFormat): CardDefinition => {
  const components = listOf(own(card, 'components'));
  return {
    header: parseHeader(componentOf(components, 'HEADER'), format),
    body: parseBody(componentOf(components, 'BODY'), {
      format,
      maxLength: cardBodyLength,
      authentication: false,
      hasOtpButton: false,
    }),
    buttons: parseButtons(own(componentOf(components, 'BUTTONS'), 'buttons'), {
      authentication: false,
      limitedTimeOffer: false,
    }),
  };
};

const parseCarousel = (component: unknown, format: ParameterFormat): CarouselDefinition | undefined => {
  const cards = listOf(own(component, 'cards')).map((card) => parseCard(card, format));
  if (cards.length === 0) return undefined;
  return { kind: cards[0]?.header?.kind === 'product' ? 'product' : 'media', cards };
};

export interface TemplateOptions {
  /** The provider's `parameter_format`; undefined counts as positional. */
  readonly parameterFormat?: string | undefined;
  readonly category?: string | undefined;
}

/**
 * The provider's components as a definition. Never throws: a part that is missing or unknown is left out or kept as
 * unsupported, because sync keeps every template and only sending needs to understand it.
 */
export const parseTemplate = (components: unknown, options: TemplateOptions): TemplateDefinition => {
  const list = listOf(components).filter(isRecord);
  const format = parameterFormatOf(options.parameterFormat, list);
  const buttons = own(componentOf(list, 'BUTTONS'), 'buttons');
  const hasOtpButton = listOf(buttons).some((button) => typeOf(button) === 'OTP');
  const authentication = hasOtpButton || options.category?.toUpperCase() === 'AUTHENTICATION';
  const offer = componentOf(list, 'LIMITED_TIME_OFFER');
  const limitedTimeOffer = offer !== undefined;
  return {
    authentication,
    isBodyOnly: !authentication && list.every((component) => typeOf(component) === 'BODY'),
    header: parseHeader(componentOf(list, 'HEADER'), format),
    body: parseBody(componentOf(list, 'BODY'), {
      format,
      maxLength: limitedTimeOffer ? offerBodyLength : bodyLength,
      authentication,
      hasOtpButton,
    }),
    buttons: parseButtons(buttons, { authentication, limitedTimeOffer }),
    hasOffer: limitedTimeOffer,
    offerExpires: own(own(offer, 'limited_time_offer'), 'has_expiration') === true,
    carousel: parseCarousel(componentOf(list, 'CAROUSEL'), format),
    unsupported: list.map(typeOf).filter((type) => !knownTypes.has(type)),
  };
};
