import type { TemplateDefinition } from './defaults.ts';

const approved = { language: 'en_US', status: 'APPROVED' } as const;

const mediaCard = {
  components: [
    { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://media.example.com/card.jpg'] } },
    { type: 'BODY', text: 'Take {{1}} off with this card today.', example: { body_text: [['20%']] } },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Send me more' },
        {
          type: 'URL',
          text: 'Buy now',
          url: 'https://shop.example.com/p/{{1}}',
          example: ['https://shop.example.com/p/fern'],
        },
      ],
    },
  ],
};

const productCard = {
  components: [
    { type: 'HEADER', format: 'PRODUCT' },
    { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] },
  ],
};

/** Authentication, flows, products, offers and carousels. */
export const defaultRichTemplates: readonly TemplateDefinition[] = [
  {
    ...approved,
    name: 'login_code',
    category: 'AUTHENTICATION',
    components: [
      {
        type: 'BODY',
        text: '*{{1}}* is your verification code. For your security, do not share this code.',
        add_security_recommendation: true,
        example: { body_text: [['123456']] },
      },
      { type: 'FOOTER', text: 'This code expires in 10 minutes.', code_expiration_minutes: 10 },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Copy code',
            url: 'https://www.example.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}',
            example: ['https://www.example.com/otp/code/?otp_type=COPY_CODE&code=otp123456'],
          },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'login_code_one_tap',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 10 },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'OTP',
            otp_type: 'ONE_TAP',
            text: 'Copy code',
            autofill_text: 'Autofill',
            supported_apps: [{ package_name: 'com.example.shop', signature_hash: 'K8a/AINcGX7' }],
          },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'feedback_flow',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'How did we do, {{1}}? Two questions only.', example: { body_text: [['Ada']] } },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'FLOW',
            text: 'Answer',
            flow_id: '1234567890',
            flow_action: 'navigate',
            navigate_screen: 'FIRST',
          },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'catalog_intro',
    category: 'MARKETING',
    components: [
      { type: 'BODY', text: 'Our whole catalog is one tap away, {{1}}!', example: { body_text: [['Ada']] } },
      { type: 'BUTTONS', buttons: [{ type: 'CATALOG', text: 'View catalog' }] },
    ],
  },
  {
    ...approved,
    name: 'abandoned_cart',
    category: 'MARKETING',
    components: [
      {
        type: 'HEADER',
        format: 'TEXT',
        text: 'Forgot something, {{1}}?',
        example: { header_text: ['Ada'] },
      },
      {
        type: 'BODY',
        text: 'Your cart waits for you. Code {{1}} takes 10% off everything in it.',
        example: { body_text: [['10OFF']] },
      },
      { type: 'BUTTONS', buttons: [{ type: 'MPM', text: 'View items' }] },
    ],
  },
  {
    ...approved,
    name: 'single_product_offer',
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'PRODUCT' },
      {
        type: 'BODY',
        text: 'Use code {{1}} to get {{2}} off our newest plant!',
        example: { body_text: [['25OFF', '25%']] },
      },
      { type: 'BUTTONS', buttons: [{ type: 'SPM', text: 'View' }] },
    ],
  },
  {
    ...approved,
    name: 'limited_time_trip',
    category: 'MARKETING',
    components: [
      {
        type: 'HEADER',
        format: 'IMAGE',
        example: { header_handle: ['https://media.example.com/beach.jpg'] },
      },
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Expiring offer!', has_expiration: true } },
      {
        type: 'BODY',
        text: 'Good news, {{1}}! Use code {{2}} to get 25% off all trips!',
        example: { body_text: [['Ada', 'TRIP25']] },
      },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'COPY_CODE', example: 'TRIP25' },
          {
            type: 'URL',
            text: 'Book now',
            url: 'https://trips.example.com/offers?code={{1}}',
            example: ['https://trips.example.com/offers?code=n3mtql'],
          },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'media_carousel',
    category: 'MARKETING',
    components: [
      {
        type: 'BODY',
        text: 'Rare plants for sale, {{1}}! Use code {{2}} today.',
        example: { body_text: [['Ada', '20OFF']] },
      },
      { type: 'CAROUSEL', cards: [mediaCard, mediaCard] },
    ],
  },
  {
    ...approved,
    name: 'product_carousel',
    category: 'MARKETING',
    components: [
      { type: 'BODY', text: 'Picked for you, {{1}}, from our shelves.', example: { body_text: [['Ada']] } },
      { type: 'CAROUSEL', cards: [productCard, productCard] },
    ],
  },
];
