/** The demo workspace's ids at the provider. Each data folder gets its own, so that several folders can share a database. */
import { randomInt } from 'node:crypto';
import { readJson, writePrivateJson } from '../stack/host/private-file.ts';

export interface DemoIdentity {
  readonly businessAccountId: string;
  readonly phoneNumberId: string;
  readonly displayPhoneNumber: string;
  readonly accessToken: string;
}

const fields = ['businessAccountId', 'phoneNumberId', 'displayPhoneNumber', 'accessToken'] as const;

export function loadDemoIdentity(file: string): DemoIdentity {
  const stored = readJson(file) as Partial<DemoIdentity> | undefined;
  if (stored !== undefined && fields.every((field) => typeof stored[field] === 'string'))
    return stored as DemoIdentity;
  const identity: DemoIdentity = {
    businessAccountId: `10${digits(13)}`,
    phoneNumberId: `20${digits(13)}`,
    displayPhoneNumber: `+1555${digits(7)}`,
    accessToken: `demo-token-${digits(12)}`,
  };
  writePrivateJson(file, identity);
  return identity;
}

function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('');
}
