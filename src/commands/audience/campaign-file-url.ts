/** The public URL of an uploaded campaign file: built here, and recognised here when it comes back as csv_file_url. */
import { randomUUID } from 'node:crypto';
import type { Config } from '../../config.ts';

const path = '/api/campaigns/csv-files/';
const keyPattern = /^csv_[0-9a-f-]{36}\.csv$/;

/** Prefix of every campaign file's key: the bucket may hold other objects. */
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
