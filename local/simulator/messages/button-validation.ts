import { charactersOf, type CompiledButton } from '../templates/compiled.ts';
import { GraphError } from '../protocol/graph-error.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../protocol/json-value.ts';

const maxUrlLength = 2000;
const maxCodeLength = 15;
const maxTitleLength = 24;

interface GivenButtons {
  readonly given: readonly JsonObject[];
  readonly place: string;
  readonly codeLength: number;
}

/** Button kinds as a message names them, with the name of their parameter. */
const subTypes: Readonly<Record<string, string>> = {
  URL: 'url',
  OTP: 'url',
  COPY_CODE: 'copy_code',
  QUICK_REPLY: 'quick_reply',
  FLOW: 'flow',
  CATALOG: 'catalog',
  MPM: 'mpm',
  VOICE_CALL: 'voice_call',
  ORDER_DETAILS: 'order_details',
};

/** Checks button components against the template's buttons; throws the provider's error for the first fault. */
export function validateButtons(
  buttons: readonly CompiledButton[],
  { given, place, codeLength }: GivenButtons,
): void {
  const filled = new Set<number>();
  for (const component of given) {
    const index = Number(component['index'] ?? 0);
    const button = buttons[index];
    const subType = textOf(component['sub_type']).toLowerCase();
    if (subType === 'phone_number') throw new GraphError(100, `${place}buttons: sub_type is not valid`);
    if (!button)
      throw new GraphError(131009, `${place}buttons: no button at index ${String(component['index'])}`);
    if (filled.has(index)) throw new GraphError(100, `${place}buttons: index ${index} is used twice`);
    if (subTypes[button.type] !== subType) {
      throw new GraphError(
        132012,
        `${place}buttons: Button at index ${index} is ${button.type}, not ${subType}`,
      );
    }
    filled.add(index);
    const [parameter] = listOf(component['parameters']).map(objectOf);
    validateValue(button, { parameter, codeLength, where: `${place}buttons: Button at index ${index}` });
  }
  const missing = buttons.findIndex((button, index) => button.takesValue && !filled.has(index));
  if (missing >= 0) {
    const type = titleCase(buttons[missing]?.type ?? '');
    throw new GraphError(
      131008,
      `${place}buttons: Button at index ${missing} of type ${type} requires a parameter`,
    );
  }
}

function validateUrl(button: CompiledButton, text: string, where: string): void {
  if (button.type === 'OTP' && charactersOf(text) > maxCodeLength)
    throw new GraphError(131009, `${where}: code longer than ${maxCodeLength}`);
  if (button.staticLength + charactersOf(text) > maxUrlLength)
    throw new GraphError(131009, `${where}: URL longer than ${maxUrlLength}`);
}

interface GivenValue {
  readonly parameter: JsonObject | undefined;
  readonly codeLength: number;
  readonly where: string;
}

function validateValue(button: CompiledButton, { parameter, codeLength, where }: GivenValue): void {
  switch (button.type) {
    case 'URL':
    case 'OTP':
      if (!button.takesValue) throw new GraphError(132000, `${where} of type Url takes no parameter`);
      validateUrl(
        button,
        requireText(parameter?.['text'], `${where} of type Url requires a parameter`),
        where,
      );
      return;
    case 'COPY_CODE': {
      const code = requireText(parameter?.['coupon_code'], `${where} of type CopyCode requires a parameter`);
      if (charactersOf(code) > codeLength)
        throw new GraphError(131009, `${where}: coupon code longer than ${codeLength}`);
      if (!/^[A-Za-z0-9]+$/.test(code))
        throw new GraphError(131009, `${where}: coupon code is not alphanumeric`);
      return;
    }
    case 'QUICK_REPLY':
      requireText(parameter?.['payload'], `${where} of type QuickReply requires a payload`);
      return;
    case 'MPM': {
      const sections = listOf(objectOf(parameter?.['action'])['sections']).map(objectOf);
      const products = sections.flatMap((section) => listOf(section['product_items']));
      if (products.length === 0 || products.length > 30 || sections.length > 10) {
        throw new GraphError(131009, `${where}: 1 to 10 sections with 1 to 30 products in all are required`);
      }
      if (sections.some((section) => charactersOf(textOf(section['title'])) > maxTitleLength))
        throw new GraphError(131009, `${where}: section title longer than ${maxTitleLength}`);
      return;
    }
    default:
  }
}

function requireText(value: unknown, problem: string): string {
  if (typeof value !== 'string' || value === '') throw new GraphError(131008, problem);
  return value;
}

function titleCase(type: string): string {
  return type
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
