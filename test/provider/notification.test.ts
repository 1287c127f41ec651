import { describe, expect, it } from 'vitest';
import { readNotification } from '../../src/provider/notification.ts';
import type { NotificationItem } from '../../src/provider/notification-item.ts';

const accountId = '102290129340398';
const metadata = { display_phone_number: '15550783881', phone_number_id: '106540352242922' };
const person = {
  profile: { name: 'Ada Lovelace' },
  wa_id: '16505551234',
  user_id: 'US.13491208655302741918',
};
const textMessage = {
  from: '16505551234',
  id: 'wamid.IN1',
  timestamp: '1749416383',
  type: 'text',
  text: { body: 'Hi' },
};
const sentStatus = { id: 'wamid.OUT1', status: 'sent', timestamp: '1751142888', recipient_id: '16505551234' };

function read(value: unknown, field: unknown = 'messages', entry: object = {}): readonly NotificationItem[] {
  return readNotification(
    bytes({ object: 'whatsapp_business_account', entry: [entryOf(value, field, entry)] }),
  );
}

function entryOf(value: unknown, field: unknown, entry: object): object {
  return { id: accountId, ...entry, changes: [{ value, field }] };
}

function bytes(notification: unknown): Buffer {
  return Buffer.from(JSON.stringify(notification));
}

const inChannel = (parts: object): object => ({ messaging_product: 'whatsapp', metadata, ...parts });
const kinds = (items: readonly NotificationItem[]): readonly string[] => items.map(({ kind }) => kind);

describe('a status', () => {
  it('carries ids, our own data, price and where it belongs', () => {
    const raw = {
      ...sentStatus,
      biz_opaque_callback_data: '0199-message',
      conversation: { id: 'c', expiration_timestamp: '1751200000', origin: { type: 'marketing' } },
      pricing: { billable: true, pricing_model: 'PMP', type: 'regular', category: 'MARKETING' },
    };

    expect(read(inChannel({ statuses: [raw] }))).toEqual([
      {
        kind: 'status',
        businessAccountId: accountId,
        phoneNumberId: '106540352242922',
        providerMessageId: 'wamid.OUT1',
        status: 'sent',
        timestamp: '1751142888',
        recipientId: '16505551234',
        recipientUserId: null,
        recipientParentUserId: null,
        callbackData: '0199-message',
        pricing: { billable: true, category: 'marketing' },
        failure: null,
        raw,
      },
    ]);
  });

  it('carries the first reason of a failure that has a code', () => {
    const whole = {
      code: 131049,
      title: 'Not delivered',
      message: 'm',
      error_data: { details: 'healthy ecosystem' },
      href: 'h',
    };
    const bare = { code: '131053', title: 'Media' };
    const failed = (errors: unknown) => ({ ...sentStatus, status: 'failed', errors });

    expect(
      read(
        inChannel({
          statuses: [
            failed(['nothing', { title: 'without a code' }, whole, bare]),
            failed([bare]),
            failed([]),
          ],
        }),
      ),
    ).toMatchObject([
      { status: 'failed', failure: { code: 131049, details: 'healthy ecosystem' } },
      { status: 'failed', failure: { code: 131053, details: 'Media' } },
      { status: 'failed', failure: null },
    ]);
  });

  it('is read when numbers stand where texts are usual, and upper case where lower is', () => {
    const [status] = read(
      inChannel({ statuses: [{ id: 77, status: 'READ', timestamp: 1669233778, recipient_id: 16505551234 }] }),
    );

    expect(status).toMatchObject({
      providerMessageId: '77',
      status: 'read',
      timestamp: '1669233778',
      recipientId: '16505551234',
    });
  });

  it('is read when it names a user id instead of a number', () => {
    const [status] = read(
      inChannel({
        statuses: [{ id: 'wamid.1', status: 'delivered', recipient_id: '', recipient_user_id: 'US.1349' }],
      }),
    );

    expect(status).toMatchObject({ recipientId: null, recipientUserId: 'US.1349', timestamp: null });
  });

  it.each(['played', 'deleted', 'warming_up'])('is ignored when it is %s', (name) => {
    expect(read(inChannel({ statuses: [{ ...sentStatus, status: name }] }))).toMatchObject([
      { kind: 'ignored', reason: `status ${name}` },
    ]);
  });

  it.each([
    ['pricing', 'free'],
    ['pricing', { billable: 'perhaps' }],
    ['errors', { code: 1 }],
    ['conversation', []],
    ['biz_opaque_callback_data', {}],
    ['timestamp', null],
    ['recipient_id', ['x']],
  ])('is read although its %s is %o', (name, value) => {
    expect(kinds(read(inChannel({ statuses: [{ ...sentStatus, [name]: value }] })))).toEqual(['status']);
  });

  it('keeps characters out of its texts that no text column takes', () => {
    const data = 'a\u0000b\uD800c';
    const [status] = read(inChannel({ statuses: [{ ...sentStatus, biz_opaque_callback_data: data }] }));

    expect(status).toMatchObject({ callbackData: 'a\uFFFDb\uFFFDc' });
  });
});

