import {
  accountBody,
  capabilityBody,
  echoBody,
  identityBody,
  inboundMessageBody,
  preferenceBody,
  standbyBody,
} from './callbacks/inbound.ts';
import type { SimulatorRequest } from './graph-routes.ts';
import { isObject, listOf, objectOf, textOf, type JsonObject } from './protocol/json-value.ts';
import { jsonAnswer, type SimulatorAnswer } from './protocol/answer.ts';
import { resetSimulator, type SimulatorState } from './state.ts';
import { accountOf, addTemplate, changeTemplate, ControlProblem } from './templates/controls.ts';

type Control = (state: SimulatorState, input: JsonObject) => object | Promise<object>;

export const controlPrefix = '/_simulator/';
const flushTimeoutMs = 30_000;
const maxRecent = 2000;

const queries: Readonly<Record<string, Control>> = {
  messages: (state, query) => {
    const to = textOf(query['to']);
    const callbackData = textOf(query['callbackData']);
    const filter = { ...(to === '' ? {} : { to }), ...(callbackData === '' ? {} : { callbackData }) };
    return {
      ...state.received.summary(),
      ...(to === '' ? {} : { toCount: state.received.recipients.count(to) }),
      recent: state.received.recent(Math.min(Number(query['limit'] ?? 0), maxRecent), filter),
    };
  },
  rate: (state, query) => state.received.rate(Math.max(Number(query['bucketMs'] ?? 1000), 100)),
  state: (state) => ({
    callbackUrl: state.sender.url ?? null,
    callbacks: { ...state.callbacks.settings, ...state.callbacks.counts() },
    faults: state.faults.settings,
  }),
};

const commands: Readonly<Record<string, Control>> = {
  faults: (state, input) => state.faults.configure(input),
  callbacks: (state, input) => {
    if (input['url'] !== undefined) state.sender.url = textOf(input['url']) || undefined;
    return state.callbacks.configure(input);
  },
  flush: async (state) => ({ flushed: await state.callbacks.flush(flushTimeoutMs) }),
  reset: (state) => {
    resetSimulator(state);
    return { reset: true };
  },
  verify: async (state) => ({ verified: await state.sender.verify() }),
  inbound: async (state, input) => {
    const id = textOf(input['id']) || state.nextMessageId();
    const body = inboundMessageBody({ account: accountOf(state, input), input, id, now: Date.now() });
    return { id, receiverStatus: await state.sender.post(body) };
  },
  echo: async (state, input) => {
    const id = textOf(input['id']) || state.nextMessageId();
    const body = echoBody({ account: accountOf(state, input), input, id, now: Date.now() });
    return { id, receiverStatus: await state.sender.post(body) };
  },
  identity: async (state, input) => {
    const id = textOf(input['id']) || state.nextMessageId();
    const body = identityBody({ account: accountOf(state, input), input, id, now: Date.now() });
    return { id, receiverStatus: await state.sender.post(body) };
  },
  standby: async (state, input) => {
    const id = textOf(input['id']) || state.nextMessageId();
    const body = standbyBody({ account: accountOf(state, input), input, id, now: Date.now() });
    return { id, receiverStatus: await state.sender.post(body) };
  },
  account: async (state, input) => {
    const body = accountBody(accountOf(state, input), input, Date.now());
    return { receiverStatus: await state.sender.post(body) };
  },
  capability: async (state, input) => {
    const body = capabilityBody(accountOf(state, input), input, Date.now());
    return { receiverStatus: await state.sender.post(body) };
  },
  preference: async (state, input) => {
    const body = preferenceBody(accountOf(state, input), input, Date.now());
    return { receiverStatus: await state.sender.post(body) };
  },
  callback: async (state, input) => {
    const body = typeof input['body'] === 'string' ? input['body'] : JSON.stringify(input['body']);
    const signing = input['signing'] === 'wrong' || input['signing'] === 'none' ? input['signing'] : 'right';
    return { receiverStatus: await state.sender.post(body, signing) };
  },
  templates: (state, input) => addTemplate(state, input),
  template: (state, input) => changeTemplate(state, input),
  accounts: (state, input) => {
    const id = textOf(input['businessAccountId']);
    if (id === '') throw new ControlProblem('businessAccountId is required');
    const account = state.accounts.add({
      id,
      accessToken: textOf(input['accessToken']) || undefined,
      phoneNumberIds: listOf(input['phoneNumberIds']).map(String),
      portfolioId: textOf(input['portfolioId']) || undefined,
    });
    return { businessAccountId: id, templates: account.templates.size };
  },
  // Fields that the number answers with from now on, such as quality_rating, health_status and the messaging limit.
  number: (state, { phoneNumberId, fields }) => {
    const { numbers } = accountOf(state, { phoneNumberId });
    const all = { ...numbers.get(textOf(phoneNumberId)), ...objectOf(fields) };
    numbers.set(textOf(phoneNumberId), all);
    return all;
  },
  // Prices and tiers of the pricing analytics.
  pricing: (state, input) => state.analytics.configure(input),
  // The provider forgets every uploaded file, as it does after 30 days.
  forget: (state) => {
    const forgotten = state.media.size;
    state.media.clear();
    return { forgotten };
  },
};

/** Names of all control routes. */
export const controlNames: readonly string[] = [
  ...Object.keys(commands),
  ...Object.keys(queries),
  'recipients',
];

/** The simulator's own addresses, for tests and for trying things by hand. */
export async function controlAnswer(
  state: SimulatorState,
  request: SimulatorRequest,
): Promise<SimulatorAnswer> {
  const url = new URL(request.url, 'http://simulator');
  const name = url.pathname.slice(controlPrefix.length);
  if (request.method === 'GET' && name === 'recipients') return recipientsAnswer(state);
  const control = request.method === 'GET' ? queries[name] : commands[name];
  if (!control) return problemAnswer(`There is no ${request.method} ${url.pathname}`, 404);
  const input = request.method === 'GET' ? Object.fromEntries(url.searchParams) : readInput(request.body);
  if (!input) return problemAnswer('The body must be a JSON object', 400);
  try {
    return jsonAnswer(JSON.stringify(await control(state, input)));
  } catch (error) {
    if (error instanceof ControlProblem || error instanceof TypeError)
      return problemAnswer(error.message, 400);
    throw error;
  }
}

/** One line for each number: `digits,accepted messages`. */
function recipientsAnswer(state: SimulatorState): SimulatorAnswer {
  const lines: string[] = [];
  for (const { digits, count } of state.received.recipients.digits()) lines.push(`${digits},${count}\n`);
  return { kind: 'answer', httpStatus: 200, contentType: 'text/csv', body: lines.join('') };
}

function problemAnswer(message: string, httpStatus: number): SimulatorAnswer {
  return jsonAnswer(JSON.stringify({ problem: message }), httpStatus);
}

function readInput(body: Buffer): JsonObject | undefined {
  if (body.length === 0) return {};
  try {
    const input: unknown = JSON.parse(body.toString('utf8'));
    return isObject(input) ? input : undefined;
  } catch {
    return undefined;
  }
}
