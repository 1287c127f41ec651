import { validateButtons } from './button-validation.ts';
import {
  charactersOf,
  type CompiledHeader,
  type CompiledPart,
  type CompiledTemplate,
  type CompiledText,
} from '../templates/compiled.ts';
import { GraphError } from '../protocol/graph-error.ts';
import { isObject, listOf, objectOf, textOf, type JsonObject } from '../protocol/json-value.ts';

const maxBodyLength = 1024;
const maxOfferBodyLength = 600;
const maxCardBodyLength = 160;
const maxHeaderLength = 60;
const maxCodeLength = 15;
const mediaKinds: Readonly<Record<string, string>> = {
  IMAGE: 'image',
  VIDEO: 'video',
  GIF: 'gif',
  DOCUMENT: 'document',
};
const componentTypes = new Set([
  'header',
  'body',
  'button',
  'limited_time_offer',
  'carousel',
  'tap_target_configuration',
]);

interface GivenComponents {
  readonly components: unknown;
  readonly now: number;
  /** Whether a file was uploaded under the id. */
  readonly isMedia: (id: string) => boolean;
}

/** Checks the components of a send against the template; throws the provider's error for the first fault. */
export function validateComponents(
  template: CompiledTemplate,
  { components, now, isMedia }: GivenComponents,
): void {
  if (components !== undefined && !Array.isArray(components)) {
    throw new GraphError(100, 'template components must be an array');
  }
  const given = listOf(components).map(readComponent);
  const maxLength = template.hasOffer ? maxOfferBodyLength : maxBodyLength;
  const part = { template, given, place: '', maxLength, isMedia };
  validatePart(template, part);
  validateOffer(template, given, now);
  validateCarousel(template, given, isMedia);
}

interface GivenPart extends Pick<GivenComponents, 'isMedia'> {
  readonly template: CompiledTemplate;
  readonly given: readonly JsonObject[];
  /** Prefix of a component's name in an error: empty, or the carousel card. */
  readonly place: string;
  readonly maxLength: number;
}

function readComponent(component: unknown): JsonObject {
  const type = isObject(component) ? textOf(component['type']).toLowerCase() : '';
  if (!isObject(component) || !componentTypes.has(type)) {
    throw new GraphError(100, `template component of type "${type}" is not valid`);
  }
  return { ...component, type };
}

function validatePart(part: CompiledPart, { template, given, place, maxLength, isMedia }: GivenPart): void {
  const header = single(given, 'header');
  validateHeader(part.header, { parameters: parametersOf(header), named: template.named, place, isMedia });
  const body = {
    parameters: parametersOf(single(given, 'body')),
    named: template.named,
    place: `${place}body`,
  };
  const valuesLength = validateTexts(part.body, body);
  refuseLonger(`${place}body`, part.body.staticLength + valuesLength, maxLength);
  if (template.authentication) refuseLonger(`${place}body`, valuesLength, maxCodeLength);
  const buttons = given.filter((component) => component['type'] === 'button');
  validateButtons(part.buttons, { given: buttons, place, codeLength: template.hasOffer ? 15 : 20 });
}

function refuseLonger(where: string, length: number, maxLength: number): void {
  if (length > maxLength)
    throw new GraphError(132005, `${where}: text of ${length} characters, at most ${maxLength} are allowed`);
}

interface GivenParameters {
  readonly parameters: readonly JsonObject[];
  readonly named: boolean;
  readonly place: string;
}

function validateHeader(
  header: CompiledHeader | undefined,
  { parameters, named, place, isMedia }: GivenParameters & Pick<GivenComponents, 'isMedia'>,
): void {
  const where = `${place}header`;
  if (!header || header.format === 'TEXT') {
    const text = header?.text ?? { variables: [], staticLength: 0 };
    const length = validateTexts(text, { parameters, named, place: where });
    refuseLonger(where, text.staticLength + length, maxHeaderLength);
    return;
  }
  const kind = mediaKinds[header.format] ?? header.format.toLowerCase();
  const [parameter] = parameters;
  const received = textOf(parameter?.['type']).toUpperCase() || 'UNKNOWN';
  if (parameters.length !== 1 || received !== kind.toUpperCase()) {
    throw new GraphError(
      132012,
      `${where}: Format mismatch, expected ${header.format}, received ${received}`,
    );
  }
  const value = objectOf(parameter?.[kind]);
  const missing = missingOf(kind, value);
  if (missing) throw new GraphError(131008, `${where}: parameter ${kind} is missing ${missing}`);
  if (kind in mediaNames && !('link' in value) && !isMedia(textOf(value['id']))) {
    throw new GraphError(131009, `${where}: ${kind} id is not the id of an uploaded file`);
  }
  if ('link' in value && !/^https?:\/\/\S+$/.test(textOf(value['link']))) {
    throw new GraphError(131009, `${where}: ${kind} link is not a valid URL`);
  }
}