describe('a message', () => {
  it('carries the person, the text and the callback cut down to it', () => {
    const other = { ...textMessage, id: 'wamid.IN2', from: '19995550000' };
    const strangers = [{ profile: { name: 'Other' }, wa_id: '19995550000' }, person];

    const items = read(
      inChannel({ contacts: strangers, messages: [textMessage, other], statuses: [sentStatus] }),
    );

    expect(items[0]).toEqual({
      kind: 'message',
      businessAccountId: accountId,
      phoneNumberId: '106540352242922',
      providerMessageId: 'wamid.IN1',
      from: '16505551234',
      fromUserId: 'US.13491208655302741918',
      profileName: 'Ada Lovelace',
      fromParentUserId: null,
      username: null,
      country: null,
      type: 'text',
      timestamp: '1749416383',
      texts: ['Hi'],
      groupId: null,
      repliesTo: null,
      change: null,
      standby: false,
      notification: {
        object: 'whatsapp_business_account',
        entry: [entryOf(inChannel({ contacts: [person], messages: [textMessage] }), 'messages', {})],
      },
      raw: textMessage,
    });
    expect(kinds(items)).toEqual(['message', 'message', 'status']);
  });

  it.each([
    ['a tapped template button', { type: 'button', button: { text: 'Stop', payload: 'p' } }, ['Stop', 'p']],
    [
      'a tapped reply',
      { type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: '1', title: 'Yes' } } },
      ['Yes', '1'],
    ],
    [
      'a chosen row',
      { type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: '1', title: 'Row' } } },
      ['Row', '1'],
    ],
    ['a picture with words', { type: 'image', image: { id: '1', caption: 'Look' } }, ['Look']],
    ['a picture without words', { type: 'image', image: { id: '1', mime_type: 'image/jpeg' } }, []],
    ['a place', { type: 'location', location: { latitude: 1.5, longitude: 2 } }, []],
    ['a reaction taken back', { type: 'reaction', reaction: { message_id: 'wamid.X' } }, []],
    ['an order', { type: 'order', order: { catalog_id: 'c', product_items: [], text: '' } }, []],
    [
      'a flow answer',
      { type: 'interactive', interactive: { type: 'nfm_reply', nfm_reply: { response_json: '[]' } } },
      [],
    ],
    ['a kind without its part', { type: 'interactive' }, []],
    ['an unsupported kind', { type: 'unsupported', errors: [{ code: 131051 }] }, []],
    [
      'a change of number',
      { type: 'system', system: { body: 'changed', type: 'user_changed_number' } },
      ['changed'],
    ],
    ['contact cards', { type: 'contacts', contacts: [{ name: { formatted_name: 'X' } }] }, []],
  ])('is read when it is %s', (_name, part, texts) => {
    const { text: _text, ...rest } = textMessage;

    expect(read(inChannel({ contacts: [person], messages: [{ ...rest, ...part }] }))).toMatchObject([
      { kind: 'message', type: part.type, texts, from: '16505551234' },
    ]);
  });

  it('is read when the person hides the number', () => {
    const { from: _from, ...hidden } = { ...textMessage, from_user_id: 'US.1349' };
    const contacts = [{ user_id: 'US.1349', profile: { username: 'ada' } }];

    expect(read(inChannel({ contacts, messages: [hidden] }))).toMatchObject([
      { kind: 'message', from: null, fromUserId: 'US.1349', profileName: null },
    ]);
  });

  it('takes the number from the only contact when the message names none', () => {
    const { from: _from, ...nameless } = textMessage;

    expect(read(inChannel({ contacts: [person], messages: [nameless] }))).toMatchObject([
      { from: '16505551234' },
    ]);
  });

  it.each([
    ['of a changed number', { type: 'user_changed_number', wa_id: '972501234567' }, '972501234567'],
    ['of a changed number in the older form', { type: 'customer_changed_number', new_wa_id: '1' }, null],
  ])('reads the new number, if any, %s', (_, system, newNumber) => {
    const message = { ...textMessage, type: 'system', text: undefined, system };

    expect(read(inChannel({ messages: [message] }))).toMatchObject([
      { kind: 'message', change: { previous: ['16505551234'], newNumber } },
    ]);
  });

  it.each([
    ['of a changed identity', { type: 'customer_identity_changed', wa_id: '972501234567', user_id: 'IL.2' }],
    ['of a system message without a type', 'text'],
  ])('announces no new ids %s', (_, system) => {
    const message = { ...textMessage, type: 'system', text: undefined, system };

    expect(read(inChannel({ messages: [message] }))).toMatchObject([{ kind: 'message', change: null }]);
  });

  const changedId = { type: 'user_changed_user_id', user_id: 'IL.2' };
  const changedNumber = { ...changedId, type: 'user_changed_number', wa_id: '972501234567' };
  it.each([
    ['the previous id', {}, { ...changedId, previous_user_id: 'IL.1' }, ['IL.1']],
    ['the previous parent', {}, { ...changedId, previous_parent_user_id: 'IL.ENT.1' }, ['IL.ENT.1']],
    [
      'both, then the number',
      { from: '16505551234' },
      { ...changedId, previous_user_id: 'IL.1', previous_parent_user_id: 'IL.ENT.1' },
      ['IL.1', 'IL.ENT.1', '16505551234'],
    ],
    ['the sender, if that is not the new id', { from_user_id: 'IL.1' }, changedId, ['IL.1']],
    ['nothing, if the sender is the new id', { from: '', from_user_id: 'IL.2' }, changedId, []],
    ['the text', {}, { ...changedId, body: 'User Ada changed from IL.1 to IL.2.' }, ['IL.1']],
    [
      'the end of the text',
      {},
      { ...changedId, body: 'User changed from X to Y changed from IL.1 to IL.2' },
      ['IL.1'],
    ],
    ['no text about other ids', {}, { ...changedId, body: 'User Ada changed from IL.1 to IL.3' }, []],
    [
      'numbers in the text',
      {},
      { ...changedNumber, body: 'User Ada changed from +16505551234 to +972501234567' },
      ['16505551234'],
    ],
  ])('names who has changed by %s', (_, sender, system, previous) => {
    const { from: _from, text: _text, ...rest } = textMessage;
    const message = { ...rest, ...sender, type: 'system', system };

    expect(read(inChannel({ messages: [message] }))).toMatchObject([
      { change: { previous, newUserId: 'IL.2' } },
    ]);
  });

  it('tells parent id, username and country of its sender', () => {
    const message = { ...textMessage, from_user_id: 'IN.1', from_parent_user_id: 'IN.ENT.9' };
    const contacts = [{ user_id: 'IN.1', profile: { username: 'ada' }, country_code: 'us' }];
    expect(read(inChannel({ contacts, messages: [message] }))).toMatchObject([
      { fromParentUserId: 'IN.ENT.9', username: 'ada', country: 'US', profileName: null },
    ]);
  });

  it('is read from a conversation that another app holds', () => {
    const standby = { contacts: [person], messages: [textMessage] };
    expect(read(inChannel({ standby }), 'standby')).toMatchObject([
      { kind: 'message', standby: true, from: '16505551234', phoneNumberId: expect.any(String) },
    ]);
    const sent = { messaging_product: 'whatsapp', to: '+16505551234', type: 'text', text: { body: 'Hi' } };
    const echo = { id: 'wamid.E', timestamp: '1', message: sent };
    expect(read(inChannel({ standby: { message_echoes: [echo] } }), 'standby')).toMatchObject([
      { kind: 'echo', providerMessageId: 'wamid.E', to: '16505551234', type: 'text' },
    ]);
    const status = { id: 'wamid.S', status: 'sent', timestamp: '1', biz_opaque_callback_data: 'x' };
    expect(read(inChannel({ standby: { statuses: [status] } }), 'standby')).toMatchObject([
      { kind: 'status', providerMessageId: 'wamid.S', callbackData: null },
    ]);
    expect(read(inChannel({ standby: 7 }), 'standby')).toMatchObject([{ kind: 'ignored' }]);
  });

  it('is followed by a notice of its own when its sender gets another user id', () => {
    const change = { wa_id: '16505551234', user_id: { previous: 'US.1', current: 'US.2' } };
    const expectedItem = { kind: 'identity', waId: '16505551234', previousUserId: 'US.1', userId: 'US.2' };

    expect(read(inChannel({ user_id_update: [change] }), 'user_id_update')).toMatchObject([expectedItem]);
    expect(read(change, 'user_id_update')).toMatchObject([expectedItem]);
    expect(read({ user_id: { current: 'US.2' } }, 'user_id_update')).toMatchObject([{ kind: 'ignored' }]);
  });

  it('was written by hand in the provider’s app', () => {
    const echo = { ...textMessage, to: '+1 650 555 1234', to_user_id: 'US.1' };
    const value = inChannel({ message_echoes: [echo, { to: '16505551234' }] });

    expect(read(value, 'smb_message_echoes')).toMatchObject([
      {
        kind: 'echo',
        phoneNumberId: '106540352242922',
        providerMessageId: 'wamid.IN1',
        to: '16505551234',
        toUserId: 'US.1',
        type: 'text',
      },
      { kind: 'ignored' },
    ]);
  });

  it('is read without contacts, and with what it replies to', () => {
    const reply = { ...textMessage, context: { from: '15550783881', id: 'wamid.OUT1' } };

    expect(read(inChannel({ messages: [reply] }))).toMatchObject([
      { kind: 'message', profileName: null, repliesTo: 'wamid.OUT1' },
    ]);
  });
});

