import type { TemplateDefinition } from './defaults.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../protocol/json-value.ts';

/** The parameters that a message must bring for one template or carousel card. Compiled once per template. */
export interface CompiledPart {
  readonly header: CompiledHeader | undefined;
  readonly body: CompiledText;
  readonly buttons: readonly CompiledButton[];
}

export interface CompiledTemplate extends CompiledPart {
  readonly id: string;
  readonly definition: TemplateDefinition;
  readonly named: boolean;
  readonly authentication: boolean;
  /** Whether the template has a limited-time offer, whether or not it ends. */
  readonly hasOffer: boolean;
  readonly offerExpires: boolean;
  readonly carousel: CompiledCarousel | undefined;
}

export interface CompiledText {
  readonly variables: readonly string[];
  /** Characters of the text itself, for the limit of the filled text. */
  readonly staticLength: number;
}

export interface CompiledHeader {
  readonly format: string;
  readonly text: CompiledText;
}

export interface CompiledButton {
  readonly type: string;
  /** True for a button whose value a send must fill, such as a URL with a variable or a code. */
  readonly takesValue: boolean;
  /** Characters of a URL around its variable. */
  readonly staticLength: number;
}

export interface CompiledCarousel {
  readonly cards: readonly CompiledPart[];
  readonly ofProducts: boolean;
}

const placeholder = /\{\{\s*(\w+)\s*\}\}/g;

export function compileTemplate(id: string, definition: TemplateDefinition): CompiledTemplate {
  const components = definition.components.map(objectOf);
  const authentication = definition.category.toUpperCase() === 'AUTHENTICATION';
  const part = compilePart(components);
  const carousel = ofType(components, 'CAROUSEL');
  const offer = ofType(components, 'LIMITED_TIME_OFFER');
  return {
    ...part,
    // The definition of an authentication template may leave its text out; its body is the code.
    body:
      authentication && part.body.variables.length === 0 ? { variables: ['1'], staticLength: 60 } : part.body,
    id,
    definition,
    named: definition.parameter_format === 'NAMED' || components.some(hasNamedExamples),
    authentication,
    hasOffer: offer !== undefined,
    offerExpires: objectOf(offer?.['limited_time_offer'])['has_expiration'] === true,
    carousel: carousel && compileCarousel(listOf(carousel['cards'])),
  };
}

function compileCarousel(cards: readonly unknown[]): CompiledCarousel {
  const parts = cards.map((card) => compilePart(listOf(objectOf(card)['components']).map(objectOf)));
  return { cards: parts, ofProducts: parts[0]?.header?.format === 'PRODUCT' };
}

function compilePart(components: readonly JsonObject[]): CompiledPart {
  const header = ofType(components, 'HEADER');
  const body = ofType(components, 'BODY');
  const buttons = ofType(components, 'BUTTONS');
  return {
    header: header && {
      format: textOf(header['format']).toUpperCase() || 'TEXT',
      text: compileText(textOf(header['text'])),
    },
    body: compileText(textOf(body?.['text'])),
    buttons: listOf(buttons?.['buttons']).map((button) => compileButton(objectOf(button))),
  };
}

function compileText(text: string): CompiledText {
  const variables = [...new Set([...text.matchAll(placeholder)].map((match) => match[1] ?? ''))];
  return { variables, staticLength: charactersOf(text.replaceAll(placeholder, '')) };
}

/** Code points. */
export const charactersOf = (text: string): number => Array.from(text).length;

function compileButton(button: JsonObject): CompiledButton {
  const type = textOf(button['type']).toUpperCase();
  const url = textOf(button['url']);
  const isDynamicUrl = type === 'URL' && url.includes('{{');
  const takesValue = isDynamicUrl || type === 'COPY_CODE' || type === 'OTP' || type === 'MPM';
  return { type, takesValue, staticLength: charactersOf(url.replaceAll(placeholder, '')) };
}

function ofType(components: readonly JsonObject[], type: string): JsonObject | undefined {
  return components.find((component) => textOf(component['type']).toUpperCase() === type);
}

/** True when the examples of a template without a declared format show named parameters. */
function hasNamedExamples(component: JsonObject): boolean {
  const example = objectOf(component['example']);
  return 'body_text_named_params' in example || 'header_text_named_params' in example;
}
