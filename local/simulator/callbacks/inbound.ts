import { changeBody, displayPhoneNumber } from './bodies.ts';
import type { CompiledTemplate } from '../templates/compiled.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../protocol/json-value.ts';
import { contactOf, personOfNumber } from './person.ts';
import type { ProviderAccount } from '../provider-accounts.ts';

interface InboundMessage {
  readonly account: ProviderAccount;
  readonly input: JsonObject;
  readonly id: string;
  readonly now: number;
}

/**
 * A message from a person: `from` and `text`, or any `message` in the provider's shape. With `userId` and without
 * `from` the person hides the number.
 */
export function inboundMessageBody(given: InboundMessage): string {
  return numberChange(given.account, {
    phoneNumberId: textOf(given.input['phoneNumberId']),
    field: 'messages',
    value: inboundValue(given),
  });
}

function inboundValue({ input, id, now }: InboundMessage): JsonObject {
  const from = textOf(input['from']);
  const userId = textOf(input['userId']) || (from === '' ? '' : personOfNumber(from).userId);
  const parentUserId = textOf(input['parentUserId']);
  const sender = {
    ...(from === '' ? {} : { from }),
    ...(userId === '' ? {} : { from_user_id: userId }),
    ...(parentUserId === '' ? {} : { from_parent_user_id: parentUserId }),
  };
  const content =
    input['message'] === undefined
      ? { type: 'text', text: { body: textOf(input['text']) } }
      : objectOf(input['message']);
  const contact = {
    ...contactOf({ waId: from === '' ? null : from, userId }, textOf(input['profileName']) || undefined),
    ...(parentUserId === '' ? {} : { parent_user_id: parentUserId }),
    ...(input['countryCode'] === undefined ? {} : { country_code: textOf(input['countryCode']) }),
  };
  const username = textOf(input['username']);
  const profile = { ...contact.profile, ...(username === '' ? {} : { username }) };
  const message = { ...sender, id, timestamp: String(Math.floor(now / 1000)), ...content };
  return { contacts: [{ ...contact, profile }], messages: [message] };
}

/**
 * A change of ids, as a message of the system without `contacts`. Everything but `userId` may be absent, and is then left out, so
 * that each shape that receivers report can be made.
 */
export function identityBody({ account, input, id, now }: InboundMessage): string {
  const given = (field: string, name: string) =>
    input[name] === undefined ? {} : { [field]: textOf(input[name]) };
  const message = {
    ...given('from', 'from'),
    ...given('from_user_id', 'fromUserId'),
    id,
    timestamp: String(Math.floor(now / 1000)),
    type: 'system',
    system: {
      type: input['waId'] === undefined ? 'user_changed_user_id' : 'user_changed_number',
      ...given('wa_id', 'waId'),
      ...given('user_id', 'userId'),
      ...given('parent_user_id', 'parentUserId'),
      ...given('previous_user_id', 'previousUserId'),
      ...given('previous_parent_user_id', 'previousParentUserId'),
      ...given('body', 'body'),
    },
  };
  return numberChange(account, {
    phoneNumberId: textOf(input['phoneNumberId']),
    field: 'messages',
    value: { messages: [message] },
  });
}

/** An event in a conversation that another app handles: a message from the person, one from that app (`to`), or its status (`status`). */
export function standbyBody(given: InboundMessage): string {
  const { account, input, id, now } = given;
  const timestamp = String(Math.floor(now / 1000));
  const to = textOf(input['to']);
  const status = textOf(input['status']);
  const sent = { messaging_product: 'whatsapp', to, type: 'text', text: { body: textOf(input['text']) } };
  const inbound = () => inboundValue(given);
  const outbound = () =>
    status === ''
      ? { message_echoes: [{ id, timestamp, message: sent }] }
      : { statuses: [{ id, status, timestamp, recipient_id: personOfNumber(to).waId }] };
  return numberChange(account, {
    phoneNumberId: textOf(input['phoneNumberId']),
    field: 'standby',
    value: { standby: to === '' ? inbound() : outbound() },
  });
}

/** A message written by hand in the provider's own app, on the number that it shares with the product. */
export function echoBody({ account, input, id, now }: InboundMessage): string {
  const person = personOfNumber(textOf(input['to']));
  const message = {
    from: displayPhoneNumber,
    to: textOf(input['to']),
    to_user_id: person.userId,
    id,
    timestamp: String(Math.floor(now / 1000)),
    type: 'text',
    text: { body: textOf(input['text']) },
  };
  return numberChange(account, {
    phoneNumberId: textOf(input['phoneNumberId']),
    field: 'smb_message_echoes',
    value: { contacts: [contactOf(person)], message_echoes: [message] },
  });
}

const aDay = 24 * 60 * 60;

/** A callback about the account: `event`, with the ban's state or the restriction's kind. */
export function accountBody(account: ProviderAccount, input: JsonObject, now: number): string {
  const seconds = Math.floor(now / 1000);
  const banState = textOf(input['banState']);
  const restriction = textOf(input['restriction']);
  const violation = textOf(input['violation']);
  const value = {
    event: textOf(input['event']),
    ...(banState === '' ? {} : { ban_info: { waba_ban_state: banState, waba_ban_date: dateOf(now) } }),
    ...(restriction === ''
      ? {}
      : {
          restriction_info: [
            { restriction_type: restriction, expiration: Number(input['expiration'] ?? seconds + aDay) },
          ],
        }),
    ...(violation === '' ? {} : { violation_info: { violation_type: violation } }),
  };
  return changeBody(account.id, { field: 'account_update', value, time: seconds });
}

