/**
 * A provider of the tests' own over real HTTP: the protocol and nothing else. It checks nothing, so that a test decides
 * every answer; the simulator is the one that behaves like the real provider.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GraphMessage {
  readonly phoneNumberId: string;
  /** The recipient as sent, with a plus sign. */
  readonly to: string;
  readonly callbackData: string;
  readonly template: {
    readonly name: string;
    readonly language: { readonly code: string };
    readonly components?: readonly unknown[];
  };
}

export type GraphAnswer =
  | {
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Takes the request and closes the connection. */
  | 'drop'
  /** Takes the request and never answers. */
  | 'hang';

type TemplatePages = readonly (readonly object[] | GraphAnswer)[];

export interface GraphServer {
  /** With the version segment. */
  readonly baseUrl: string;
  readonly messages: readonly GraphMessage[];
  /** Template pages to list; an entry may also be another response. */
  templatePages: TemplatePages;
  close(): Promise<void>;
}

export const graphAccepted = ({ to, callbackData }: GraphMessage): GraphAnswer => ({
  status: 200,
  body: {
    messaging_product: 'whatsapp',
    contacts: [{ input: to, wa_id: to.slice(1) }],
    messages: [{ id: `wamid.${callbackData}`, message_status: 'accepted' }],
  },
});

export const graphRefused = (code: number, status = 400): GraphAnswer => ({
  status,
  body: {
    error: {
      message: `(#${code}) Refused`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details: `details of ${code}` },
      fbtrace_id: 'Az8or2yhqkZfEZ',
    },
  },
});

export async function startGraphServer(
  answer: (message: GraphMessage) => GraphAnswer = graphAccepted,
): Promise<GraphServer> {
  const messages: GraphMessage[] = [];
  const graph = { templatePages: [] as TemplatePages };
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const url = new URL(request.url ?? '', 'http://provider');
      const [, , owner = '', resource = ''] = url.pathname.split('/');
      if (resource === 'message_templates') {
        return reply(response, listPage(graph.templatePages, Number(url.searchParams.get('after') ?? 0)));
      }
      if (request.method !== 'POST') return reply(response, graphRefused(100));
      const body = JSON.parse(text) as { to: string; biz_opaque_callback_data: string } & Pick<
        GraphMessage,
        'template'
      >;
      const message = {
        phoneNumberId: owner,
        to: body.to,
        callbackData: body.biz_opaque_callback_data,
        template: body.template,
      };
      messages.push(message);
      return reply(response, answer(message));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return Object.assign(graph, {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v23.0`,
    messages,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

function listPage(pages: TemplatePages, at: number): GraphAnswer {
  const page = pages[at] ?? [];
  if (page === 'drop' || page === 'hang' || 'status' in page) return page;
  const next = 'https://provider.example.com/v23.0/1/message_templates?after=';
  const more = at + 1 < pages.length;
  const cursors = { before: String(at), after: String(at + 1) };
  return {
    status: 200,
    body: { data: page, paging: { cursors, ...(more && { next: `${next}${at + 1}` }) } },
  };
}

function reply(response: ServerResponse, answer: GraphAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'drop') {
    response.socket?.destroy();
    return;
  }
  const { status, body, headers = {} } = answer;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
