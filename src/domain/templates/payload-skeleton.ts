import { locationKeys, productKeys } from './variables.ts';
import type {
  BodyDefinition,
  ButtonDefinition,
  CardDefinition,
  HeaderDefinition,
  TemplateDefinition,
} from './definition.ts';

type Section = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

export interface SkeletonMapping {
  readonly header: Section;
  readonly body: Texts;
  readonly buttons: readonly Section[];
  readonly limited_time_offer?: { readonly expiration_time_ms: number };
  readonly carousel?: readonly Section[];
}

/** Spec 2.4: to be copied, its placeholder values replaced, and sent to the single send endpoint. */
export interface PayloadSkeleton {
  readonly templateId: string;
  readonly recipientPhoneNumber: string;
  readonly countryCode: string;
  readonly variableMapping: SkeletonMapping;
}

const placeholder = 'value';
const dayMs = 24 * 60 * 60 * 1000;

const mediaSkeletons = {
  image: { link: 'https://example.com/image.jpg' },
  video: { link: 'https://example.com/video.mp4' },
  gif: { link: 'https://example.com/animation.mp4' },
  document: { link: 'https://example.com/document.pdf', filename: 'document.pdf' },
} as const;

const coordinates = { latitude: '37.4847', longitude: '-122.1477' } as const;

const keyed = (names: readonly string[]): Texts =>
  Object.fromEntries(names.map((name) => [name, placeholder]));

const headerSkeleton = (header: HeaderDefinition | undefined): Section => {
  if (header === undefined) return {};
  switch (header.kind) {
    case 'unsupported':
      return {};
    case 'text':
      return keyed(header.variables);
    case 'location':
      return { ...keyed(locationKeys), ...coordinates };
    case 'product':
      return { product: keyed(productKeys) };
    default:
      return mediaSkeletons[header.kind];
  }
};

const bodySkeleton = (body: BodyDefinition | undefined): Texts => keyed(body?.variables ?? []);

const buttonSkeleton = (button: ButtonDefinition, card: CardDefinition): Section => {
  switch (button.kind) {
    case 'url':
      return button.dynamic ? { type: 'url', url_suffix: placeholder } : { type: 'url' };
    case 'copy_code':
      return { type: 'copy_code', coupon_code: 'CODE' };
    // The code is given once, in the body, and the button repeats it.
    case 'otp':
      return card.body === undefined ? { type: 'otp', otp: placeholder } : { type: 'otp' };
    case 'flow':
      return { type: 'flow', flow_token: placeholder };
    case 'catalog':
      return { type: 'catalog', thumbnail_product_retailer_id: placeholder };
    case 'mpm':
      return {
        type: 'mpm',
        thumbnail_product_retailer_id: placeholder,
        sections: [{ title: placeholder, product_items: [{ product_retailer_id: placeholder }] }],
      };
    default:
      return { type: button.type };
  }
};

const cardSkeleton = (card: CardDefinition) => ({
  header: headerSkeleton(card.header),
  body: bodySkeleton(card.body),
  // Every button keeps its place, so that the i-th entry is the i-th button.
  buttons: card.buttons.map((button) => buttonSkeleton(button, card)),
});

export const payloadSkeleton = (
  definition: TemplateDefinition,
  { templateId, now }: { readonly templateId: string; readonly now: Date },
): PayloadSkeleton => ({
  templateId,
  recipientPhoneNumber: '919876543210',
  countryCode: '+91',
  variableMapping: {
    ...cardSkeleton(definition),
    ...(definition.offerExpires && {
      limited_time_offer: { expiration_time_ms: now.getTime() + dayMs },
    }),
    ...(definition.carousel && { carousel: definition.carousel.cards.map(cardSkeleton) }),
  },
});