describe('a template', () => {
  const template = {
    message_template_id: 1689556908129832,
    message_template_name: 'order_confirmation',
    message_template_language: 'en-US',
  };
  const base = {
    businessAccountId: accountId,
    providerTemplateId: '1689556908129832',
  };

  it('gets a new status', () => {
    const value = { ...template, event: 'approved', reason: 'NONE', message_template_category: 'UTILITY' };

    expect(read(value, 'message_template_status_update', { time: 1751247548 })).toEqual([
      {
        kind: 'template_status',
        ...base,
        timestamp: '1751247548',
        newStatus: 'APPROVED',
        reason: null,
        remarks: {},
        raw: value,
      },
    ]);
  });

  it('is paused with a reason', () => {
    const value = {
      ...template,
      event: 'PAUSED',
      reason: 'LOW_QUALITY',
      other_info: { title: 'FIRST_PAUSE' },
    };

    expect(read(value, 'message_template_status_update')).toMatchObject([
      { kind: 'template_status', newStatus: 'PAUSED', reason: 'LOW_QUALITY', timestamp: null },
    ]);
  });

  it('says more than its reason', () => {
    const other_info = { title: 'FIRST_PAUSE', description: 'Too many blocks.', since: 3 };
    const rejection_info = { reason: 'A link in the footer', recommendation: 'Leave it out.' };

    expect(
      read({ ...template, event: 'PAUSED', other_info }, 'message_template_status_update'),
    ).toMatchObject([{ remarks: { otherInfo: { title: 'FIRST_PAUSE', description: 'Too many blocks.' } } }]);
    expect(
      read({ ...template, event: 'REJECTED', rejection_info }, 'message_template_status_update'),
    ).toMatchObject([{ remarks: { rejectionInfo: rejection_info } }]);
  });

  it('changes its category, and not yet by an announcement', () => {
    const done = { ...template, previous_category: 'UTILITY', new_category: 'MARKETING' };
    const announced = {
      ...template,
      new_category: 'UTILITY',
      correct_category: 'MARKETING',
      category_update_timestamp: '1800000000',
    };

    expect(read(done, 'template_category_update')).toMatchObject([
      { kind: 'template_category', newCategory: 'MARKETING' },
    ]);
    expect(read(announced, 'template_category_update')).toMatchObject([
      {
        kind: 'template_announcement',
        upcomingCategory: 'MARKETING',
        takesEffectAt: new Date(1_800_000_000_000),
      },
    ]);
  });

  it.each(['message_template_quality_update', 'message_template_status_update'])(
    'changes its quality under the field %s',
    (field) => {
      const value = { ...template, previous_quality_score: 'GREEN', new_quality_score: 'YELLOW' };

      expect(read(value, field)).toMatchObject([
        { kind: 'template_quality', newQualityScore: 'YELLOW', ...base },
      ]);
    },
  );

  it('changes its components', () => {
    const value = { ...template, message_template_element: 'New {{1}}', message_template_buttons: [] };

    expect(read(value, 'message_template_components_update')).toMatchObject([
      { kind: 'template_components', ...base },
    ]);
  });

  it('keeps every digit of an id beyond the safe integers', () => {
    const body = `{"entry":[{"id":"1","changes":[{"field":"message_template_status_update","value":{"event":"PAUSED","message_template_id" : 12345678901234567891}}]}]}`;

    expect(readNotification(Buffer.from(body))).toMatchObject([
      { providerTemplateId: '12345678901234567891' },
    ]);
  });

  it('is ignored without an id or an event', () => {
    expect(kinds(read({ event: 'APPROVED' }, 'message_template_status_update'))).toEqual(['ignored']);
    expect(kinds(read(template, 'message_template_status_update'))).toEqual(['ignored']);
  });
});