const mediaNames: Readonly<Record<string, true>> = { image: true, video: true, gif: true, document: true };

function missingOf(kind: string, value: JsonObject): string | undefined {
  const present = (name: string): boolean => value[name] !== undefined && value[name] !== '';
  if (kind === 'location') return ['latitude', 'longitude', 'name', 'address'].find((name) => !present(name));
  if (kind === 'product') return ['product_retailer_id', 'catalog_id'].find((name) => !present(name));
  return present('link') || present('id') ? undefined : 'link or id';
}

/** Returns the length of all values together. */
function validateTexts(text: CompiledText, { parameters, named, place }: GivenParameters): number {
  if (parameters.length !== text.variables.length) {
    throw new GraphError(
      132000,
      `${place}: number of localizable_params (${parameters.length}) does not match the expected number of params (${text.variables.length})`,
    );
  }
  let length = 0;
  for (const parameter of parameters) {
    length += charactersOf(textValueOf(parameter, place));
    if (!named && parameter['parameter_name'] !== undefined) {
      throw new GraphError(132012, `${place}: parameter_name is only for templates with named parameters`);
    }
    if (named && !text.variables.includes(textOf(parameter['parameter_name']))) {
      throw new GraphError(132012, `${place}: parameter name is missing or not one of the template's`);
    }
  }
  return length;
}

function textValueOf(parameter: JsonObject, place: string): string {
  const type = textOf(parameter['type']).toLowerCase();
  if (type === 'currency' || type === 'date_time') return textOf(objectOf(parameter[type])['fallback_value']);
  if (type !== 'text')
    throw new GraphError(132012, `${place}: Format mismatch, expected TEXT, received ${type}`);
  const text = parameter['text'];
  if (typeof text !== 'string' || text === '') {
    throw new GraphError(131008, `${place}: Parameter of type text is missing text value`);
  }
  if (/[\n\t]| {5,}/.test(text)) {
    const rule = 'cannot have new-line/tab characters or more than 4 consecutive spaces';
    throw new GraphError(132018, `${place}: Param text ${rule}`);
  }
  return text;
}

function validateOffer(template: CompiledTemplate, given: readonly JsonObject[], now: number): void {
  const offer = single(given, 'limited_time_offer');
  if (!template.offerExpires) {
    if (offer) throw new GraphError(132012, 'limited_time_offer: not part of the template');
    return;
  }
  const [parameter] = parametersOf(offer);
  const expiry = objectOf(parameter?.['limited_time_offer'])['expiration_time_ms'];
  if (expiry === undefined) throw new GraphError(131008, 'limited_time_offer: expiration_time_ms is missing');
  if (typeof expiry !== 'number' || expiry < now) {
    throw new GraphError(131009, 'limited_time_offer: expiration_time_ms must lie in the future');
  }
}

function validateCarousel(
  template: CompiledTemplate,
  given: readonly JsonObject[],
  isMedia: GivenComponents['isMedia'],
): void {
  const { carousel } = template;
  const sent = single(given, 'carousel');
  if (!carousel) {
    if (sent) throw new GraphError(132012, 'carousel: not part of the template');
    return;
  }
  const cards = listOf(sent?.['cards']).map(objectOf);
  const fits = carousel.ofProducts
    ? cards.length >= 1 && cards.length <= 10
    : cards.length === carousel.cards.length;
  if (!fits) {
    throw new GraphError(
      132012,
      `carousel: ${cards.length} cards sent, ${carousel.cards.length} in the template`,
    );
  }
  cards.forEach((card, index) => {
    if (Number(card['card_index']) !== index)
      throw new GraphError(131009, `carousel: card_index of card ${index}`);
    const part = carousel.cards[carousel.ofProducts ? 0 : index];
    const components = listOf(card['components']).map(readComponent);
    const place = `carousel card ${index} `;
    if (part)
      validatePart(part, { template, given: components, place, maxLength: maxCardBodyLength, isMedia });
  });
}

function single(given: readonly JsonObject[], type: string): JsonObject | undefined {
  const matches = given.filter((component) => component['type'] === type);
  if (matches.length > 1) throw new GraphError(100, `template has more than one ${type} component`);
  return matches[0];
}

function parametersOf(component: JsonObject | undefined): readonly JsonObject[] {
  return listOf(component?.['parameters']).map(objectOf);
}
