import type { Config } from '../config.ts';
import type { TargetUrlCheck } from './address-guard.ts';
import { checkTargetUrl, createOutboundPolicy } from './address-guard.ts';
import type { Dialer } from './dial.ts';
import type { FetchFileResult } from './fetch-file.ts';
import { fetchFile } from './fetch-file.ts';
import type { WebhookOutcome, WebhookRequest } from './post-webhook.ts';
import { postWebhook } from './post-webhook.ts';
import { createResolver } from './resolver.ts';

/** Every request to an address that a customer chose. The messaging provider is not one of them. */
export interface Outbound {
  /** Checks a URL when it is stored, without resolving its name. */
  readonly checkUrl: (url: string) => TargetUrlCheck;
  readonly postWebhook: (request: WebhookRequest) => Promise<WebhookOutcome>;
  readonly fetchFile: (url: string) => Promise<FetchFileResult>;
}

export function createOutbound(
  config: Pick<Config, 'outboundAllowCidrs' | 'outboundDnsServers'>,
  options: Pick<Dialer, 'extraAuthorities'> = {},
): Outbound {
  const dialer: Dialer = {
    policy: createOutboundPolicy(config.outboundAllowCidrs),
    resolve: createResolver({ servers: config.outboundDnsServers }),
    ...options,
  };
  return {
    checkUrl: (url) => checkTargetUrl(url, dialer.policy),
    postWebhook: (request) => postWebhook(dialer, request),
    fetchFile: (url) => fetchFile(dialer, url),
  };
}
