/** Extracts the readable text of a message that a contact or an agent wrote. */

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The path of the text in the provider's message, by its type. */
const paths: readonly (readonly string[])[] = [
  ['text', 'body'],
  ['button', 'text'],
  ['interactive', 'button_reply', 'title'],
  ['interactive', 'list_reply', 'title'],
  ['image', 'caption'],
  ['video', 'caption'],
  ['document', 'caption'],
  ['document', 'filename'],
  ['reaction', 'emoji'],
  ['location', 'name'],
];

/** `content` is the provider's message as JSON; null for a message without a text, such as an image without a caption. */
export function messageText(content: string | null): string | null {
  if (content === null) return null;
  const message: unknown = JSON.parse(content);
  const texts = paths.map((path) =>
    path.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), message),
  );
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? null;
}
