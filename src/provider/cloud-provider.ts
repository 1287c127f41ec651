import { createExchanger, type Exchanger } from './exchange.ts';
import { toReading, toSendResult } from './provider-answer.ts';
import { ProviderRequestError } from './provider-request-error.ts';
import type {
  MessagingProvider,
  OutboundTemplateMessage,
  SendResult,
  TemplatePage,
  TemplateQuery,
} from './provider.ts';
import { createMediaUploader } from './upload-media.ts';
import { readTemplatePage, templateFields } from './template-listing.ts';

export interface CloudProviderOptions {
  /** The provider's root with its version segment, for example `https://graph.facebook.com/v23.0`. */
  readonly baseUrl: string;
  /** Connections kept to the provider; more sends than that at a time wait inside their time limit. */
  readonly connections: number;
  /** Limit of one request in all: waiting for a connection, connecting, writing and the whole answer. */
  readonly timeoutMs: number;
}

/** The provider's HTTP protocol. Follows no redirect, repeats no request, and calls no other host. */
export function createCloudProvider({
  baseUrl,
  connections,
  timeoutMs,
}: CloudProviderOptions): MessagingProvider {
  const base = new URL(baseUrl);
  const client: Client = {
    exchanger: createExchanger({ origin: base.origin, connections, timeoutMs }),
    root: base.pathname.endsWith('/') ? base.pathname.slice(0, -1) : base.pathname,
  };
  const media = createMediaUploader({ origin: base.origin, root: client.root, timeoutMs });
  return {
    sendMessage: (message) => sendMessage(client, message),
    listTemplates: (query) => listTemplates(client, query),
    uploadMedia: async (file) => {
      if (!isHeaderValue(file.accessToken)) throw new ProviderRequestError(unusableToken);
      return media.upload(file);
    },
    close: async () => {
      await Promise.all([client.exchanger.close(), media.close()]);
    },
  };
}

interface Client {
  readonly exchanger: Exchanger;
  readonly root: string;
}

/** The provider's own code for a token that is not valid. */
const invalidToken = 190;
/** The provider's code for a paging cursor it no longer knows. */
const invalidCursor = 131059;
const defaultPageSize = 100;
const maxPageSize = 250;
const maxPages = 1000;
const maxRestarts = 3;

function sendMessage(client: Client, message: OutboundTemplateMessage): Promise<SendResult> {
  if (!isHeaderValue(message.accessToken)) return Promise.resolve(unusableToken);
  return client.exchanger.exchange(
    {
      method: 'POST',
      path: `${client.root}/${encodeURIComponent(message.phoneNumberId)}/${message.marketing === true ? 'marketing_messages' : 'messages'}`,
      headers: ['content-type', 'application/json', 'authorization', `Bearer ${message.accessToken}`],
      body: messageBody(message),
      ...(message.heldBack !== undefined && { heldBack: message.heldBack }),
    },
    (exchange) => toSendResult(exchange, message.to),
  );
}

/** Concatenates strings: the envelope is the same for every message, so only the values are serialised. */
function messageBody({ to, callbackData, template }: OutboundTemplateMessage): string {
  const components =
    template.components.length === 0 ? '' : `,"components":${JSON.stringify(template.components)}`;
  return (
    `{"messaging_product":"whatsapp","recipient_type":"individual",` +
    `${/^\d/.test(to) ? `"to":"+` : `"recipient":"`}${JSON.stringify(to).slice(1)},` +
    `"type":"template","biz_opaque_callback_data":${JSON.stringify(callbackData)},` +
    `"template":{"name":${JSON.stringify(template.name)},` +
    `"language":{"code":${JSON.stringify(template.language)}}${components}}}`
  );
}

async function* listTemplates(client: Client, query: TemplateQuery): AsyncGenerator<TemplatePage> {
  const limit = Math.min(Math.max(query.pageSize ?? defaultPageSize, 1), maxPageSize);
  let after = query.after ?? null;
  let restarts = 0;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const parameters = new URLSearchParams({ fields: templateFields, limit: String(limit) });
    if (after !== null) {
      parameters.set('after', after);
    }
    const path = `/${encodeURIComponent(query.businessAccountId)}/message_templates?${parameters.toString()}`;
    const reading = await read(client, { path, accessToken: query.accessToken });
    if ('failure' in reading) {
      const cursorRefused = reading.failure.kind === 'rejected' && reading.failure.code === invalidCursor;
      if (!cursorRefused || after === null || restarts === maxRestarts) {
        throw new ProviderRequestError(reading.failure);
      }
      restarts += 1;
      after = null;
      continue;
    }
    const page = readTemplatePage(reading.body);
    if (!page) {
      throw new ProviderRequestError({ kind: 'unknown', cause: 'answer is not a template list' });
    }
    if (page.nextCursor !== null && page.nextCursor === after) {
      throw new ProviderRequestError({ kind: 'unknown', cause: 'the template list does not advance' });
    }
    yield page;
    if (page.nextCursor === null) return;
    after = page.nextCursor;
  }
  throw new ProviderRequestError({ kind: 'unknown', cause: 'the template list does not end' });
}

async function read(
  client: Client,
  { path, accessToken }: { readonly path: string; readonly accessToken: string },
): Promise<ReturnType<typeof toReading>> {
  if (!isHeaderValue(accessToken)) return { failure: unusableToken };
  return client.exchanger.exchange(
    {
      method: 'GET',
      path: `${client.root}${path}`,
      headers: ['authorization', `Bearer ${accessToken}`],
      body: null,
    },
    toReading,
  );
}

/** Other characters are refused by the HTTP client or would end the header early. */
const isHeaderValue = (token: string): boolean => /^[\x21-\x7e]+$/.test(token);

const unusableToken = {
  kind: 'rejected',
  code: invalidToken,
  subcode: null,
  httpStatus: 401,
  message: 'The access token of the channel is not a valid header value',
  details: null,
  isTransient: false,
} as const;
