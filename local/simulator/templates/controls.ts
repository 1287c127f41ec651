import {
  templateAnnouncementBody,
  templateCategoryBody,
  templateComponentsBody,
  templateQualityBody,
  templateStatusBody,
} from '../callbacks/inbound.ts';
import type { CompiledTemplate } from './compiled.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../protocol/json-value.ts';
import { findTemplate, putTemplate, removeTemplate, type ProviderAccount } from '../provider-accounts.ts';
import type { SimulatorState } from '../state.ts';

/** A control that cannot be carried out; the message says why. */
export class ControlProblem extends Error {}

/** The account that a control names; the first one when it names none. */
export function accountOf(state: SimulatorState, input: JsonObject): ProviderAccount {
  const id = textOf(input['businessAccountId']) || state.options.businessAccountId;
  const account = state.accounts.byPhoneNumberId(textOf(input['phoneNumberId'])) ?? state.accounts.byId(id);
  if (!account) throw new ControlProblem(`There is no business account ${id}`);
  return account;
}

/** Adds or replaces a template given in the provider's shape. */
export function addTemplate(state: SimulatorState, input: JsonObject): object {
  const definition = objectOf(input['template']);
  const [name, language] = [textOf(definition['name']), textOf(definition['language'])];
  if (name === '' || language === '' || !Array.isArray(definition['components'])) {
    throw new ControlProblem('template needs name, language and components');
  }
  const template = putTemplate(accountOf(state, input), {
    ...definition,
    name,
    language,
    category: textOf(definition['category']) || 'MARKETING',
    status: textOf(definition['status']) || 'APPROVED',
    components: listOf(definition['components']).map(objectOf),
  });
  return { id: template.id };
}

/** Changes or removes a template, and sends a callback unless `notify` is false. */
export async function changeTemplate(state: SimulatorState, input: JsonObject): Promise<object> {
  const account = accountOf(state, input);
  const before = namedTemplate(account, input);
  if (input['remove'] === true) {
    removeTemplate(account, before);
    return { id: before.id, removed: true };
  }
  const now = Date.now();
  const after = putTemplate(account, changedDefinition(before, input, now));
  const bodies = changeBodies(account, { before, after, input, now });
  const answers =
    input['notify'] === false ? [] : await Promise.all(bodies.map((body) => state.sender.post(body)));
  return { id: before.id, receiverStatuses: answers };
}

function changedDefinition(
  { definition }: CompiledTemplate,
  input: JsonObject,
  now: number,
): CompiledTemplate['definition'] {
  const quality = textOf(input['quality']).toUpperCase();
  const components = input['components'];
  return {
    ...definition,
    status: (textOf(input['status']) || definition.status).toUpperCase(),
    category: (textOf(input['category']) || definition.category).toUpperCase(),
    ...(quality !== '' && { quality_score: { score: quality, date: Math.floor(now / 1000) } }),
    ...(Array.isArray(components) && { components: listOf(components).map(objectOf) }),
  };
}

/** One callback for each thing that the control names. */
function changeBodies(
  account: ProviderAccount,
  {
    before,
    after: template,
    input,
    now,
  }: {
    readonly before: CompiledTemplate;
    readonly after: CompiledTemplate;
    readonly input: JsonObject;
    readonly now: number;
  },
): readonly string[] {
  const bodies: string[] = [];
  if (input['status'] !== undefined) {
    bodies.push(templateStatusBody(account, { template, reason: textOf(input['reason']) || 'NONE', now }));
  }
  if (input['category'] !== undefined) {
    const previousCategory = before.definition.category;
    bodies.push(templateCategoryBody(account, { template, previousCategory, now }));
  }
  if (input['upcomingCategory'] !== undefined) {
    const category = textOf(input['upcomingCategory']).toUpperCase();
    bodies.push(templateAnnouncementBody(account, { template, category, now }));
  }
  if (input['quality'] !== undefined) {
    const quality = textOf(input['quality']).toUpperCase();
    bodies.push(templateQualityBody(account, { template: before, quality, now }));
  }
  if (input['components'] !== undefined) bodies.push(templateComponentsBody(account, { template, now }));
  return bodies;
}

function namedTemplate(account: ProviderAccount, input: JsonObject): CompiledTemplate {
  const name = textOf(input['name']);
  const language = textOf(input['language']) || 'en_US';
  const template = account.templates.get(textOf(input['id'])) ?? findTemplate(account, { name, language });
  if (!template) throw new ControlProblem(`There is no template ${name} in ${language}`);
  return template;
}
