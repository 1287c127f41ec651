import { displayPhoneNumber } from './callbacks/bodies.ts';
import { GraphError } from './protocol/graph-error.ts';
import { listTemplates, templateRecord } from './templates/list.ts';
import { type ProviderAccount, putTemplate } from './provider-accounts.ts';
import type { CompiledTemplate } from './templates/compiled.ts';
import { sendMessage } from './messages/send.ts';
import { errorAnswer, jsonAnswer, type SimulatorAnswer } from './protocol/answer.ts';
import type { Media, SimulatorState } from './state.ts';

export interface SimulatorRequest {
  readonly method: string;
  /** Path with its query string. */
  readonly url: string;
  readonly host: string;
  readonly authorization: string | undefined;
  /** The body came without a Content-Length. */
  readonly isChunked?: boolean;
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
  const media = state.media.get(id);
  if (media !== undefined && edge === '') return mediaAnswer(state, { id, media, request });
  const account = accountOf(state, { id, request });
  const ofNumber = account.phoneNumberIds.includes(id);
  if (request.method === 'POST' && ofNumber && (edge === 'messages' || edge === 'marketing_messages')) {
    const marketing = edge === 'marketing_messages';
    const body = request.body.toString('utf8');
    return sendMessage(state, { account, phoneNumberId: id, body, marketing });
  }
  if (request.method === 'POST' && ofNumber && edge === 'media') return takeMedia(state, id, request);
  const template = account.templates.get(id);
  if (request.method === 'POST' && template !== undefined && edge === 'unpause')
    return unpauseTemplate(account, template);
  if (request.method !== 'GET') throw unsupported(id, request.method);
  const url = new URL(request.url, `http://${request.host}`);
  if (edge === 'message_templates' && account.id === id) return jsonAnswer(listTemplates(account, url));
  if (edge === 'phone_numbers' && account.id === id) {
    const data = account.phoneNumberIds.map((number) => numberOf(account, number));
    return jsonAnswer(JSON.stringify({ data }));
  }
  const fieldNames = url.searchParams.get('fields') ?? '';
  if (edge === '' && account.id === id && fieldNames.startsWith('pricing_analytics')) {
    const displayNumberOf = (number: string) =>
      String(numberOf(account, number)['display_phone_number']).replaceAll(/\D/g, '');
    const figures = state.analytics.read({ id, displayNumberOf }, fieldNames);
    return jsonAnswer(JSON.stringify({ id, pricing_analytics: figures }));
  }
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
  const fields = url.searchParams.get('fields')?.split(',');
  const node = account.id === id ? accountNode(account) : numberOf(account, id);
  return fields === undefined
    ? node
    : Object.fromEntries(Object.entries(node).filter(([name]) => name === 'id' || fields.includes(name)));
}

const accountNode = ({ id, portfolioId }: ProviderAccount) => ({
  id,
  name: 'Simulated business account',
  currency: 'USD',
  timezone_id: '58',
  ...(portfolioId !== undefined && {
    owner_business_info: { id: portfolioId, name: 'Simulated portfolio' },
  }),
});

/** `POST /{template}/unpause`. */
function unpauseTemplate(account: ProviderAccount, { definition }: CompiledTemplate): SimulatorAnswer {
  if (definition.status.toUpperCase() !== 'PAUSED') throw new GraphError(100, 'The template is not paused');
  putTemplate(account, { ...definition, status: 'APPROVED' });
  return jsonAnswer('{"success":true}');
}

const numberOf = ({ numbers }: ProviderAccount, id: string): Record<string, unknown> => ({
  id,
  display_phone_number: displayPhoneNumber,
  verified_name: 'Simulated business',
  quality_rating: 'GREEN',
  code_verification_status: 'VERIFIED',
  platform_type: 'CLOUD_API',
  throughput: { level: 'STANDARD' },
  health_status: {
    can_send_message: 'AVAILABLE',
    entities: [{ entity_type: 'PHONE_NUMBER', id, can_send_message: 'AVAILABLE' }],
  },
  ...numbers.get(id),
});

const acceptedMedia = /^(?:image\/(?:jpeg|png)|video\/(?:mp4|3gpp)|audio\/\S+|text\/plain|application\/\S+)$/;

/** Keeps only the size of the uploaded file. */
function takeMedia(
  state: SimulatorState,
  phoneNumberId: string,
  { body, isChunked }: SimulatorRequest,
): SimulatorAnswer {
  if (isChunked === true) throw new GraphError(100, 'The request has no Content-Length.');
  const head = body.subarray(0, 4096).toString('latin1');
  if (!head.includes('name="file"')) throw new GraphError(131008, 'The parameter file is required.');
  const [, type] = /filename="[^"]*"\r\ncontent-type: ([^\r]+)/i.exec(head) ?? [];
  if (type === undefined) throw new GraphError(100, 'The part of the parameter file has no Content-Type.');
  if (!/name="messaging_product"\r\n(?:[^\r]+\r\n)*\r\nwhatsapp\r\n/.test(head))
    throw new GraphError(100, 'The parameter messaging_product is required.');
  if (!acceptedMedia.test(type)) throw new GraphError(131053, `Files of type ${type} are not taken`);
  const id = String(1_000_000_000_000_000 + Math.floor(performance.now() * 1000));
  state.media.set(id, { type, size: body.length, phoneNumberId });
  return jsonAnswer(JSON.stringify({ id }));
}

function mediaAnswer(
  state: SimulatorState,
  { id, media, request }: { readonly id: string; readonly media: Media; readonly request: SimulatorRequest },
): SimulatorAnswer {
  if (request.method === 'DELETE') {
    state.media.delete(id);
    return jsonAnswer('{"success":true}');
  }
  if (request.method !== 'GET') throw unsupported(id, request.method);
  const url = `http://${request.host}/media/${id}`;
  const { type, size } = media;
  return jsonAnswer(
    JSON.stringify({ messaging_product: 'whatsapp', url, mime_type: type, file_size: size, id }),
  );
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
