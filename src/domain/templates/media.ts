/** The files that the provider takes for the header of a message. */
import type { MediaKind } from './definition.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const office = 'application/vnd.openxmlformats-officedocument';

interface MediaRule {
  readonly maxBytes: number;
  /** File name extensions by media type. */
  readonly types: Readonly<Record<string, string>>;
}

const videos = { 'video/mp4': 'mp4', 'video/3gpp': '3gp' };

const documents = {
  'application/pdf': 'pdf',
  'text/plain': 'txt',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  [`${office}.wordprocessingml.document`]: 'docx',
  [`${office}.spreadsheetml.sheet`]: 'xlsx',
  [`${office}.presentationml.presentation`]: 'pptx',
};

export const mediaRules: Readonly<Record<MediaKind, MediaRule>> = {
  image: { maxBytes: 5 * mebibyte, types: { 'image/jpeg': 'jpg', 'image/png': 'png' } },
  video: { maxBytes: 16 * mebibyte, types: videos },
  gif: { maxBytes: 3_584 * kibibyte, types: { 'video/mp4': 'mp4' } },
  document: { maxBytes: 100 * mebibyte, types: documents },
};

/** The limit for the largest kind of media. */
export const maxMediaBytes = 100 * mebibyte;

/** The rule for files of a type, whatever header they are for; undefined for a type that no header takes. */
export const ruleOfType = (type: string): (MediaRule & { readonly extension: string }) | undefined => {
  for (const kind of ['image', 'video', 'document'] as const) {
    const rule = mediaRules[kind];
    const extension = Object.hasOwn(rule.types, type) ? rule.types[type] : undefined;
    if (extension !== undefined) return { ...rule, extension };
  }
  return undefined;
};

/** A server that does not know the type of its files says this, or nothing. */
const unknownTypes: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

/** The media type of a file from its header, or from the extension in its link if the server does not know it. */
export const mediaTypeOf = (kind: MediaKind, contentType: string, link: string): string => {
  const [type = ''] = contentType.toLowerCase().split(';');
  if (!unknownTypes.has(type.trim())) return type.trim() === 'image/jpg' ? 'image/jpeg' : type.trim();
  const extension = new URL(link).pathname.split('.').at(-1)?.toLowerCase().replace('jpeg', 'jpg');
  const known = Object.entries(mediaRules[kind].types).find(([, ending]) => ending === extension);
  return known?.[0] ?? (type.trim() || 'no type');
};
