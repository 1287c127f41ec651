/**
 * Every value sent under a name in lower case, from the raw headers: of what is sent twice Node keeps one, or joins them.
 * No copy is made of the names: this is asked several times a request.
 */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [given = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (given.length === name.length && given.toLowerCase() === name) values.push(value);
  }
  return values;
}
