/**
 * `variable_mapping` of campaigns (Spec 4.1.1) and `variableMapping` of single sends (Spec 4.5). The codecs check the
 * shape that holds for every template; what one template needs is checked in `domain/templates/variable-mapping.ts` and
 * `domain/templates/input.ts`.
 */
import * as t from 'io-ts';
import { listOf, recordOf } from './collections.ts';
import { describe, type JsonSchema, named } from './json-schema.ts';
import { optional, refined } from './struct.ts';

/** An object whose keys depend on the template; `schema` names the usual ones for the document. */
const openObject = (schema: JsonSchema): t.Type<{ [key: string]: unknown }> =>
  refined(t.UnknownRecord, () => true, 'must be an object', schema);

const text = { type: 'string' } as const;
const productSchema = {
  type: 'object',
  properties: { product_retailer_id: text, catalog_id: text },
} as const;

const Texts = recordOf(t.string);

const Header = named(
  'HeaderValues',
  openObject({
    description:
      'Text variables by position or name; `link` or `id` of a media file, with `filename` for a document; `latitude`, `longitude`, `name` and `address` of a location; `product` of a product header.',
    properties: {
      link: text,
      id: text,
      filename: text,
      latitude: text,
      longitude: text,
      name: text,
      address: text,
      product: productSchema,
    },
    additionalProperties: true,
  }),
);

const Body = describe(recordOf(t.string), {
  description: 'Contact field or text for each variable, by its position (`"1"`) or name.',
});

/** A text is the button's main value; null skips the button. */
const ButtonValue = named(
  'ButtonValue',
  t.union([
    openObject({
      properties: {
        type: text,
        url_suffix: text,
        coupon_code: text,
        otp: text,
        payload: text,
        flow_token: text,
        flow_action_data: { type: 'object' },
        thumbnail_product_retailer_id: text,
        sections: { type: 'array', items: { type: 'object' } },
      },
    }),
    t.string,
    t.null,
  ]),
);

const isListOrObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** An array in the order of the template's buttons, null for one that is left out; or an object keyed by their index. */
const ButtonValues = named(
  'ButtonValues',
  describe(
    refined(t.unknown, isListOrObject, (field) => `${field} must be an array or an object`, {}),
    {
      description: 'List in the order of the template’s buttons (null skips one), or object by button index.',
    },
    t.union([listOf(ButtonValue), recordOf(ButtonValue)]),
  ),
);

const Card = named('CarouselCard', optional({ header: Header, body: Body, buttons: ButtonValues }));

const LimitedTimeOffer = named(
  'LimitedTimeOffer',
  openObject({
    properties: {
      expiration_time_ms: {
        type: 'integer',
        description: 'End of the offer in milliseconds since 1970 (UTC), in the future.',
      },
    },
  }),
);

const Footer = openObject({ description: 'Ignored: footers have no variables.' });

/** Spec 4.1.1: used when a mapped field is empty. */
const DefaultValues = named(
  'VariableDefaults',
  optional({
    header: Texts,
    body: Texts,
    buttons: describe(recordOf(t.string), {
      description: 'Main value of each button by its index, from 0.',
    }),
    footer: Texts,
    carousel: listOf(Card),
  }),
);

/** Spec 4.1.1. */
export const VariableMapping = named(
  'VariableMapping',
  optional({
    header: Header,
    body: Body,
    buttons: ButtonValues,
    limited_time_offer: LimitedTimeOffer,
    footer: Footer,
    carousel: listOf(Card),
    default_values: DefaultValues,
  }),
);
export type VariableMapping = t.TypeOf<typeof VariableMapping>;
