/** One inbound message of every kind, as the provider writes them; the test chooses id, sender and time. */

type Json = Readonly<Record<string, unknown>>;

export interface InboundKind {
  readonly name: string;
  readonly message: Json;
  /** The message type that is stored. */
  readonly type: string;
  readonly contacts?: readonly Json[];
}

const media = { mime_type: 'application/octet-stream', sha256: 'Zm9v', id: '1003383421387256' };

const kind = (type: string, part: unknown, name = `of type ${type}`): InboundKind => ({
  name,
  type,
  message: { type, [type]: part },
});

export const inboundKinds: readonly InboundKind[] = [
  kind('text', { body: 'Hello' }),
  kind('image', { ...media, caption: 'Look' }),
  kind('video', media),
  kind('audio', { ...media, voice: true }),
  kind('document', { ...media, filename: 'offer.pdf' }),
  kind('sticker', { ...media, animated: false }),
  kind('location', { latitude: 52.52, longitude: 13.4, name: 'Berlin' }),
  kind('contacts', [{ name: { formatted_name: 'Grace Hopper' }, phones: [{ phone: '+1 555 0100' }] }]),
  kind('reaction', { message_id: 'wamid.other', emoji: '👍' }),
  kind('reaction', { message_id: 'wamid.other' }, 'a reaction taken back'),
  kind('button', { text: 'No', payload: 'no-thanks' }),
  kind('interactive', { type: 'button_reply', button_reply: { id: 'a', title: 'Yes' } }, 'a tapped reply'),
  kind('interactive', { type: 'list_reply', list_reply: { id: 'b', title: 'Two' } }, 'a choice from a list'),
  kind(
    'interactive',
    { type: 'nfm_reply', nfm_reply: { response_json: 'not an object' } },
    'the end of a flow',
  ),
  { name: 'interactive without its part', type: 'interactive', message: { type: 'interactive' } },
  kind(
    'edit',
    { original_message_id: 'wamid.other', message: { type: 'image', image: { ...media, caption: 'New' } } },
    'a correction of another message',
  ),
  kind('revoke', { original_message_id: 'wamid.other' }, 'another message taken back'),
  { name: 'a first visit', type: 'request_welcome', message: { type: 'request_welcome' } },
  {
    name: 'an answer to an advertisement',
    type: 'text',
    message: {
      type: 'text',
      text: { body: 'Tell me more' },
      referral: { source_type: 'ad', source_id: '23', ctwa_clid: 'clid', headline: 'Sale' },
    },
  },
  {
    name: 'a forwarded question about a product',
    type: 'button',
    message: {
      type: 'button',
      button: { text: 'No', payload: 'no' },
      context: { forwarded: true, frequently_forwarded: true, referred_product: { catalog_id: '7' } },
    },
  },
  {
    name: 'a tapped reply with errors beside it',
    type: 'interactive',
    message: {
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: { id: 'a', title: 'Yes' } },
      errors: [{ code: 131000, title: 'Something went wrong' }],
    },
  },
  {
    name: 'from somebody with every kind of id',
    type: 'text',
    message: { type: 'text', text: { body: 'x' }, from_user_id: 'US.13491208655302741918' },
    contacts: [
      {
        profile: { name: 'Ada', username: 'ada' },
        wa_id: '4915112345678',
        user_id: 'US.13491208655302741918',
        parent_user_id: 'US.ENT.11815799212886844830',
      },
    ],
  },
  kind('order', { catalog_id: '7', product_items: [{ product_retailer_id: 'x', quantity: 3 }] }),
  kind('system', { type: 'user_changed_number', wa_id: '4915112345679', body: 'changed' }),
  {
    name: 'unsupported',
    type: 'unsupported',
    message: { type: 'unsupported', errors: [{ code: 131051, title: 'Message type unknown' }] },
  },
  { name: 'without a type', type: 'unknown', message: {} },
  { name: 'of a type nobody knows', type: 'hologram', message: { type: 'hologram', hologram: 3 } },
  {
    name: 'stamped with a number',
    type: 'text',
    message: { type: 'text', timestamp: 1749416383, text: { body: 'x' } },
  },
  {
    name: 'from somebody without a profile',
    type: 'text',
    message: { type: 'text', text: { body: 'x' } },
    contacts: [],
  },
  {
    name: 'a reply to another message',
    type: 'text',
    message: { type: 'text', text: { body: 'x' }, context: { from: '15550100000', id: 'wamid.first' } },
  },
];
