import { displayPhoneNumber } from './callback-bodies.ts';
import { GraphError } from './graph-error.ts';
import { listTemplates, templateRecord } from './list-templates.ts';
import type { ProviderAccount } from './provider-accounts.ts';
import { sendMessage } from './send-message.ts';
import { errorAnswer, jsonAnswer, type SimulatorAnswer } from './answer.ts';
import type { SimulatorState } from './state.ts';

export interface SimulatorRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly host: string;
  readonly authorization: string | undefined;
  readonly body: Buffer;
}

/** The provider's own addresses: `/{version}/{id}` and `/{version}/{id}/{edge}`. */
export function graphAnswer(state: SimulatorState, request: SimulatorRequest): SimulatorAnswer {
  try {
    return route(state, request);
  } catch (error) {
    if (error instanceof GraphError) return errorAnswer(error);
    throw error;
  }
}

function route(state: SimulatorState, request: SimulatorRequest): SimulatorAnswer {
  const { id, edge } = addressOf(request.url);
  const account = accountOf(state, { id, request });
  if (request.method === 'POST' && edge === 'messages' && account.phoneNumberIds.includes(id)) {
    return sendMessage(state, { account, phoneNumberId: id, body: request.body.toString('utf8') });
  }
  if (request.method === 'POST' && edge === 'media' && account.phoneNumberIds.includes(id)) {
    if (request.body.length === 0) throw new GraphError(131008, 'The parameter file is required.');
    return jsonAnswer(
      JSON.stringify({ id: String(1_000_000_000_000_000 + Math.floor(performance.now() * 1000)) }),
    );
  }
  if (request.method !== 'GET') throw unsupported(id, request.method);
  const url = new URL(request.url, `http://${request.host}`);
  if (edge === 'message_templates' && account.id === id) return jsonAnswer(listTemplates(account, url));
  if (edge === '') return jsonAnswer(JSON.stringify(nodeOf(account, { id, url })));
  throw unsupported(id, request.method);
}

function nodeOf(
  account: ProviderAccount,
  { id, url }: { readonly id: string; readonly url: URL },
): Record<string, unknown> {
  const template = account.templates.get(id);
  if (template) {
    return templateRecord(
      template,
      url.searchParams.get('fields') ?? 'name,components,language,status,category',
    );
  }
  if (account.id === id) return { id, name: 'Simulated business account' };
  return {
    id,
    display_phone_number: displayPhoneNumber,
    verified_name: 'Simulated business',
    quality_rating: 'GREEN',
  };
}

/** The version segment is not looked at; it may be left out. */
function addressOf(url: string): { readonly id: string; readonly edge: string } {
  const [, id, edge] = /^(?:\/v\d+\.\d+)?\/([^/?]+)(?:\/([^/?]+))?(?:\?|$)/.exec(url) ?? [];
  if (id === undefined) throw unsupported('', 'this');
  return { id, edge: edge ?? '' };
}

function accountOf(
  state: SimulatorState,
  { id, request }: { readonly id: string; readonly request: SimulatorRequest },
): ProviderAccount {
  const { accounts } = state;
  if (request.authorization === undefined || !/^Bearer \S+$/i.test(request.authorization)) {
    throw new GraphError(190, 'An access token is required');
  }
  const account = accounts.byPhoneNumberId(id) ?? accounts.byId(id) ?? accounts.byTemplateId(id);
  if (!account) throw unsupported(id, request.method);
  const token = request.authorization.slice('Bearer '.length);
  if (account.accessToken !== undefined && account.accessToken !== token) {
    throw new GraphError(190, 'The access token could not be decrypted');
  }
  return account;
}

function unsupported(id: string, method: string): GraphError {
  const problem = `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist`;
  return new GraphError(100, `${problem}, or does not support this operation`, 33);
}
