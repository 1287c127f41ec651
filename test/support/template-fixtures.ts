/** One template of every kind, as the provider lists it. */

export interface TemplateFixture {
  readonly kind: string;
  readonly category: string;
  readonly parameterFormat?: 'POSITIONAL' | 'NAMED';
  readonly components: readonly unknown[];
  /** Variables that the template requires; spec 2.3. */
  readonly variables: {
    readonly header: readonly string[];
    readonly body: readonly string[];
    readonly buttons: readonly string[];
  };
  /** Set for the templates that a list of texts cannot fill. */
  readonly needsMapping?: true;
}

const none = { header: [], body: [], buttons: [] } as const;

const body = (text: string) => ({ type: 'BODY', text });
const header = (format: string, rest: object = {}) => ({ type: 'HEADER', format, ...rest });
const buttons = (...list: readonly object[]) => ({ type: 'BUTTONS', buttons: list });

const quickReply = { type: 'QUICK_REPLY', text: 'Not now' };
const phone = { type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+4930123456' };
const staticUrl = { type: 'URL', text: 'Shop', url: 'https://shop.example.com/' };
const dynamicUrl = {
  type: 'URL',
  text: 'Track',
  url: 'https://shop.example.com/track/{{1}}',
  example: ['x1'],
};
const copyCode = { type: 'COPY_CODE', text: 'Copy offer code', example: ['SPRING25'] };

const card = (format: string, ...list: readonly object[]) => ({
  components: [
    header(format, { example: { header_handle: ['4::aW'] } }),
    body('Only {{1}} today'),
    buttons(...list),
  ],
});

const productCard = { components: [header('PRODUCT'), buttons({ type: 'SPM', text: 'View' })] };

const marketing = 'MARKETING';
const utility = 'UTILITY';

export const templateFixtures: readonly TemplateFixture[] = [
  {
    kind: 'static text',
    category: utility,
    components: [body('Welcome!'), { type: 'FOOTER', text: 'Bye' }],
    variables: none,
  },
  {
    kind: 'text header and body',
    category: marketing,
    components: [
      header('TEXT', { text: 'Our {{1}} is on!' }),
      body('Hi {{1}}, code {{2}}, again {{1}}'),
      buttons(quickReply),
    ],
    variables: { header: ['1'], body: ['1', '2'], buttons: [] },
  },
  {
    kind: 'ten positional variables out of order',
    category: utility,
    components: [body('{{10}} {{9}} {{8}} {{7}} {{6}} {{5}} {{4}} {{3}} {{2}} {{1}} {{ 2 }}')],
    variables: { ...none, body: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'] },
  },
  {
    kind: 'named variables',
    category: utility,
    parameterFormat: 'NAMED',
    components: [
      header('TEXT', { text: 'Hello {{first_name}}' }),
      body('Order {{order_id}} for {{first_name}} leaves {{day}}; {{order_id}}'),
    ],
    variables: { header: ['first_name'], body: ['order_id', 'first_name', 'day'], buttons: [] },
  },
  {
    kind: 'named by its examples only',
    category: utility,
    components: [
      {
        type: 'BODY',
        text: 'Hi {{customer}}',
        example: { body_text_named_params: [{ param_name: 'customer', example: 'Ada' }] },
      },
    ],
    variables: { ...none, body: ['customer'] },
  },
  {
    kind: 'image header',
    category: marketing,
    components: [header('IMAGE'), body('Hi {{1}}')],
    variables: { header: ['image'], body: ['1'], buttons: [] },
  },
  {
    kind: 'video header',
    category: marketing,
    components: [header('VIDEO'), body('Look')],
    variables: { ...none, header: ['video'] },
  },
  {
    kind: 'gif header',
    category: marketing,
    components: [header('GIF'), body('Look')],
    variables: { ...none, header: ['gif'] },
  },
  {
    kind: 'document header',
    category: utility,
    components: [header('DOCUMENT'), body('Your invoice {{1}}')],
    variables: { header: ['document'], body: ['1'], buttons: [] },
  },
  {
    kind: 'location header',
    category: utility,
    components: [header('LOCATION'), body('We are here')],
    variables: { ...none, header: ['latitude', 'longitude', 'name', 'address'] },
  },
  {
    kind: 'single product',
    category: marketing,
    components: [header('PRODUCT'), body('{{1}} off'), buttons({ type: 'SPM', text: 'View' })],
    variables: { header: ['product_retailer_id', 'catalog_id'], body: ['1'], buttons: [] },
  },
  {
    kind: 'static buttons before dynamic ones',
    category: marketing,
    components: [body('Hi {{1}}'), buttons(quickReply, phone, staticUrl, dynamicUrl, copyCode)],
    variables: { ...none, body: ['1'], buttons: ['1', 'coupon_code'] },
  },
  {
    kind: 'named body with a positional URL',
    category: utility,
    parameterFormat: 'NAMED',
    components: [body('Hi {{name}}'), buttons(dynamicUrl)],
    variables: { ...none, body: ['name'], buttons: ['1'] },
  },
  {
    kind: 'flow',
    category: utility,
    components: [body('Book a table'), buttons({ type: 'FLOW', text: 'Book', flow_id: '12' })],
    variables: none,
  },
  {
    kind: 'catalog',
    category: marketing,
    components: [body('Now {{1}} items'), buttons({ type: 'CATALOG', text: 'View catalog' })],
    variables: { ...none, body: ['1'] },
  },
  {
    kind: 'multi-product',
    category: marketing,
    components: [
      header('TEXT', { text: 'For {{1}}' }),
      body('Left in your cart'),
      buttons({ type: 'MPM', text: 'View items' }),
    ],
    variables: { header: ['1'], body: [], buttons: ['sections'] },
    needsMapping: true,
  },
  {
    kind: 'voice call',
    category: utility,
    components: [body('Call us'), buttons({ type: 'VOICE_CALL', text: 'Call' })],
    variables: none,
  },
  {
    kind: 'offer with a code',
    category: marketing,
    components: [
      header('IMAGE'),
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Expiring!', has_expiration: true } },
      body('Good news, {{1}}!'),
      buttons(copyCode, dynamicUrl),
    ],
    variables: { header: ['image'], body: ['1'], buttons: ['coupon_code', '1'] },
    needsMapping: true,
  },
  {
    kind: 'offer without a code or an expiry',
    category: marketing,
    components: [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Deal!', has_expiration: false } },
      body('Good news, {{1}}!'),
      buttons(dynamicUrl),
    ],
    variables: { header: [], body: ['1'], buttons: ['1'] },
  },
  {
    kind: 'offer with an expiry and without a code',
    category: marketing,
    components: [
      header('VIDEO'),
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Hurry!', has_expiration: true } },
      body('Good news!'),
      buttons(dynamicUrl),
    ],
    variables: { header: ['video'], body: [], buttons: ['1'] },
    needsMapping: true,
  },
  {
    kind: 'named variables around a media carousel',
    category: marketing,
    parameterFormat: 'NAMED',
    components: [
      body('Hi {{first_name}}'),
      {
        type: 'CAROUSEL',
        cards: [0, 1].map(() => ({
          components: [header('IMAGE'), body('For {{first_name}}'), buttons(dynamicUrl, phone)],
        })),
      },
    ],
    variables: { ...none, body: ['first_name'] },
    needsMapping: true,
  },
  {
    kind: 'media carousel without texts on its cards',
    category: marketing,
    components: [
      body('Look'),
      {
        type: 'CAROUSEL',
        cards: [0, 1].map(() => ({ components: [header('IMAGE'), buttons(staticUrl)] })),
      },
    ],
    variables: none,
    needsMapping: true,
  },
  {
    kind: 'media carousel',
    category: marketing,
    components: [
      body('Hi {{1}}'),
      {
        type: 'CAROUSEL',
        cards: [card('IMAGE', quickReply, dynamicUrl), card('IMAGE', quickReply, dynamicUrl)],
      },
    ],
    variables: { ...none, body: ['1'] },
    needsMapping: true,
  },
  {
    kind: 'video carousel of three',
    category: marketing,
    components: [
      body('Look'),
      {
        type: 'CAROUSEL',
        cards: [card('VIDEO', dynamicUrl), card('VIDEO', dynamicUrl), card('VIDEO', dynamicUrl)],
      },
    ],
    variables: none,
    needsMapping: true,
  },
  {
    kind: 'product carousel',
    category: marketing,
    components: [body('Hi {{1}}'), { type: 'CAROUSEL', cards: [productCard, productCard] }],
    variables: { ...none, body: ['1'] },
    needsMapping: true,
  },
  ...['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'].map((otpType) => ({
    kind: `authentication ${otpType}`,
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 10 },
      buttons({ type: 'OTP', otp_type: otpType, text: 'Copy code' }),
    ],
    variables: { ...none, body: ['1'], buttons: ['otp'] },
  })),
  {
    kind: 'authentication as the provider lists it',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', text: '*{{1}}* is your verification code.' },
      buttons({ type: 'URL', text: 'Copy code', url: 'https://provider.example.com/otp/?code=otp{{1}}' }),
    ],
    variables: { ...none, body: ['1'], buttons: ['otp'] },
  },
  {
    kind: 'every part at once',
    category: marketing,
    components: [
      header('DOCUMENT'),
      body('{{1}}, your order {{2}} costs {{3}}.'),
      { type: 'FOOTER', text: 'Reply STOP to end' },
      buttons(quickReply, { type: 'QUICK_REPLY', text: 'Later' }, dynamicUrl, staticUrl, phone, copyCode),
    ],
    variables: { header: ['document'], body: ['1', '2', '3'], buttons: ['1', 'coupon_code'] },
  },
  {
    kind: 'unknown parts',
    category: utility,
    components: [
      header('HOLOGRAM'),
      body('Hi {{1}} and {{someone}}'),
      { type: 'SOMETHING_NEW', text: '{{1}}' },
      buttons({ type: 'ORDER_DETAILS', text: 'Pay' }, dynamicUrl),
    ],
    variables: { ...none, body: ['1'], buttons: ['1'] },
  },
];

export const templateFixture = (kind: string): TemplateFixture => {
  const found = templateFixtures.find((fixture) => fixture.kind === kind);
  if (found === undefined) throw new Error(`No template fixture of kind ${kind}`);
  return found;
};