/** `November 22, 2026` */
function dateOf(now: number): string {
  return new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' }).format(now);
}

/** How many different people the account may write to in 24 hours; -1 for any number. */
export function capabilityBody(account: ProviderAccount, input: JsonObject, now: number): string {
  const value = {
    max_daily_conversations_per_business: Number(input['messagingLimit'] ?? 250),
    max_phone_numbers_per_business: 20,
    max_phone_numbers_per_waba: 20,
  };
  return changeBody(account.id, { field: 'business_capability_update', value, time: Math.floor(now / 1000) });
}

/** A person stops or allows marketing messages. */
export function preferenceBody(account: ProviderAccount, input: JsonObject, now: number): string {
  const person = personOfNumber(textOf(input['from']));
  const decision = textOf(input['value']) || 'stop';
  const preference = {
    wa_id: person.waId,
    user_id: person.userId,
    detail: `User requested to ${decision} marketing messages`,
    category: 'marketing_messages',
    value: decision,
    timestamp: Math.floor(now / 1000),
  };
  return numberChange(account, {
    phoneNumberId: textOf(input['phoneNumberId']),
    field: 'user_preferences',
    value: { contacts: [contactOf(person)], user_preferences: [preference] },
  });
}

const pauseInfo = {
  title: 'FIRST_PAUSE',
  description: 'People gave negative feedback on this template: it is paused for 3 hours.',
};
const rejectionInfo = {
  reason: 'The body begins with a variable.',
  recommendation: 'Put a word in front of it.',
};

export function templateStatusBody(
  account: ProviderAccount,
  {
    template,
    reason,
    now,
  }: { readonly template: CompiledTemplate; readonly reason: string; readonly now: number },
): string {
  const { status, category } = template.definition;
  const value = {
    event: status,
    ...identityOf(template),
    reason,
    message_template_category: category,
    ...(status === 'PAUSED' && { other_info: pauseInfo }),
    ...(status === 'DISABLED' && { disable_info: { disable_date: Math.floor(now / 1000) } }),
    ...(status === 'REJECTED' && { rejection_info: rejectionInfo }),
  };
  return changeBody(account.id, {
    field: 'message_template_status_update',
    value,
    time: Math.floor(now / 1000),
  });
}

/** Announces that the template's category changes in a day. */
export function templateAnnouncementBody(
  account: ProviderAccount,
  {
    template,
    category,
    now,
  }: { readonly template: CompiledTemplate; readonly category: string; readonly now: number },
): string {
  const value = {
    ...identityOf(template),
    new_category: template.definition.category,
    correct_category: category,
    category_update_timestamp: Math.floor(now / 1000) + aDay,
  };
  return changeBody(account.id, { field: 'template_category_update', value, time: Math.floor(now / 1000) });
}

export function templateCategoryBody(
  account: ProviderAccount,
  {
    template,
    previousCategory,
    now,
  }: { readonly template: CompiledTemplate; readonly previousCategory: string; readonly now: number },
): string {
  const value = {
    ...identityOf(template),
    previous_category: previousCategory,
    new_category: template.definition.category,
  };
  return changeBody(account.id, { field: 'template_category_update', value, time: Math.floor(now / 1000) });
}

export function templateQualityBody(
  account: ProviderAccount,
  {
    template,
    quality,
    now,
  }: { readonly template: CompiledTemplate; readonly quality: string; readonly now: number },
): string {
  const value = {
    ...identityOf(template),
    previous_quality_score: template.definition.quality_score?.score ?? 'UNKNOWN',
    new_quality_score: quality,
  };
  return changeBody(account.id, {
    field: 'message_template_quality_update',
    value,
    time: Math.floor(now / 1000),
  });
}

export function templateComponentsBody(
  account: ProviderAccount,
  { template, now }: { readonly template: CompiledTemplate; readonly now: number },
): string {
  const field = 'message_template_components_update';
  const partOf = (type: string): JsonObject =>
    objectOf(template.definition.components.map(objectOf).find((part) => textOf(part['type']) === type));
  const [title, footer] = [textOf(partOf('HEADER')['text']), textOf(partOf('FOOTER')['text'])];
  const value = {
    ...identityOf(template),
    message_template_element: textOf(partOf('BODY')['text']),
    ...(title !== '' && { message_template_title: title }),
    ...(footer !== '' && { message_template_footer: footer }),
    message_template_buttons: listOf(partOf('BUTTONS')['buttons']).map((button) => ({
      message_template_button_type: textOf(objectOf(button)['type']),
      message_template_button_text: textOf(objectOf(button)['text']),
    })),
  };
  return changeBody(account.id, { field, value, time: Math.floor(now / 1000) });
}

/** The id is a number in callbacks, and text everywhere else. */
function identityOf({ id, definition }: CompiledTemplate): JsonObject {
  return {
    message_template_id: Number(id),
    message_template_name: definition.name,
    message_template_language: definition.language,
  };
}

function numberChange(
  account: ProviderAccount,
  change: { readonly phoneNumberId: string; readonly field: string; readonly value: JsonObject },
): string {
  const phoneNumberId = change.phoneNumberId || (account.phoneNumberIds[0] ?? '');
  const metadata = { display_phone_number: displayPhoneNumber, phone_number_id: phoneNumberId };
  const value = { messaging_product: 'whatsapp', metadata, ...change.value };
  return changeBody(account.id, { field: change.field, value });
}
