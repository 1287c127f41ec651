/** A fake provider: returns configured answers and records every message with its time. */
import type { MessagingProvider, OutboundTemplateMessage, SendResult } from '../../src/provider/provider.ts';

export interface FakeProvider extends MessagingProvider {
  readonly received: readonly { readonly callbackData: string; readonly to: string; readonly at: number }[];
}

export type Answer = (message: OutboundTemplateMessage, count: number) => SendResult | Promise<SendResult>;

export const accept: Answer = (message) => ({
  kind: 'accepted',
  providerMessageId: `wamid.${message.callbackData}`,
  messageStatus: 'accepted',
  otherIds: [],
});

export const refuse =
  (code: number): Answer =>
  () => ({
    kind: 'rejected',
    code,
    httpStatus: 400,
    message: 'refused',
    details: 'refused',
    isTransient: false,
  });

export function createFakeProvider(answer: Answer = accept): FakeProvider {
  const received: { callbackData: string; to: string; at: number }[] = [];
  return {
    received,
    async sendMessage(message) {
      received.push({ callbackData: message.callbackData, to: message.to, at: performance.now() });
      return answer(message, received.length);
    },
    listTemplates: () => {
      throw new Error('not part of these tests');
    },
    readAccountTerms: () => Promise.resolve({ currency: null, timeZone: null }),
    readPricing: () => Promise.resolve([]),
    readNumberHealth: () =>
      Promise.resolve({ canSend: null, details: null, quality: null, messagingLimit: undefined }),
    unpauseTemplate: () => Promise.resolve(),
    async uploadMedia({ content }) {
      let size = 0;
      for await (const chunk of content) size += chunk.length;
      return `media-of-${size}`;
    },
    close: () => Promise.resolve(),
  };
}