describe('an account', () => {
  it.each([
    [{ event: 'ACCOUNT_DELETED' }, false],
    [{ event: 'ACCOUNT_OFFBOARDED' }, false],
    [{ event: 'ACCOUNT_RECONNECTED' }, true],
    [{ event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SPAM' } }, null],
    [{ event: 'ACCOUNT_RESTRICTION', restriction_info: [] }, null],
    [{ event: 'ACCOUNT_RESTRICTION' }, null],
    [{ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: 'x' } }, false],
    [{ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } }, true],
    [{ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE' } }, null],
    [{ event: 'VERIFIED_ACCOUNT' }, null],
  ])('may or may not send after %o', (value, maySend) => {
    expect(read(value, 'account_update')).toMatchObject([{ kind: 'account', event: value.event, maySend }]);
  });

  it.each([
    ['RESTRICTED_BIZ_INITIATED_MESSAGING', false],
    ['RESTRICTED_CUSTOMER_INITIATED_MESSAGING', null],
    ['RESTRICTED_ADD_PHONE_NUMBER_ACTION', null],
    ['RESTRICTED_USER_INITIATED_CALLING', null],
    ['RESTRICTED_USER_INITIATED_CALLING_CALL_BUTTON_HIDDEN', null],
    ['RESTRICTED_BIZ_INITIATED_AND_USER_INITIATED_CALLING', null],
    ['RESTRICTED_UTILITY_TEMPLATES', null],
  ])('restricted by %s may send: %s', (restriction_type, maySend) => {
    const value = {
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{ restriction_type, expiration: 1_900_000_000 }],
    };

    expect(read(value, 'account_update')).toMatchObject([
      { maySend, blockedUntil: maySend === false ? new Date(1_900_000_000_000) : null },
    ]);
  });

  it.each([1_900_000_000, '1900000000', '2030-03-17T17:46:40+0000', '2030-03-17T17:46:40Z'])(
    'is restricted until %j',
    (expiration) => {
      const restriction = { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration };
      const value = {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [{ restriction_type: 'x' }, restriction],
      };

      expect(read(value, 'account_update')).toMatchObject([
        { maySend: false, blockedUntil: new Date(1_900_000_000_000) },
      ]);
    },
  );

  it.each([
    ['account_review_update', { decision: 'REJECTED' }, 'REJECTED'],
    ['account_alerts', { entity_type: 'WABA', alert_info: { alert_type: 'OBA_REJECTED' } }, 'OBA_REJECTED'],
    ['phone_number_name_update', { decision: 'APPROVED', requested_verified_name: 'Acme' }, 'APPROVED'],
    ['security', { event: 'PIN_CHANGED', requester: '4915100000001' }, 'PIN_CHANGED'],
    ['business_capability_update', { max_phone_numbers_per_business: 20 }, 'BUSINESS_CAPABILITY_UPDATE'],
    ['account_update', { event: 'PARTNER_REMOVED', disconnection_info: { reason: 'x' } }, 'PARTNER_REMOVED'],
  ])('is reported in %s, without numbers', (field, value, event) => {
    const [item] = read({ ...value, display_phone_number: '15550783881' }, field);

    expect(item).toMatchObject({ kind: 'account', field, event, maySend: null });
    expect(JSON.stringify(item?.kind === 'account' && item.facts)).not.toMatch(/\d{7}/);
  });

  it('gets errors that belong to no message', () => {
    const errors = [{ code: 131031, title: 'Locked', message: 'm', error_data: { details: 'd' } }];

    expect(read(inChannel({ errors }))).toMatchObject([
      {
        kind: 'account',
        event: 'ERRORS',
        phoneNumberId: '106540352242922',
        errors: [{ code: 131031, details: 'd' }],
      },
    ]);
  });

  it.each([
    [{ max_daily_conversations_per_business: 'TIER_2K' }, 2000],
    [{ max_daily_conversations_per_business: 'TIER_250', current_limit: 'TIER_1K' }, 250],
    [{ max_daily_conversations_per_business: 'TIER_UNLIMITED' }, null],
    [{ max_daily_conversations_per_business: 'UNLIMITED' }, null],
    [{ max_daily_conversations_per_business: '2000' }, 2000],
    [{ max_daily_conversations_per_business: -1 }, null],
    [{ max_daily_conversations_per_business: 100_000 }, 100_000],
    [{ max_daily_conversations_per_business: '1000' }, 1000],
    [{ max_daily_conversation_per_phone: 10_000 }, 10_000],
    [{ event: 'UPGRADE', current_limit: 'TIER_10K' }, 10_000],
    [{ event: 'THROUGHPUT_UPGRADE', current_limit: 'TIER_UNLIMITED' }, undefined],
    [{ max_daily_conversations_per_business: 'TIER_NOT_SET' }, undefined],
    [{ max_daily_conversations_per_business: 0 }, undefined],
    [{ event: 'FLAGGED' }, undefined],
  ])('of %o has the messaging limit %s', (value, messagingLimit) => {
    for (const field of ['phone_number_quality_update', 'business_capability_update']) {
      expect(read(value, field)).toEqual([expect.objectContaining({ kind: 'account', messagingLimit })]);
    }
  });
});

describe('a preference', () => {
  const preference = {
    wa_id: '16505551234',
    category: 'marketing_messages',
    value: 'stop',
    timestamp: 1731705721,
  };
  const readPreference = (change: object): readonly NotificationItem[] =>
    read(inChannel({ user_preferences: [{ ...preference, ...change }] }), 'user_preferences');

  it.each([
    ['stop', false],
    ['resume', true],
    ['signup', true],
  ])('%s says whether the person is subscribed', (value, subscribed) => {
    expect(readPreference({ value })).toMatchObject([
      { kind: 'preferences', waId: '16505551234', subscribed },
    ]);
  });

  it('is ignored when it is about something else, or names no person', () => {
    expect(kinds(readPreference({ value: 'maybe' }))).toEqual(['ignored']);
    expect(kinds(readPreference({ category: 'utility_messages' }))).toEqual(['ignored']);
    expect(kinds(readPreference({ wa_id: null }))).toEqual(['ignored']);
  });
});

describe('readNotification', () => {
  it('keeps the order of entries, changes and elements', () => {
    const statusOf = (id: string): object => ({ ...sentStatus, id });
    const notification = {
      object: 'whatsapp_business_account',
      entry: [
        entryOf(inChannel({ statuses: [statusOf('1'), statusOf('2')] }), 'messages', {}),
        { id: '7', changes: [{ value: inChannel({ statuses: [statusOf('3')] }), field: 'messages' }] },
      ],
    };

    const items = readNotification(bytes(notification));

    expect(items.map((item) => item.kind === 'status' && item.providerMessageId)).toEqual(['1', '2', '3']);
    expect(items.map(({ businessAccountId }) => businessAccountId)).toEqual([accountId, accountId, '7']);
  });

  it('reads the good elements of a batch that holds bad ones', () => {
    const statuses = [
      null,
      sentStatus,
      { id: {} },
      'x',
      [],
      { status: 'sent' },
      { ...sentStatus, id: 'wamid.2' },
    ];

    expect(kinds(read(inChannel({ statuses })))).toEqual([
      'ignored',
      'status',
      'ignored',
      'ignored',
      'ignored',
      'ignored',
      'status',
    ]);
  });

  it('does not take the statuses of calls for those of messages', () => {
    const value = inChannel({ statuses: [{ id: 'wacid.1', status: 'RINGING', type: 'call' }, sentStatus] });

    expect(read(value, 'calls')).toMatchObject([{ kind: 'ignored', field: 'calls' }]);
  });

  it.each(['history', 'flows', 'brand_new', 42, null])('ignores the field %s', (field) => {
    expect(kinds(read(inChannel({ message_echoes: [textMessage] }), field))).toEqual(['ignored']);
  });

  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['truncated JSON', '{"object":"whatsapp_business_account","entry":[{"id":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['another product', '{"object":"page","entry":[]}'],
    ['no entries', '{"object":"whatsapp_business_account"}'],
    ['entries of another shape', '{"entry":[1,null,{"id":"1"},{"id":"1","changes":[3]}]}'],
    ['a value of another shape', '{"entry":[{"id":"1","changes":[{"field":"messages","value":[]}]}]}'],
    ['an empty value', '{"entry":[{"id":"1","changes":[{"field":"messages","value":{}}]}]}'],
  ])('ignores a body that is %s', (_name, body) => {
    const items = readNotification(Buffer.from(body));

    expect(items.length).toBeGreaterThan(0);
    expect(new Set(kinds(items))).toEqual(new Set(['ignored']));
  });

  it('ignores a value that is nested too deep to be written again', () => {
    const body = `{"entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"id":"1","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}]}}]}]}`;

    expect(readNotification(Buffer.from(body))).toMatchObject([
      { kind: 'ignored', reason: 'nested too deep' },
    ]);
  });

  it('reads bytes that are no UTF-8 and a byte order mark', () => {
    const broken = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from(
        '{"entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"id":"1","type":"text","text":{"body":"a',
      ),
      Buffer.from([0xff]),
      Buffer.from('"}}]}}]}]}'),
    ]);

    expect(readNotification(broken)).toMatchObject([{ kind: 'message', texts: ['a\uFFFD'] }]);
  });

  it('reads a thousand statuses in one body', () => {
    const statuses = Array.from({ length: 1000 }, (_, index) => ({ ...sentStatus, id: `wamid.${index}` }));

    expect(read(inChannel({ statuses }))).toHaveLength(1000);
  });
});
