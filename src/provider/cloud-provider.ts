import {
  accountFields,
  healthFields,
  limitField,
  ownerField,
  readAccountTerms,
  readNumberHealth,
} from './account-terms.ts';
import { isRight } from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Agent } from 'undici';
import { createKeyedSemaphore } from '../concurrency/keyed-semaphore.ts';
import { createExchanger, type Exchanger } from './exchange.ts';
import {
  isObject,
  type MediaFile,
  type MessagingProvider,
  type OutboundTemplateMessage,
  type PricingPoint,
  type PricingQuery,
  ProviderRequestError,
  type ProviderTemplate,
  type RequestFailure,
  type SendResult,
  type TemplatePage,
  type TemplateQuery,
} from './provider.ts';
import { pricingField, readPricingPoints } from './pricing-analytics.ts';
import { toReading, toSendResult } from './provider-answer.ts';

export interface CloudProviderOptions {
  /** The provider's root with its version segment, for example `https://graph.facebook.com/v26.0`. */
  readonly baseUrl: string;
  /** Connections kept to the provider; further sends wait for one, and the wait counts towards their time limit. */
  readonly connections: number;
  /** Time limit of a whole request: waiting for a connection, connecting, writing and reading the response. */
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
    readAccountTerms: async ({ businessAccountId, accessToken }) =>
      readAccountTerms(
        await readFields(client, {
          id: businessAccountId,
          accessToken,
          fields: accountFields,
          newer: ownerField,
        }),
      ),
    readNumberHealth: async ({ phoneNumberId, accessToken }) =>
      readNumberHealth(
        await readFields(client, { id: phoneNumberId, accessToken, fields: healthFields, newer: limitField }),
      ),
    readPricing: (query) => readPricing(client, query),
    unpauseTemplate: async ({ providerTemplateId, accessToken }) => {
      if (!isHeaderValue(accessToken)) throw new ProviderRequestError(unusableToken);
      const reading = await client.exchanger.exchange(
        {
          method: 'POST',
          path: `${client.root}/${encodeURIComponent(providerTemplateId)}/unpause`,
          headers: ['content-type', 'application/json', 'authorization', `Bearer ${accessToken}`],
          body: '{}',
        },
        toReading,
      );
      if ('failure' in reading) throw new ProviderRequestError(reading.failure);
    },
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

/** The provider's error code for an invalid token. */
const invalidToken = 190;
/** The provider's error code for a paging cursor that it no longer knows. */
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
  let fields = `${templateFields},${newerTemplateFields}`;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const parameters = new URLSearchParams({ fields, limit: String(limit) });
    if (after !== null) {
      parameters.set('after', after);
    }
    const path = `/${encodeURIComponent(query.businessAccountId)}/message_templates?${parameters.toString()}`;
    const reading = await read(client, { path, accessToken: query.accessToken });
    if ('failure' in reading) {
      if (isUnknownField(reading.failure) && fields !== templateFields) {
        fields = templateFields;
        continue;
      }
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
      throw new ProviderRequestError({ kind: 'unknown', cause: 'the response is not a template list' });
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

/** The provider's error code for a field that this version or account does not have. */
const invalidParameter = 100;
const isUnknownField = (failure: RequestFailure): boolean =>
  failure.kind === 'rejected' && failure.code === invalidParameter;

interface FieldsQuery {
  readonly id: string;
  readonly accessToken: string;
  readonly fields: string;
  /** One more field, without which a provider that does not know it is asked again. */
  readonly newer: string;
}

/** Throws ProviderRequestError. */
async function readFields(client: Client, { id, accessToken, fields, newer }: FieldsQuery): Promise<unknown> {
  const ask = (names: string) =>
    read(client, { path: `/${encodeURIComponent(id)}?fields=${names}`, accessToken });
  let reading = await ask(`${fields},${newer}`);
  if ('failure' in reading && isUnknownField(reading.failure)) reading = await ask(fields);
  if ('failure' in reading) throw new ProviderRequestError(reading.failure);
  return reading.body;
}

async function readPricing(
  client: Client,
  { businessAccountId, accessToken, from, to }: PricingQuery,
): Promise<readonly PricingPoint[]> {
  const path = `/${encodeURIComponent(businessAccountId)}?fields=${pricingField(from, to)}`;
  const reading = await read(client, { path, accessToken });
  if ('failure' in reading) throw new ProviderRequestError(reading.failure);
  const points = readPricingPoints(reading.body);
  if (points === undefined)
    throw new ProviderRequestError({
      kind: 'unknown',
      cause: 'the response has no readable pricing analytics',
    });
  return points;
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

/** The fields to request for every template. */
const templateFields =
  'id,name,language,status,category,parameter_format,components,quality_score,rejected_reason,message_send_ttl_seconds';
/** Newer fields, without which a provider that does not know them is asked again. */
const newerTemplateFields = 'source';

const TemplateElement = t.intersection([
  t.type({ id: t.union([t.string, t.number]), name: t.string, language: t.string, status: t.string }),
  t.partial({
    category: t.union([t.string, t.null]),
    parameter_format: t.union([t.string, t.null]),
    components: t.UnknownArray,
    quality_score: t.unknown,
    rejected_reason: t.unknown,
    message_send_ttl_seconds: t.unknown,
    source: t.unknown,
  }),
]);

/** Returns undefined if a field that identifies the template is missing. */
function readTemplate(element: unknown): ProviderTemplate | undefined {
  const decoded = TemplateElement.decode(element);
  if (!isRight(decoded)) return undefined;
  const template = decoded.right;
  return {
    id: String(template.id),
    name: template.name,
    language: template.language.replaceAll('-', '_'),
    status: template.status.toUpperCase(),
    category: template.category?.toUpperCase() ?? null,
    parameterFormat: template.parameter_format?.toUpperCase() === 'NAMED' ? 'NAMED' : 'POSITIONAL',
    components: template.components ?? [],
    qualityScore: qualityScoreOf(template.quality_score),
    rejectedReason: reasonOf(template.rejected_reason),
    sendTtlSeconds: ttlOf(template.message_send_ttl_seconds),
    source: typeof template.source === 'string' ? template.source.toUpperCase() : null,
  };
}

/** −1 means 30 days, the longest; null without a time of the template's own. */
function ttlOf(seconds: unknown): number | null {
  if (!Number.isInteger(seconds)) return null;
  if (seconds === -1) return longestTtlSeconds;
  return Number(seconds) > 0 ? Math.min(Number(seconds), longestTtlSeconds) : null;
}

const longestTtlSeconds = 30 * 24 * 60 * 60;

/** Returns undefined if the body is not a list. */
function readTemplatePage(body: unknown): TemplatePage | undefined {
  const data = isObject(body) ? body['data'] : undefined;
  if (!Array.isArray(data)) return undefined;
  const templates = data.map(readTemplate).filter((template) => template !== undefined);
  const nextCursor = nextCursorOf(isObject(body) ? body['paging'] : undefined);
  // If there is a further page that cannot be requested, it counts as unreadable, so that unseen templates are not marked as
  // vanished.
  const lost = nextCursor === undefined ? 1 : 0;
  return {
    templates,
    unreadable: data.length - templates.length + lost,
    nextCursor: nextCursor ?? null,
  };
}

/**
 * Returns null on the last page. Cursors are present there too: only `next` says that there is more. We never call its
 * address, because it may name any host; we use the cursor inside it with our own base URL. Returns undefined if `next`
 * contains no cursor.
 */
function nextCursorOf(paging: unknown): string | null | undefined {
  const next = isObject(paging) ? paging['next'] : undefined;
  if (!isObject(paging) || typeof next !== 'string' || next === '') return null;
  const cursors = paging['cursors'];
  const after = isObject(cursors) ? cursors['after'] : undefined;
  if (typeof after === 'string' && after !== '') return after;
  return new URLSearchParams(next.slice(next.indexOf('?') + 1)).get('after') ?? undefined;
}

function qualityScoreOf(value: unknown): string | null {
  const score = isObject(value) ? value['score'] : value;
  return typeof score === 'string' ? score.toUpperCase() : null;
}

const reasonOf = (value: unknown): string | null =>
  typeof value === 'string' && value.toUpperCase() !== 'NONE' ? value : null;

// Uploads have a Content-Length: the provider refuses chunked ones.

interface MediaUploader {
  /** Resolves to the provider's id of the file. Throws ProviderRequestError, also if reading the content fails. */
  readonly upload: (file: MediaFile) => Promise<string>;
  readonly close: () => Promise<void>;
}

interface UploaderOptions {
  readonly origin: string;
  /** Path before the phone number id. */
  readonly root: string;
  /** Time limit for connecting, and for the response after the whole file was sent. */
  readonly timeoutMs: number;
}

/**
 * 64 connections, at most eight per sending number, since a slow upload holds one for its whole duration. Further uploads wait.
 */
const connections = 64;
const maxResponseBytes = 1024 * 1024;

function createMediaUploader({ origin, root, timeoutMs }: UploaderOptions): MediaUploader {
  const agent = new Agent({
    connections,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxResponseBytes,
  });

  const slots = createKeyedSemaphore({ total: connections, perKey: connections / 8, waiting: Infinity });
  let closing: Promise<void> | undefined;

  const send = async (file: MediaFile) => {
    const { phoneNumberId, accessToken } = file;
    const boundary = randomUUID();
    const { length, body } = formOf(boundary, file);
    try {
      const answer = await agent.request({
        origin,
        path: `${root}/${encodeURIComponent(phoneNumberId)}/media`,
        method: 'POST',
        headers: {
          authorization: `Bearer ${accessToken}`,
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'content-length': String(length),
        },
        body: Readable.from(body(), { objectMode: false }),
      });
      return toReading({
        kind: 'answered',
        httpStatus: answer.statusCode,
        headers: [],
        body: await answer.body.text(),
      });
    } catch (error) {
      const cause = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
      throw new ProviderRequestError({ kind: 'unknown', cause });
    }
  };

  return {
    async upload(file) {
      const release = await slots.acquire([file.phoneNumberId]);
      const reading = await send(file).finally(release);
      if ('failure' in reading) throw new ProviderRequestError(reading.failure);
      const id = isObject(reading.body) ? reading.body['id'] : undefined;
      if (typeof id === 'string' && id !== '') return id;
      throw new ProviderRequestError({ kind: 'unknown', cause: 'answer without a media id' });
    },
    close: () => (closing ??= agent.close()),
  };
}

function formOf(boundary: string, { mimeType, fileName, size, content }: MediaFile) {
  const part = (name: string, head = ''): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${head}\r\n\r\n`;
  const head = Buffer.from(
    `${part('messaging_product')}whatsapp\r\n${part('type')}${mimeType}\r\n` +
      part('file', `; filename="${fileName}"\r\ncontent-type: ${mimeType}`),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* body(): AsyncGenerator<Buffer> {
    yield head;
    yield* content;
    yield tail;
  }
  return { length: head.length + size + tail.length, body };
}
