import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import {
  type MessagingProvider,
  ProviderRequestError,
  type TemplatePage,
} from '../../src/provider/provider.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

/** A provider whose answer is made from the query; `asked` collects the paths. */
async function serve(
  answer: (query: URLSearchParams) => Answer,
): Promise<{ readonly provider: MessagingProvider; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { status = 200, body } = answer(new URL(request.url ?? '', 'http://provider').searchParams);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const provider = createCloudProvider({
    baseUrl: `http://127.0.0.1:${port}/v23.0`,
    connections: 2,
    timeoutMs: 2000,
  });
  closers.push(async () => {
    await provider.close();
    server.closeAllConnections();
    server.close();
  });
  return { provider, asked };
}

async function listAll(provider: MessagingProvider, after?: string): Promise<readonly TemplatePage[]> {
  const pages: TemplatePage[] = [];
  const query = {
    businessAccountId: '1022',
    accessToken: 'EAAtoken',
    ...(after === undefined ? {} : { after }),
  };
  for await (const page of provider.listTemplates(query)) pages.push(page);
  return pages;
}

const template = (id: string): object => ({ id, name: `t${id}`, language: 'en_US', status: 'APPROVED' });
const page = (ids: readonly string[], paging?: object): Answer => ({
  body: { data: ids.map(template), paging },
});
const next = 'https://elsewhere.example.com/v23.0/1022/message_templates?after=';

describe('listTemplates', () => {
  it('follows the cursors until a page has no next one, always at its own base URL', async () => {
    const { provider, asked } = await serve((query) => {
      const after = query.get('after');
      if (after === null) return page(['1', '2'], { cursors: { after: 'c2' }, next: `${next}c2` });
      if (after === 'c2') return page(['3'], { next: `${next}c3` });
      return page(['4'], { cursors: { after: 'c4' } });
    });

    const pages = await listAll(provider);

    expect(pages.map(({ templates }) => templates.map(({ id }) => id))).toEqual([['1', '2'], ['3'], ['4']]);
    expect(pages.map(({ nextCursor }) => nextCursor)).toEqual(['c2', 'c3', null]);
    expect(asked).toHaveLength(3);
    expect(asked.every((path) => path.startsWith('/v23.0/1022/message_templates?'))).toBe(true);
  });

  it('takes the cursor from the address of the next page, and counts a page without a usable address as unreadable', async () => {
    const { provider, asked } = await serve((query) =>
      query.get('after') === null
        ? page(['1'], { next: `${next}QVFI%3D` })
        : page(['2'], { next: '/page/3' }),
    );

    const pages = await listAll(provider);

    expect(asked[1]).toContain('after=QVFI%3D');
    expect(pages.map(({ unreadable, nextCursor }) => [unreadable, nextCursor])).toEqual([
      [0, 'QVFI='],
      [1, null],
    ]);
  });

  it('asks without the newer fields if the provider does not know them', async () => {
    const { provider, asked } = await serve((query) =>
      query.get('fields')?.includes('source') === true
        ? {
            status: 400,
            body: { error: { code: 100, message: '(#100) Tried accessing nonexisting field (source)' } },
          }
        : page(['1']),
    );
    expect((await listAll(provider)).flatMap(({ templates }) => templates)).toMatchObject([
      { id: '1', source: null },
    ]);
    expect(asked).toHaveLength(2);
  });

  it('continues from a cursor that is given', async () => {
    const { provider, asked } = await serve(() => page(['9']));

    await listAll(provider, 'c8');

    expect(asked[0]).toContain('after=c8');
  });

  it('begins again when the provider no longer knows the cursor', async () => {
    const { provider } = await serve((query) =>
      query.get('after') === 'old' ? { status: 400, body: { error: { code: 131059 } } } : page(['1']),
    );

    expect((await listAll(provider, 'old')).flatMap(({ templates }) => templates)).toHaveLength(1);
  });

  it('gives up when the cursor is refused again and again', async () => {
    const { provider, asked } = await serve((query) =>
      query.has('after')
        ? { status: 400, body: { error: { code: 131059 } } }
        : page(['1'], { next: `${next}x` }),
    );

    await expect(listAll(provider)).rejects.toThrow(ProviderRequestError);
    expect(asked.length).toBeLessThanOrEqual(8);
  });

  it('stops when the cursor does not move', async () => {
    const { provider } = await serve(() => page(['1'], { cursors: { after: 'same' }, next: `${next}same` }));

    await expect(listAll(provider)).rejects.toThrow('does not advance');
  });

  it('counts elements that are no templates and keeps the others', async () => {
    const { provider } = await serve(() => ({
      body: { data: [null, { id: '1' }, 'x', { ...template('2'), components: 'none' }, template('3')] },
    }));

    const [only] = await listAll(provider);

    expect(only?.templates.map(({ id }) => id)).toEqual(['3']);
    expect(only?.unreadable).toBe(4);
  });

  it('reads the fields in the forms in which they occur', async () => {
    const { provider } = await serve(() => ({
      body: {
        data: [
          {
            id: 594425479261596,
            name: 'sale',
            language: 'en-US',
            status: 'approved',
            category: 'marketing',
            parameter_format: 'named',
            components: [{ type: 'BODY', text: 'Hi' }],
            quality_score: { score: 'GREEN', date: 1 },
            rejected_reason: 'NONE',
            message_send_ttl_seconds: 3600,
            later_field: true,
          },
        ],
      },
    }));

    expect((await listAll(provider))[0]?.templates).toEqual([
      {
        id: '594425479261596',
        name: 'sale',
        language: 'en_US',
        status: 'APPROVED',
        category: 'MARKETING',
        parameterFormat: 'NAMED',
        components: [{ type: 'BODY', text: 'Hi' }],
        qualityScore: 'GREEN',
        rejectedReason: null,
        source: null,
        sendTtlSeconds: 3600,
      },
    ]);
  });

  it.each([
    [
      'a refusal',
      { status: 401, body: { error: { code: 190, message: 'x' } } },
      { kind: 'rejected', code: 190 },
    ],
    ['garbage', { body: '{"data":[' }, { kind: 'unknown' }],
    ['another shape', { body: { templates: [] } }, { kind: 'unknown' }],
    ['an HTTP error', { status: 503, body: '' }, { kind: 'unknown' }],
  ])('throws what happened when the answer is %s', async (_name, answer, failure) => {
    const { provider } = await serve(() => answer);

    await expect(listAll(provider)).rejects.toMatchObject({ name: 'ProviderRequestError', failure });
  });
});
