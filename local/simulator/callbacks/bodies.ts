import { titleOf } from '../protocol/graph-error.ts';
import type { FateStep } from '../messages/fate.ts';
import type { JsonObject } from '../protocol/json-value.ts';
import { contactOf, type Person } from './person.ts';

/** A message that still has statuses to come. */
export interface PendingMessage {
  readonly id: string;
  readonly to: string;
  readonly person: Person;
  readonly callbackData: string;
  readonly businessAccountId: string;
  readonly phoneNumberId: string;
  /** In lower case. */
  readonly category: string;
  readonly steps: readonly FateStep[];
  next: number;
}

/** One status of one message that is due. */
export interface Receipt {
  readonly message: PendingMessage;
  readonly step: FateStep;
  readonly at: number;
}

export const displayPhoneNumber = '15550783881';

interface Change {
  readonly entry: PendingMessage;
  readonly statuses: string[];
  /** The recipient of each status. */
  readonly contacts: string[];
}

/** A callback with many statuses, one change for every number, as the provider batches them. */
export function statusesBody(receipts: readonly Receipt[]): string {
  const changes = new Map<string, Change>();
  for (const receipt of receipts) {
    const { message } = receipt;
    const change = changes.get(message.phoneNumberId) ?? { entry: message, statuses: [], contacts: [] };
    changes.set(message.phoneNumberId, change);
    change.statuses.push(statusJson(receipt));
    change.contacts.push(JSON.stringify(contactOf(message.person)));
  }
  const entries = [...changes.values()].map(
    ({ entry, statuses, contacts }) =>
      `{"id":"${entry.businessAccountId}","changes":[{"value":{"messaging_product":"whatsapp",` +
      `"metadata":{"display_phone_number":"${displayPhoneNumber}","phone_number_id":"${entry.phoneNumberId}"},` +
      `"contacts":[${contacts.join(',')}],"statuses":[${statuses.join(',')}]},"field":"messages"}]}`,
  );
  return `{"object":"whatsapp_business_account","entry":[${entries.join(',')}]}`;
}

function statusJson({ message, step, at }: Receipt): string {
  const data =
    message.callbackData === '' ? '' : `,"biz_opaque_callback_data":${JSON.stringify(message.callbackData)}`;
  const seconds = Math.floor(at / 1000);
  return (
    `{"id":"${message.id}","status":"${step.status}","timestamp":"${seconds}",` +
    `"recipient_id":"${message.person.waId ?? ''}","recipient_user_id":"${message.person.userId}"` +
    `${data}${pricingJson(message, step)}${errorsJson(step)}}`
  );
}

/** Comes with `sent` and with the first of `delivered` and `read`. */
function pricingJson(message: PendingMessage, { status }: FateStep): string {
  const delivered = message.steps.some((step) => step.status === 'delivered');
  if (status === 'failed' || (status === 'read' && delivered)) return '';
  return `,"pricing":{"billable":true,"pricing_model":"PMP","type":"regular","category":"${message.category}"}`;
}

function errorsJson({ code }: FateStep): string {
  if (code === undefined) return '';
  const title = titleOf(code);
  const error = { code, title, message: title, error_data: { details: `${title}.` }, href: errorsPage };
  return `,"errors":[${JSON.stringify(error)}]`;
}

const errorsPage = 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/';

/** A callback with one change; characters outside ASCII and slashes are escaped as the provider escapes them. */
export function changeBody(
  businessAccountId: string,
  change: { readonly field: string; readonly value: JsonObject; readonly time?: number },
): string {
  const { field, value, time } = change;
  const entry = {
    id: businessAccountId,
    ...(time === undefined ? {} : { time }),
    changes: [{ value, field }],
  };
  return JSON.stringify({ object: 'whatsapp_business_account', entry: [entry] })
    .replaceAll('/', String.raw`\/`)
    .replaceAll(
      /[\u007f-\uffff]/g,
      (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}
