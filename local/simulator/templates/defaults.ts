/** A template definition in the provider's own shape, without the id that an account gives it. */
export interface TemplateDefinition {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly status: string;
  readonly parameter_format?: 'POSITIONAL' | 'NAMED';
  readonly components: readonly object[];
  /** Who made it; `AUTO_GENERATED` by the provider. */
  readonly source?: string;
  readonly message_send_ttl_seconds?: number;
  readonly quality_score?: { readonly score: string; readonly date: number };
}

const approved = { language: 'en_US', status: 'APPROVED' } as const;
const imageHeader = {
  type: 'HEADER',
  format: 'IMAGE',
  example: { header_handle: ['https://media.example.com/header.jpg'] },
};

/** Simple texts for demonstrations, then one template for every kind of header, variable and button. */
export const defaultTemplates: readonly TemplateDefinition[] = [
  {
    ...approved,
    name: 'hello_campaign',
    category: 'MARKETING',
    components: [
      {
        type: 'BODY',
        text: 'Hello {{1}}, thank you for being with us. Our autumn collection is here!',
        example: { body_text: [['Ada']] },
      },
    ],
  },
  {
    ...approved,
    name: 'hello_campaign',
    language: 'de',
    category: 'MARKETING',
    components: [
      {
        type: 'BODY',
        text: 'Hallo {{1}}, danke für Ihre Treue. Unsere Herbstkollektion ist da!',
        example: { body_text: [['Ada']] },
      },
    ],
  },
  {
    ...approved,
    name: 'plain_notice',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Our shop is closed on Monday. We are back on Tuesday at nine.' },
      { type: 'FOOTER', text: 'Example Shop' },
    ],
  },
  {
    ...approved,
    name: 'order_update',
    category: 'UTILITY',
    components: [
      imageHeader,
      {
        type: 'BODY',
        text: 'Hi {{1}}, your order {{2}} is on its way and arrives on {{3}}. Thank you!',
        example: { body_text: [['Ada', 'A-1001', 'Friday']] },
      },
      { type: 'FOOTER', text: 'Example Shop' },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Track',
            url: 'https://shop.example.com/track/{{1}}',
            example: ['https://shop.example.com/track/A-1001'],
          },
          { type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+15550783881' },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'reservation_confirmation',
    category: 'UTILITY',
    parameter_format: 'NAMED',
    components: [
      {
        type: 'HEADER',
        format: 'TEXT',
        text: 'See you soon, {{first_name}}!',
        example: { header_text_named_params: [{ param_name: 'first_name', example: 'Ada' }] },
      },
      {
        type: 'BODY',
        text: 'Your table for {{party_size}} on {{date}} is reserved, {{first_name}}. Reply to change it.',
        example: {
          body_text_named_params: [
            { param_name: 'party_size', example: '4' },
            { param_name: 'date', example: 'May 4th' },
            { param_name: 'first_name', example: 'Ada' },
          ],
        },
      },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Confirm' },
          { type: 'QUICK_REPLY', text: 'Cancel' },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'season_sale',
    category: 'MARKETING',
    components: [
      {
        type: 'HEADER',
        format: 'TEXT',
        text: 'Our {{1}} is on!',
        example: { header_text: ['Summer Sale'] },
      },
      {
        type: 'BODY',
        text: 'Shop now through {{1}} with code {{2}} and get {{3}} off everything.',
        example: { body_text: [['the end of August', '25OFF', '25%']] },
      },
      { type: 'FOOTER', text: 'Tap stop to hear no more of our sales' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Stop promotions' },
          { type: 'COPY_CODE', example: '25OFF' },
        ],
      },
    ],
  },
  {
    ...approved,
    name: 'product_video',
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'VIDEO', example: { header_handle: ['https://media.example.com/tour.mp4'] } },
      {
        type: 'BODY',
        text: '{{1}}, watch how it is made. It takes a minute.',
        example: { body_text: [['Ada']] },
      },
    ],
  },
  {
    ...approved,
    name: 'invoice_ready',
    category: 'UTILITY',
    components: [
      {
        type: 'HEADER',
        format: 'DOCUMENT',
        example: { header_handle: ['https://media.example.com/invoice.pdf'] },
      },
      {
        type: 'BODY',
        text: 'Dear {{1}}, your invoice {{2}} is attached. Thank you.',
        example: { body_text: [['Ada', 'R-77']] },
      },
    ],
  },
  {
    ...approved,
    name: 'store_location',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'LOCATION' },
      {
        type: 'BODY',
        text: 'Your parcel waits at our store, {{1}}. See you!',
        example: { body_text: [['Ada']] },
      },
    ],
  },
  {
    ...approved,
    name: 'paused_offer',
    category: 'MARKETING',
    status: 'PAUSED',
    components: [
      { type: 'BODY', text: 'A last chance for you, {{1}}, today only.', example: { body_text: [['Ada']] } },
    ],
  },
  {
    ...approved,
    name: 'pending_news',
    category: 'MARKETING',
    status: 'PENDING',
    components: [
      { type: 'BODY', text: 'There are news for {{1}} in our shop.', example: { body_text: [['Ada']] } },
    ],
  },
  {
    ...approved,
    name: 'rejected_prize',
    category: 'MARKETING',
    status: 'REJECTED',
    components: [{ type: 'BODY', text: 'You have won a prize.' }],
  },
];
