/** Values that a slot of a template accepts. */
export type SlotRule =
  | { readonly kind: 'text' }
  | { readonly kind: 'plain' }
  | { readonly kind: 'link' }
  | { readonly kind: 'coordinate'; readonly limit: number }
  | { readonly kind: 'coupon_code'; readonly maxLength: number }
  | { readonly kind: 'url_suffix'; readonly prefix: string; readonly suffix: string };

export const textSlot: SlotRule = { kind: 'text' };
export const plainSlot: SlotRule = { kind: 'plain' };

/** Characters as the provider counts them: code points. */
export const lengthOf = (text: string): number => Array.from(text).length;

const isWebLink = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

const isCoordinate = (text: string, limit: number): boolean =>
  /^[+-]?\d+(\.\d+)?$/.test(text) && Math.abs(Number(text)) <= limit;

/** Describes the problem of a non-empty value as the end of a sentence; undefined when it has none. */
export const slotProblem = (rule: SlotRule, text: string): string | undefined => {
  switch (rule.kind) {
    case 'link':
      return isWebLink(text) ? undefined : 'must be an http or https URL';
    case 'coordinate':
      return isCoordinate(text, rule.limit)
        ? undefined
        : `must be decimal degrees between -${rule.limit} and ${rule.limit}`;
    case 'coupon_code':
      return lengthOf(text) <= rule.maxLength ? undefined : `must have at most ${rule.maxLength} characters`;
    default:
      return undefined;
  }
};

/** A URL button takes only the part that replaces its variable: the static parts of a full URL are taken away. */
export const normaliseSlot = (rule: SlotRule, text: string): string => {
  if (rule.kind !== 'url_suffix' || rule.prefix === '' || !text.startsWith(rule.prefix)) return text;
  const rest = text.slice(rule.prefix.length);
  return rule.suffix !== '' && rest.endsWith(rule.suffix) ? rest.slice(0, -rule.suffix.length) : rest;
};
