/**
 * Returns every value of a header from the raw headers: Node keeps only one of repeated headers, or joins them. `name` is in
 * lower case. Makes no copy of the names, because it is called several times per request.
 */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [given = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (given.length === name.length && given.toLowerCase() === name) values.push(value);
  }
  return values;
}
