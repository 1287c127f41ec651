/** Names that resolve to a forbidden address when they are dialled; uses the addresses of the URL table. */
import { describe, expect, it } from 'vitest';
import { createOutboundPolicy, dialableHost } from '../../src/outbound/address-guard.ts';
import type { Dialer } from '../../src/outbound/dial.ts';
import { fetchFile } from '../../src/outbound/outbound.ts';
import { parseAddress } from '../../src/outbound/parse-address.ts';
import { postWebhook } from '../../src/outbound/post-webhook.ts';
import { hostileUrls } from './url-cases.ts';

const strict = createOutboundPolicy([]);
const publicAddress = '93.184.215.14';

/** Every hostile URL that is a literal address, in one spelling each. */
const addresses = [
  ...new Set(
    hostileUrls
      .filter(([url]) => URL.canParse(url))
      .map(([url]) => dialableHost(new URL(url)))
      .filter((host) => parseAddress(host) !== undefined),
  ),
];

const naming = (answers: readonly string[]): Dialer => ({
  policy: strict,
  resolve: async () => ({ ok: true, addresses: answers }),
});
const post = (dialer: Dialer) =>
  postWebhook(dialer, { url: 'http://receiver.test:9/', headers: {}, body: Buffer.from('{}') }, 500);

describe('a name that resolves to a refused address', () => {
  it('is tested with a few hundred addresses', () => {
    expect(addresses.length).toBeGreaterThan(230);
  });

  it.each(addresses)('is not sent a webhook: %s', async (address) => {
    expect(await post(naming([address]))).toMatchObject({ state: 'failed', errorCode: 'blocked_address' });
  });

  it.each(addresses)('is not sent a webhook beside a public address: %s', async (address) => {
    expect(await post(naming([publicAddress, address]))).toMatchObject({ errorCode: 'blocked_address' });
  });

  it.each(addresses)('gives no campaign file: %s', async (address) => {
    expect(await fetchFile(naming([address]), 'http://files.test:9/list.csv')).toMatchObject({
      ok: false,
      error: { code: 'FILE_FETCH_REFUSED' },
    });
  });
});

describe('a campaign file', () => {
  it.each(hostileUrls)('is not fetched from %j (%s)', async (url) => {
    expect(await fetchFile(naming([publicAddress]), url)).toMatchObject({
      ok: false,
      error: { code: 'FILE_FETCH_REFUSED' },
    });
  });
});
