import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  checkTargetUrl,
  createOutboundPolicy,
  isAddressAllowed,
  localhostAddresses,
} from '../../src/outbound/address-guard.ts';
import { honestUrls, hostileUrls } from './url-cases.ts';

const nothing = createOutboundPolicy([]);
const loopback = createOutboundPolicy(['127.0.0.0/8', '::1/128']);
const everything = createOutboundPolicy(['0.0.0.0/0', '::/0']);

describe('checkTargetUrl', () => {
  it('is tested with at least 300 URLs', () => {
    expect(new Set([...hostileUrls, ...honestUrls].map(([url]) => url)).size).toBeGreaterThan(300);
  });

  it.each(hostileUrls)('refuses %j (%s)', (url) => {
    expect(checkTargetUrl(url, nothing).ok).toBe(false);
  });

  it.each(honestUrls)('accepts %j (%s)', (url) => {
    expect(checkTargetUrl(url, nothing)).toMatchObject({ ok: true });
  });

  it.each([
    ['nonsense', 'malformed'],
    [`http://example.com/${'x'.repeat(2030)}`, 'too_long'],
    ['ftp://example.com/', 'scheme_not_allowed'],
    ['http://user@example.com/', 'credentials_not_allowed'],
    ['http://example.com:0/', 'port_not_allowed'],
    ['http://10.0.0.1/', 'blocked_address'],
  ])('says what is wrong with %.40s', (url, problem) => {
    expect(checkTargetUrl(url, nothing)).toEqual({ ok: false, problem });
  });

  it('accepts exactly 2048 characters', () => {
    const url = `http://example.com/${'x'.repeat(2048 - 19)}`;
    expect(url).toHaveLength(2048);
    expect(checkTargetUrl(url, nothing).ok).toBe(true);
  });

  it.each(['http://127.0.0.1:3000/', 'http://[::1]/', 'http://localhost:3000/', 'http://a.localhost/'])(
    'accepts %s when the loopback networks are allowed',
    (url) => {
      expect(checkTargetUrl(url, loopback).ok).toBe(true);
    },
  );

  it.each([
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/',
    'http://[::]/',
    'http://0/',
  ])('still refuses %s when only the loopback networks are allowed', (url) => {
    expect(checkTargetUrl(url, loopback).ok).toBe(false);
  });

  it.each([
    'http://169.254.169.254/',
    'http://169.254.170.2/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://168.63.129.16/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[2001:0:a9fe:a9fe::1]/',
    'http://[2606:4700::5efe:a9fe:a9fe]/',
    'http://[64:ff9b:1:a9fe:a9:fe00::]/',
  ])('refuses the metadata address %s even when everything is allowed', (url) => {
    expect(checkTargetUrl(url, everything)).toEqual({ ok: false, problem: 'blocked_address' });
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `http://${text}/`),
        ),
        (text) => {
          expect(typeof checkTargetUrl(text, nothing).ok).toBe('boolean');
        },
      ),
    );
  });
});

describe('isAddressAllowed', () => {
  it('refuses a mapped, translated or NAT64 address if the IPv4 address inside is refused', () => {
    fc.assert(
      fc.property(
        fc.ipV4(),
        fc.constantFrom('::ffff:', '::ffff:0:', '64:ff9b::', '::'),
        (address, prefix) => {
          fc.pre(!isAddressAllowed(address, nothing));
          expect(isAddressAllowed(`${prefix}${address}`, nothing)).toBe(false);
        },
      ),
    );
  });

  it('allows no IPv6 address outside 2000::/3 but NAT64', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const firstGroup = Number.parseInt(address.split(':')[0] ?? '', 16);
        const isGlobal = firstGroup >= 0x2000 && firstGroup <= 0x3fff;
        fc.pre(!isGlobal && firstGroup !== 0x64);
        expect(isAddressAllowed(address, nothing)).toBe(false);
      }),
    );
  });

  it.each(['', 'example.com', '127.0.0.1 ', '::1%lo', '1.2.3', '::g'])(
    'refuses %j, which is no address',
    (text) => {
      expect(isAddressAllowed(text, everything)).toBe(false);
    },
  );
});

describe('localhostAddresses', () => {
  it('holds only the family that is allowed', () => {
    expect(localhostAddresses(createOutboundPolicy(['127.0.0.1/32']))).toEqual(['127.0.0.1']);
    expect(localhostAddresses(nothing)).toEqual([]);
  });
});

describe('createOutboundPolicy', () => {
  it.each(['10.0.0.0/33', '10.0.0/8', 'example.com/8', '::/129', '10.0.0.0/-1', '10.0.0.0/8/8'])(
    'refuses %s',
    (text) => {
      expect(() => createOutboundPolicy([text])).toThrow(text);
    },
  );
});
