/** A provider that only lists templates, from pages in memory. */
import { createFakeProvider } from './fake-provider.ts';
import type { MessagingProvider, ProviderTemplate, TemplatePage } from '../../src/provider/provider.ts';

export interface ListingProvider extends MessagingProvider {
  /** Sets the template pages to list; an entry may also be an error. */
  serve: (pages: readonly (readonly ProviderTemplate[] | Error)[], unreadable?: number) => void;
  /** The cursor of every listing that was asked for. */
  readonly cursors: readonly (string | null)[];
}

export function createListingProvider(): ListingProvider {
  let served: readonly (readonly ProviderTemplate[] | Error)[] = [];
  let unreadableElements = 0;
  const cursors: (string | null)[] = [];

  async function* listPages(after: string | undefined): AsyncGenerator<TemplatePage> {
    const first = after === undefined ? 0 : Number(after);
    for (const [at, templates] of [...served.entries()].slice(first)) {
      if (templates instanceof Error) throw templates;
      const nextCursor = at + 1 < served.length ? String(at + 1) : null;
      yield { templates, unreadable: unreadableElements, nextCursor };
    }
  }

  return {
    ...createFakeProvider(),
    cursors,
    serve(pages, unreadable = 0) {
      served = pages;
      unreadableElements = unreadable;
    },
    listTemplates({ after }) {
      cursors.push(after ?? null);
      return listPages(after);
    },
  };
}

export const listedTemplate = (overrides: Partial<ProviderTemplate> = {}): ProviderTemplate => ({
  id: '1387372356726668',
  name: 'order_update',
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  parameterFormat: 'POSITIONAL',
  components: [{ type: 'BODY', text: 'Hi {{1}}' }],
  qualityScore: null,
  rejectedReason: null,
  source: null,
  sendTtlSeconds: null,
  ...overrides,
});
