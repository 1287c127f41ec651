import { isRecord, listOf, own } from './json.ts';
import type { Report } from './slot-reader.ts';

/** The provider's limits for a multi-product message. */
const maxSections = 10;
const maxProducts = 30;

export interface ProductSection {
  readonly title: string;
  readonly product_items: readonly { readonly product_retailer_id: string }[];
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const readItems = (section: unknown, path: string, report: Report): ProductSection['product_items'] => {
  const items = listOf(own(section, 'product_items'));
  if (items.length === 0) report(`${path}.product_items`, 'must list at least one product');
  return items.map((item, at) => {
    const id = own(item, 'product_retailer_id');
    if (isFilled(id)) return { product_retailer_id: id };
    report(`${path}.product_items.${at}.product_retailer_id`, 'must be a text that is not empty');
    return { product_retailer_id: '' };
  });
};

const readSection = (section: unknown, path: string, report: Report): ProductSection => {
  const title = own(section, 'title');
  if (!isRecord(section)) report(path, 'must be an object');
  else if (!isFilled(title)) report(`${path}.title`, 'must be a text that is not empty');
  return { title: isFilled(title) ? title : '', product_items: readItems(section, path, report) };
};

/** The sections of a multi-product button, without keys the provider does not know. */
export const readSections = (given: unknown, path: string, report: Report): readonly ProductSection[] => {
  if (given === undefined) {
    report(path, 'is required');
    return [];
  }
  if (!Array.isArray(given) || given.length === 0 || given.length > maxSections) {
    report(path, `must be an array of 1 to ${maxSections} sections`);
    return [];
  }
  const sections = given.map((section: unknown, at) => readSection(section, `${path}.${at}`, report));
  const products = sections.reduce((count, section) => count + section.product_items.length, 0);
  if (products > maxProducts) report(path, `must have at most ${maxProducts} products`);
  return sections;
};
