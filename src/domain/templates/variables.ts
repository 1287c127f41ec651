import type { ButtonDefinition, HeaderDefinition, TemplateDefinition } from './definition.ts';

/** Spec 2.3: the names of the variables each section requires, in the order single sends give them. */
export interface TemplateVariables {
  readonly header: readonly string[];
  readonly body: readonly string[];
  readonly buttons: readonly string[];
}

export const locationKeys = ['latitude', 'longitude', 'name', 'address'] as const;
export const productKeys = ['product_retailer_id', 'catalog_id'] as const;

const headerVariables = (header: HeaderDefinition | undefined): readonly string[] => {
  if (header === undefined) return [];
  switch (header.kind) {
    case 'unsupported':
      return [];
    case 'text':
      return header.variables;
    case 'location':
      return locationKeys;
    case 'product':
      return productKeys;
    default:
      return [header.kind];
  }
};

const buttonVariables = (button: ButtonDefinition): readonly string[] => {
  switch (button.kind) {
    case 'url':
      return button.dynamic ? ['1'] : [];
    case 'copy_code':
      return ['coupon_code'];
    case 'otp':
      return ['otp'];
    case 'mpm':
      return ['sections'];
    default:
      return [];
  }
};

/** Required values only: a quick reply's payload, a flow token or a thumbnail may be left out when sending. */
export const templateVariables = (definition: TemplateDefinition): TemplateVariables => ({
  header: headerVariables(definition.header),
  body: definition.body?.variables ?? [],
  buttons: definition.buttons.flatMap(buttonVariables),
});
