/**
 * Returns undefined for a text that is no absolute URL. `URL.canParse` of Node 20 refuses Latin letters with accents once it has
 * been called often enough to be compiled.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
