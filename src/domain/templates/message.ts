import type {
  CardDefinition,
  HeaderDefinition,
  MediaKind,
  TemplateDefinition,
  TextDefinition,
} from './definition.ts';
import type { ButtonValue, CardValues, HeaderValue, MediaSource, TemplateValues } from './values.ts';

/** One parameter of the provider's request; `Leaf` is a string once everything is known about the recipient. */
export type TemplateParameter<Leaf = string> =
  | { readonly type: 'text'; readonly parameter_name?: string; readonly text: Leaf }
  | MediaParameter<Leaf>
  | { readonly type: 'location'; readonly location: LocationParameter<Leaf> }
  | { readonly type: 'product'; readonly product: ProductParameter<Leaf> }
  | { readonly type: 'payload'; readonly payload: Leaf }
  | { readonly type: 'coupon_code'; readonly coupon_code: Leaf }
  | { readonly type: 'action'; readonly action: Readonly<Record<string, unknown>> }
  | { readonly type: 'ttl_minutes'; readonly ttl_minutes: number }
  | { readonly type: 'limited_time_offer'; readonly limited_time_offer: { expiration_time_ms: number } };

type MediaParameter<Leaf> = { readonly type: MediaKind } & {
  readonly [kind in MediaKind]?: MediaSource<Leaf>;
};
interface LocationParameter<Leaf> {
  readonly latitude: Leaf;
  readonly longitude: Leaf;
  readonly name: Leaf;
  readonly address: Leaf;
}
interface ProductParameter<Leaf> {
  readonly product_retailer_id: Leaf;
  readonly catalog_id: Leaf;
}

/** One entry of `template.components` in the provider's send request. */
export type TemplateComponent<Leaf = string> =
  | {
      readonly type: 'header' | 'body' | 'limited_time_offer';
      readonly parameters: readonly TemplateParameter<Leaf>[];
    }
  | {
      readonly type: 'button';
      readonly sub_type: string;
      /** The button's place in the template, as the provider's documentation writes it: a string. */
      readonly index: string;
      readonly parameters?: readonly TemplateParameter<Leaf>[];
    }
  | { readonly type: 'carousel'; readonly cards: readonly CarouselCard<Leaf>[] };

interface CarouselCard<Leaf> {
  readonly card_index: number;
  readonly components: readonly TemplateComponent<Leaf>[];
}

const textParameters = <Leaf>(
  definition: TextDefinition,
  values: readonly Leaf[],
): readonly TemplateParameter<Leaf>[] =>
  values.map((text, at) => {
    const name = definition.variables[at];
    return definition.named && name !== undefined
      ? { type: 'text', parameter_name: name, text }
      : { type: 'text', text };
  });

const headerParameters = <Leaf>(
  definition: HeaderDefinition,
  value: HeaderValue<Leaf>,
): readonly TemplateParameter<Leaf>[] => {
  switch (value.kind) {
    case 'text':
      return definition.kind === 'text' ? textParameters(definition, value.values) : [];
    case 'location': {
      const { latitude, longitude, name, address } = value;
      return [{ type: 'location', location: { latitude, longitude, name, address } }];
    }
    case 'product': {
      const product = { product_retailer_id: value.productRetailerId, catalog_id: value.catalogId };
      return [{ type: 'product', product }];
    }
    default:
      return [{ type: value.kind, [value.kind]: value.source }];
  }
};

const present = <Value>(value: Value | undefined): readonly Value[] => (value === undefined ? [] : [value]);

const buttonParameters = <Leaf>(button: ButtonValue<Leaf>): readonly TemplateParameter<Leaf>[] => {
  switch (button.kind) {
    case 'url':
      return [{ type: 'text', text: button.text }];
    case 'copy_code':
      return [{ type: 'coupon_code', coupon_code: button.code }];
    case 'quick_reply':
      return [{ type: 'payload', payload: button.payload }];
    case 'voice_call':
      return [
        ...present(button.ttlMinutes).map((minutes) => ({
          type: 'ttl_minutes' as const,
          ttl_minutes: minutes,
        })),
        ...present(button.payload).map((payload) => ({ type: 'payload' as const, payload })),
      ];
    case 'action':
      return Object.keys(button.action).length === 0 ? [] : [{ type: 'action', action: button.action }];
  }
};

const buttonComponent = <Leaf>(button: ButtonValue<Leaf>): TemplateComponent<Leaf> => {
  const parameters = buttonParameters(button);
  const place = { type: 'button', sub_type: button.subType, index: String(button.index) } as const;
  // A flow or catalog button has to be named in the request even when it is given nothing.
  return parameters.length === 0 ? place : { ...place, parameters };
};

const section = <Leaf>(
  type: 'header' | 'body' | 'limited_time_offer',
  parameters: readonly TemplateParameter<Leaf>[],
): readonly TemplateComponent<Leaf>[] => (parameters.length === 0 ? [] : [{ type, parameters }]);

interface CardComponents<Leaf> {
  readonly header: readonly TemplateComponent<Leaf>[];
  readonly body: readonly TemplateComponent<Leaf>[];
  readonly buttons: readonly TemplateComponent<Leaf>[];
}

const cardComponents = <Leaf>(card: CardDefinition, values: CardValues<Leaf>): CardComponents<Leaf> => ({
  header:
    card.header === undefined || values.header === undefined
      ? []
      : section('header', headerParameters(card.header, values.header)),
  body: card.body === undefined ? [] : section('body', textParameters(card.body, values.body)),
  buttons: values.buttons.map(buttonComponent),
});

/** A product carousel may have more cards than its definition, all of the same make. */
export const cardDefinitionAt = (cards: readonly CardDefinition[], at: number): CardDefinition | undefined =>
  cards[Math.min(at, cards.length - 1)];

const carouselComponent = <Leaf>(
  cards: readonly CardDefinition[],
  values: readonly CardValues<Leaf>[],
): TemplateComponent<Leaf> => ({
  type: 'carousel',
  cards: values.map((value, at) => {
    const card = cardDefinitionAt(cards, at);
    const parts = card === undefined ? undefined : cardComponents(card, value);
    return {
      card_index: at,
      components: parts === undefined ? [] : [...parts.header, ...parts.body, ...parts.buttons],
    };
  }),
});

/**
 * The provider's `components`: only those that take a value, buttons under their real index. An empty list for a
 * static template.
 */
export const buildTemplateComponents = <Leaf>(
  definition: TemplateDefinition,
  values: TemplateValues<Leaf>,
): readonly TemplateComponent<Leaf>[] => {
  const parts = cardComponents(definition, values);
  const offer = present(values.offerExpiresAtMs).map((expiry): TemplateParameter<Leaf> => ({
    type: 'limited_time_offer',
    limited_time_offer: { expiration_time_ms: expiry },
  }));
  const carousel =
    definition.carousel === undefined || values.cards === undefined
      ? []
      : [carouselComponent(definition.carousel.cards, values.cards)];
  return [
    ...parts.header,
    ...section('limited_time_offer', offer),
    ...parts.body,
    ...carousel,
    ...parts.buttons,
  ];
};
