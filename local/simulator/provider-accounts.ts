import { compileTemplate, type CompiledTemplate } from './templates/compiled.ts';
import { defaultRichTemplates } from './templates/rich-defaults.ts';
import { defaultTemplates, type TemplateDefinition } from './templates/defaults.ts';

/** A business account with its numbers and templates. */
export interface ProviderAccount {
  readonly id: string;
  /** Undefined: every access token is accepted. */
  readonly accessToken: string | undefined;
  readonly phoneNumberIds: readonly string[];
  /** The portfolio that owns the account; undefined: it does not say. */
  readonly portfolioId?: string | undefined;
  /** Fields of the numbers that differ from the usual ones, by id. */
  readonly numbers: Map<string, Readonly<Record<string, unknown>>>;
  /** By id, in the order they were added. */
  readonly templates: Map<string, CompiledTemplate>;
  /** The same by name and language, for sends. */
  readonly byName: Map<string, CompiledTemplate>;
}

export interface ProviderAccounts {
  add(account: NewAccount): ProviderAccount;
  byId(id: string): ProviderAccount | undefined;
  byPhoneNumberId(phoneNumberId: string): ProviderAccount | undefined;
  byTemplateId(templateId: string): ProviderAccount | undefined;
}

export interface NewAccount {
  readonly id: string;
  readonly accessToken: string | undefined;
  readonly phoneNumberIds: readonly string[];
  readonly portfolioId?: string | undefined;
}

export function createProviderAccounts(): ProviderAccounts {
  const accounts = new Map<string, ProviderAccount>();
  const numbers = new Map<string, ProviderAccount>();
  return {
    add: (given) => {
      const account = { ...given, numbers: new Map(), templates: new Map(), byName: new Map() };
      [...defaultTemplates, ...defaultRichTemplates].forEach((definition) =>
        putTemplate(account, definition),
      );
      accounts.set(account.id, account);
      for (const phoneNumberId of given.phoneNumberIds) numbers.set(phoneNumberId, account);
      return account;
    },
    byId: (id) => accounts.get(id),
    byPhoneNumberId: (phoneNumberId) => numbers.get(phoneNumberId),
    byTemplateId: (id) => [...accounts.values()].find((account) => account.templates.has(id)),
  };
}

/** Adds a template, or replaces the one with the same name and language; the id stays the same. */
export function putTemplate(account: ProviderAccount, definition: TemplateDefinition): CompiledTemplate {
  const known = findTemplate(account, definition);
  const id = known?.id ?? templateId(account, definition);
  const template = compileTemplate(id, definition);
  account.templates.set(id, template);
  account.byName.set(nameKey(definition), template);
  return template;
}

export function findTemplate(
  account: ProviderAccount,
  key: { readonly name: string; readonly language: string },
): CompiledTemplate | undefined {
  return account.byName.get(nameKey(key));
}

export function removeTemplate(account: ProviderAccount, template: CompiledTemplate): void {
  account.templates.delete(template.id);
  account.byName.delete(nameKey(template.definition));
}

function nameKey({ name, language }: { readonly name: string; readonly language: string }): string {
  return `${name}\n${language}`;
}

/** Derives 15 digits that are stable over restarts and differ between accounts. */
function templateId(account: ProviderAccount, { name, language }: TemplateDefinition): string {
  let hash = 0n;
  for (const character of `${account.id}/${name}/${language}`) {
    hash = (hash * 131n + BigInt(character.codePointAt(0) ?? 0)) % 899_999_999_999_999n;
  }
  return String(hash + 100_000_000_000_000n);
}
