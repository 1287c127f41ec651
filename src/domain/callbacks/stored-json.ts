/** Builds the JSON text to store for an element of a callback: at most 64 KiB, whatever the provider sends. */

type Json = Readonly<Record<string, unknown>>;

const mostBytes = 65_536;
const longestText = 4_096;
const mostLevels = 16;

/** Fields that readers of a stored element need; they are kept before all others. */
const neededFields = [
  'id',
  'from',
  'type',
  'status',
  'timestamp',
  'recipient_id',
  'recipient_user_id',
  'biz_opaque_callback_data',
  'pricing',
  'errors',
  'text',
  'button',
  'interactive',
];

/**
 * `fields` replace those of the element. An element over the limit keeps the fields that readers need and as many others as
 * fit. Its texts are cut to 4,096 characters, and it is marked with `too_large`.
 */
export function storedJson(raw: unknown, fields: Json): string {
  const element = { ...(raw as Json), ...fields };
  const text = JSON.stringify(element);
  if (Buffer.byteLength(text) <= mostBytes) return text;
  const needed = neededFields.flatMap((name) =>
    Object.hasOwn(element, name) ? [[name, element[name]]] : [],
  );
  const ordered: Json = { too_large: true, ...Object.fromEntries(needed), ...element };
  return JSON.stringify(createShortener()(ordered, mostLevels));
}

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Copies values until the byte limit is reached and leaves out the rest. */
function createShortener(): (value: unknown, levels: number) => unknown {
  let left = mostBytes;
  const take = (bytes: number): boolean => {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  const shorten = (value: unknown, levels: number): unknown => {
    if (typeof value === 'string') {
      const cut = value.slice(0, longestText).toWellFormed();
      return take(bytesOf(cut) + 1) ? cut : undefined;
    }
    // No number or literal takes more bytes than this.
    if (typeof value !== 'object' || value === null) return take(32) ? value : undefined;
    if (levels === 0 || !take(3)) return undefined;
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) {
        const kept = shorten(item, levels - 1);
        if (kept === undefined) break;
        items.push(kept);
      }
      return items;
    }
    const fields: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      if (left <= 0) break;
      if (name.length > longestText || name === '__proto__' || !take(bytesOf(name) + 1)) continue;
      const kept = shorten(inner, levels - 1);
      if (kept !== undefined) fields[name] = kept;
    }
    return fields;
  };
  return shorten;
}
