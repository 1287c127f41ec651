/** Reads the bytes of a campaign's CSV from the request, the file storage or a URL. */
import { randomUUID } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import type { AudienceInput } from '../../codecs/campaign-audience.ts';
import type { Config } from '../../config.ts';
import type { Dependencies } from '../../dependencies.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { Failure } from '../../domain/error.ts';
import { readCampaignInput } from '../../records/campaigns/files.ts';

type FileSources = Pick<Dependencies, 'config' | 'storage' | 'outbound'>;

/** The file server failed in a way that may be temporary, so the preparation is retried. */
export class FileTemporarilyUnavailable extends Failure {
  readonly failure: PreparationFailure;
  constructor(failure: PreparationFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Reads the uploaded file or the URL; without either, the CSV in the request itself. Any chunk may throw PreparationFailure or
 * FileTemporarilyUnavailable.
 */
export async function* readCampaignFile(
  sources: FileSources,
  audience: AudienceInput,
  campaignId: string,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const { csv_file_url: url } = audience;
  const key = audience.csv_file_key ?? (url === undefined ? undefined : campaignFileKey(sources.config, url));
  if (key !== undefined) yield* readStored(sources, key, signal);
  else if (url !== undefined) yield* download(sources, url, signal);
  else yield* readCampaignInput(sources.config.databaseUrl, campaignId);
}

/** The URL of a file on somebody else's server; undefined for any other audience. */
export function foreignFileUrl(
  { config }: Pick<FileSources, 'config'>,
  { csv_file_key: key, csv_file_url: url }: AudienceInput,
): string | undefined {
  const isForeign = key === undefined && url !== undefined && campaignFileKey(config, url) === undefined;
  return isForeign ? url : undefined;
}

export interface StoredDownload {
  readonly bytes: number;
  readonly read: () => AsyncIterable<Buffer>;
  readonly remove: () => Promise<void>;
}

/**
 * Downloads a file into the storage. Throws the same errors as `readCampaignFile`. If the process is killed, the hourly
 * cleanup removes the file it left behind, as it does for uploads.
 */
export async function storeDownload(
  sources: FileSources,
  url: string,
  signal: AbortSignal,
): Promise<StoredDownload> {
  const stored = newCampaignFileKey();
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of download(sources, url, signal)) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  await sources.storage.write(stored, Readable.from(counted(), { objectMode: false }));
  return {
    bytes,
    read: () => readStored(sources, stored, signal),
    remove: () => sources.storage.delete(stored),
  };
}

/** The bytes of an uploaded file; throws PreparationFailure FILE_NOT_FOUND. */
export async function* readStored(
  { storage }: Pick<FileSources, 'storage'>,
  key: string,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const stream = await storage.read(key);
  if (stream === undefined)
    throw new PreparationFailure('FILE_NOT_FOUND', 'The uploaded CSV is gone: upload it again');
  if (signal !== undefined) addAbortSignal(signal, stream);
  for await (const chunk of stream) yield chunk as Buffer;
}

async function* download(
  { outbound }: FileSources,
  url: string,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const fetched = await outbound.fetchFile(url);
  if (!fetched.ok) throw failureOf(fetched.error);
  if (signal !== undefined) addAbortSignal(signal, fetched.stream);
  try {
    for await (const chunk of fetched.stream) yield chunk as Buffer;
  } catch (error) {
    throw error instanceof Error && 'code' in error && 'isTemporary' in error
      ? failureOf(error as FetchError)
      : error;
  }
}

type FetchFailure = Extract<
  Awaited<ReturnType<Dependencies['outbound']['fetchFile']>>,
  { readonly ok: false }
>;
type FetchError = FetchFailure['error'];

function failureOf({ code, message, isTemporary }: FetchError): Error {
  const failure = new PreparationFailure(code, message);
  return isTemporary ? new FileTemporarilyUnavailable(failure) : failure;
}

// Builds the public URL of an uploaded campaign file, and recognises it when a client sends it back as csv_file_url.

const path = '/api/campaigns/csv-files/';
const keyPattern = /^csv_[0-9a-f-]{36}\.csv$/;

/** Prefix of every campaign file's key, because the bucket may contain other objects. */
export const fileKeyPrefix = 'csv_';

export const newCampaignFileKey = (): string => `${fileKeyPrefix}${randomUUID()}.csv`;

export const isCampaignFileKey = (key: string): boolean => keyPattern.test(key);

type Address = Pick<Config, 'publicUrl' | 'host' | 'port'>;

/** Origin under which clients reach this API. */
export const publicOrigin = ({ publicUrl, host, port }: Address): string =>
  publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

export function campaignFileUrl(config: Address, key: string): string {
  return `${publicOrigin(config)}${path}${key}`;
}

/** Undefined for a URL that is not one of ours. */
export function campaignFileKey(config: Address, url: string): string | undefined {
  const prefix = `${publicOrigin(config)}${path}`;
  const key = url.startsWith(prefix) ? url.slice(prefix.length) : '';
  return isCampaignFileKey(key) ? key : undefined;
}
