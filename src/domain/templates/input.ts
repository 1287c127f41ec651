import { readTemplateValues } from './reader.ts';
import {
  isTidied,
  normaliseSlot,
  type Report,
  slotProblem,
  type SlotReader,
  type SlotRequest,
  type SlotRule,
} from './slot.ts';
import { textLimits, tooLong } from './text-limits.ts';
import { locationKeys, productKeys, templateVariables } from './variables.ts';
import { refusedWhitespace } from './variable-mapping-text.ts';
import { addProblem, type FieldProblem } from '../error.ts';
import type { TemplateDefinition } from './definition.ts';
import type { TemplateValues } from './values.ts';

export type TemplateInput =
  | { readonly ok: true; readonly values: TemplateValues }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

const textProblem = (rule: SlotRule, text: string): string | undefined => {
  if (rule.kind !== 'plain' && isTidied(rule) && refusedWhitespace.test(text)) {
    return 'must not contain line breaks, tabs or more than 3 spaces in a row';
  }
  const sent = normaliseSlot(rule, text);
  return sent.trim() === '' ? 'must not be empty' : slotProblem(rule, sent);
};

const requestProblem = ({ value, rule }: SlotRequest): string | undefined => {
  if (value === undefined) return 'is required';
  if (typeof value !== 'string') return 'must be a string';
  return textProblem(rule, value);
};

const literalReader = (report: Report): SlotReader<string> => ({
  report,
  nested: ({ value }) => value,
  slot: (request) => {
    const value = request.value ?? request.fallback;
    const problem = requestProblem({ ...request, value });
    if (problem !== undefined) report(request.path, problem);
    return typeof value === 'string' ? normaliseSlot(request.rule, value) : '';
  },
});

interface ReadOptions {
  readonly mapping: unknown;
  readonly now: Date;
  /** The field a path of the mapping is reported under. */
  readonly fieldOf: (path: string) => string;
}

const readInput = (definition: TemplateDefinition, { mapping, now, fieldOf }: ReadOptions): TemplateInput => {
  const problems: FieldProblem[] = [];
  const report: Report = (path, message) => {
    const field = fieldOf(path);
    addProblem(problems, { field, message: `${field} ${message}` });
  };
  const values = readTemplateValues({ definition, mapping, reader: literalReader(report), now });
  for (const limit of textLimits(definition, values).strict)
    if (limit.fixed > limit.max) report(limit.part, tooLong(limit));
  return problems.length === 0 ? { ok: true, values } : { ok: false, problems };
};

interface MappingOptions {
  readonly now: Date;
  /** The request's field, for the paths of problems; `variableMapping` when absent. */
  readonly field?: string;
}

/** Spec 4.5: the values of one message from its `variableMapping`; values are literal texts. */
export const valuesFromMapping = (
  definition: TemplateDefinition,
  variableMapping: unknown,
  { now, field = 'variableMapping' }: MappingOptions,
): TemplateInput =>
  readInput(definition, { mapping: variableMapping, now, fieldOf: (path) => `${field}.${path}` });

/** Template parts that a list of texts cannot fill. */
const inexpressible = (definition: TemplateDefinition): string | undefined => {
  if (definition.carousel !== undefined) return 'its carousel cards';
  if (definition.offerExpires) return "its offer's expiry";
  return definition.buttons.some((button) => button.kind === 'mpm') ? 'its product sections' : undefined;
};

/** The path of each template variable in a mapping, in the order header, body, buttons. */
const variablePaths = (definition: TemplateDefinition): readonly string[] => {
  const { header, body } = templateVariables(definition);
  const headerKeys = (): readonly string[] => {
    if (definition.header === undefined) return [];
    switch (definition.header.kind) {
      case 'text':
        return header;
      case 'location':
        return locationKeys;
      case 'product':
        return productKeys.map((key) => `product.${key}`);
      default:
        return header.map(() => 'link');
    }
  };
  const buttons = definition.buttons.filter(
    (button) =>
      button.kind === 'otp' || button.kind === 'copy_code' || (button.kind === 'url' && button.dynamic),
  );
  return [
    ...headerKeys().map((key) => `header.${key}`),
    ...body.map((name) => `body.${name}`),
    ...buttons.map((button) => `buttons.${button.index}`),
  ];
};

const mappingOf = (paths: readonly string[], variables: readonly string[]): unknown => {
  const section = (prefix: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      paths.flatMap((path, at) =>
        path.startsWith(prefix) ? [[path.slice(prefix.length), variables[at] ?? ''] as const] : [],
      ),
    );
  const product = section('header.product.');
  return {
    header: { ...section('header.'), ...(Object.keys(product).length > 0 && { product }) },
    body: section('body.'),
    buttons: section('buttons.'),
  };
};

/** Spec 4.5: the values of one message from its `variables`, in the order header, body, buttons. */
export const valuesFromVariables = (
  definition: TemplateDefinition,
  variables: readonly string[],
  { now }: { readonly now: Date },
): TemplateInput => {
  const beyond = inexpressible(definition);
  if (beyond !== undefined) {
    const message = `This template needs variableMapping: ${beyond} cannot be given in variables`;
    return { ok: false, problems: [{ field: 'variableMapping', message }] };
  }
  const paths = variablePaths(definition);
  if (variables.length !== paths.length) {
    const message = `variables must have exactly ${paths.length} values for this template, not ${variables.length}`;
    return { ok: false, problems: [{ field: 'variables', message }] };
  }
  const fieldOf = (path: string): string => {
    const exact = paths.indexOf(path);
    if (exact !== -1) return `variables.${exact}`;
    // A text that is too long: the longest of its values is named.
    const inside = [...paths.keys()].filter(
      (at) => paths[at]?.startsWith(`${path}.`) === true || path.startsWith(`${paths[at]}.`),
    );
    const [longest] = inside.toSorted(
      (one, other) => (variables[other]?.length ?? 0) - (variables[one]?.length ?? 0),
    );
    return longest === undefined ? 'variables' : `variables.${longest}`;
  };
  return readInput(definition, { mapping: mappingOf(paths, variables), now, fieldOf });
};
