import { changeBody, displayPhoneNumber } from './callback-bodies.ts';
import type { CompiledTemplate } from './compiled-template.ts';
import { objectOf, textOf, type JsonObject } from './json-value.ts';
import type { ProviderAccount } from './provider-accounts.ts';

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
export function inboundMessageBody({ account, input, id, now }: InboundMessage): string {
  const from = textOf(input['from']);
  const userId = textOf(input['userId']);
  const sender = { ...(from === '' ? {} : { from }), ...(userId === '' ? {} : { from_user_id: userId }) };
  const content =
    input['message'] === undefined
      ? { type: 'text', text: { body: textOf(input['text']) } }
      : objectOf(input['message']);
  const contact = {
    profile: { name: textOf(input['profileName']) || 'Simulated person' },
    ...(from === '' ? {} : { wa_id: from }),
    ...(userId === '' ? {} : { user_id: userId }),
  };
  const message = { ...sender, id, timestamp: String(Math.floor(now / 1000)), ...content };
  return numberChange(account, {
    phoneNumberId: textOf(input['phoneNumberId']),
    field: 'messages',
    value: { contacts: [contact], messages: [message] },
  });
}

/** A message written by hand in the provider's own app, on the number that it shares with the product. */
export function echoBody({ account, input, id, now }: InboundMessage): string {
  const message = {
    from: displayPhoneNumber,
    to: textOf(input['to']),
    id,
    timestamp: String(Math.floor(now / 1000)),
    type: 'text',
    text: { body: textOf(input['text']) },
  };
  return numberChange(account, {
    phoneNumberId: textOf(input['phoneNumberId']),
    field: 'smb_message_echoes',
    value: { message_echoes: [message] },
  });
}

/** What happens to the account as a whole: `event`, and with a ban its state. */
export function accountBody(account: ProviderAccount, input: JsonObject, now: number): string {
  const banState = textOf(input['banState']);
  const value = {
    event: textOf(input['event']),
    ...(banState === '' ? {} : { ban_info: { waba_ban_state: banState } }),
  };
  return changeBody(account.id, { field: 'account_update', value, time: Math.floor(now / 1000) });
}

/** A person stops or allows marketing messages. */
export function preferenceBody(account: ProviderAccount, input: JsonObject, now: number): string {
  const preference = {
    wa_id: textOf(input['from']),
    category: 'marketing_messages',
    value: textOf(input['value']) || 'stop',
    timestamp: Math.floor(now / 1000),
  };
  return numberChange(account, {
    phoneNumberId: textOf(input['phoneNumberId']),
    field: 'user_preferences',
    value: { user_preferences: [preference] },
  });
}

export function templateStatusBody(
  account: ProviderAccount,
  {
    template,
    reason,
    now,
  }: { readonly template: CompiledTemplate; readonly reason: string; readonly now: number },
): string {
  const { status, category } = template.definition;
  const value = { event: status, ...identityOf(template), reason, message_template_category: category };
  return changeBody(account.id, {
    field: 'message_template_status_update',
    value,
    time: Math.floor(now / 1000),
  });
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
  return changeBody(account.id, { field, value: identityOf(template), time: Math.floor(now / 1000) });
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
