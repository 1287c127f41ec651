/**
 * The provider's `template.components` as strictly as it takes them: known keys only, no empty text, every parameter
 * in the shape of its type.
 */
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { PathReporter } from 'io-ts/lib/PathReporter.js';

const only = <P extends t.Props>(props: P, optional: t.Props = {}): t.Type<unknown> => {
  const keys = new Set([...Object.keys(props), ...Object.keys(optional)]);
  return t.refinement(
    t.intersection([t.type(props), t.partial(optional)]),
    (value) => Object.keys(value).every((key) => keys.has(key)),
    `only {${[...keys].join(', ')}}`,
  ) as unknown as t.Type<unknown>;
};

const union = (...codecs: readonly t.Type<unknown>[]): t.Type<unknown> =>
  t.union(codecs as unknown as [t.Type<unknown>, t.Type<unknown>]);

const matching = (name: string, test: (text: string) => boolean) => t.refinement(t.string, test, name);

const sendable = (text: string): boolean => text.trim() !== '' && !/[\r\n\t]| {4}/.test(text);
const Text = matching('Text', sendable);
const Filled = matching('Filled', (text) => text.trim() !== '');
const Link = matching('Link', (text) => /^https?:\/\/[^\s]+$/.test(text));
const Index = matching('Index', (text) => /^\d$/.test(text));
const Coordinate = matching('Coordinate', (text) => /^-?\d+(\.\d+)?$/.test(text));

const text = only({ type: t.literal('text'), text: Text }, { parameter_name: Filled });
const media = (kind: string): t.Type<unknown> =>
  only({ type: t.literal(kind), [kind]: union(only({ id: Filled }), only({ link: Link })) });
const document = only({
  type: t.literal('document'),
  document: union(only({ id: Filled }, { filename: Filled }), only({ link: Link }, { filename: Filled })),
});
const place = only({ latitude: Coordinate, longitude: Coordinate, name: Filled, address: Filled });
const location = only({ type: t.literal('location'), location: place });
const product = only({
  type: t.literal('product'),
  product: only({ product_retailer_id: Filled, catalog_id: Filled }),
});

const several = (codec: t.Type<unknown>, atLeast: number, atMost: number) =>
  t.refinement(
    t.array(codec),
    (list) => list.length >= atLeast && list.length <= atMost,
    `${atLeast}..${atMost}`,
  );
const one = (codec: t.Type<unknown>) => several(codec, 1, 1);

const header = only({
  type: t.literal('header'),
  parameters: one(union(text, media('image'), media('video'), media('gif'), document, location, product)),
});
const body = only({ type: t.literal('body'), parameters: several(text, 1, 100) });

const button = (subType: string, parameter: t.Type<unknown>): t.Type<unknown> =>
  only({ type: t.literal('button'), sub_type: t.literal(subType), index: Index, parameters: one(parameter) });
const bareButton = (subType: string): t.Type<unknown> =>
  only({ type: t.literal('button'), sub_type: t.literal(subType), index: Index });
const action = (codec: t.Type<unknown>) => only({ type: t.literal('action'), action: codec });
const section = only({ title: Filled, product_items: several(only({ product_retailer_id: Filled }), 1, 30) });
const voiceParameter = union(
  only({ type: t.literal('ttl_minutes'), ttl_minutes: t.number }),
  only({ type: t.literal('payload'), payload: Filled }),
);

const buttons: readonly t.Type<unknown>[] = [
  button('url', text),
  button('quick_reply', only({ type: t.literal('payload'), payload: Filled })),
  button('copy_code', only({ type: t.literal('coupon_code'), coupon_code: Filled })),
  button('flow', action(only({}, { flow_token: Filled, flow_action_data: t.UnknownRecord }))),
  bareButton('flow'),
  button('catalog', action(only({ thumbnail_product_retailer_id: Filled }))),
  bareButton('catalog'),
  button('mpm', action(only({ thumbnail_product_retailer_id: Filled, sections: several(section, 1, 10) }))),
  only({
    type: t.literal('button'),
    sub_type: t.literal('voice_call'),
    index: Index,
    parameters: several(voiceParameter, 1, 2),
  }),
];

const offer = only({
  type: t.literal('limited_time_offer'),
  parameters: one(
    only({
      type: t.literal('limited_time_offer'),
      limited_time_offer: only({
        expiration_time_ms: t.refinement(t.number, (time) => time > 1e12, 'Milliseconds'),
      }),
    }),
  ),
});

const card = only({ card_index: t.number, components: t.array(union(header, body, ...buttons)) });
const carousel = only({ type: t.literal('carousel'), cards: several(card, 1, 10) });

const components = t.array(union(header, body, offer, carousel, ...buttons));

/** Problems that the provider would report for these components; empty if valid. */
export const providerProblems = (request: unknown): readonly string[] => {
  const decoded = components.decode(request);
  return isRight(decoded) ? [] : PathReporter.report(decoded);
};
