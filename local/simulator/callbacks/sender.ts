import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';

export interface CallbackSender {
  /** Posts one signed body. Returns the HTTP status, or null when there was no answer. */
  post(body: string, signing?: Signing): Promise<number | null>;
  /** The provider's verification request; true when the challenge came back. */
  verify(): Promise<boolean>;
  url: string | undefined;
  close(): Promise<void>;
}

export type Signing = 'right' | 'wrong' | 'none';

export interface CallbackSenderOptions {
  readonly url: string | undefined;
  readonly appSecret: string;
  readonly verifyToken: string;
}

const timeoutMs = 20_000;

export function createCallbackSender({ url, appSecret, verifyToken }: CallbackSenderOptions): CallbackSender {
  const agent = new Agent({ connections: 16, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  const sender: CallbackSender = {
    url,
    post: async (body, signing = 'right') => {
      if (sender.url === undefined) return null;
      const key = signing === 'wrong' ? `${appSecret}-wrong` : appSecret;
      const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'provider-simulator',
        ...(signing === 'none' ? {} : { 'x-hub-signature-256': signature }),
      };
      try {
        const answer = await request(sender.url, { method: 'POST', dispatcher: agent, headers, body });
        await answer.body.dump();
        return answer.statusCode;
      } catch {
        return null;
      }
    },
    verify: async () => {
      if (sender.url === undefined) return false;
      const challenge = '1158201444';
      const query = new URLSearchParams({
        'hub.mode': 'subscribe',
        'hub.challenge': challenge,
        'hub.verify_token': verifyToken,
      });
      const answer = await request(`${sender.url}?${query.toString()}`, { dispatcher: agent });
      return (await answer.body.text()) === challenge && answer.statusCode === 200;
    },
    close: () => agent.destroy(),
  };
  return sender;
}
