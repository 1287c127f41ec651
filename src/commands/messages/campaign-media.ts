/**
 * The files behind a campaign's constant media links: checked and uploaded before anybody is written to, and sent by the
 * provider's id, because the provider fetches links for all of its customers and fails when the host limits it.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Dependencies } from '../../dependencies.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import { type MediaKind } from '../../domain/templates/definition.ts';
import { mediaRules, mediaTypeOf } from '../../domain/templates/media.ts';
import {
  type MediaLink,
  mediaLinks,
  type MessagePlan,
  type PlannedMedia,
  withMediaIds,
} from '../../domain/templates/plan.ts';
import { ProviderRequestError } from '../../provider/provider.ts';
import { findProviderMedia, saveProviderMedia } from '../../records/templates/provider-media.ts';
import { type Channel } from '../../records/workspaces/channels.ts';
import { FileTemporarilyUnavailable, newCampaignFileKey } from '../audience/campaign-file.ts';

type Fetcher = Pick<Dependencies, 'outbound'>;
type Uploader = Fetcher & Pick<Dependencies, 'database' | 'provider' | 'secrets' | 'storage' | 'logger'>;
type Sender = Pick<Channel, 'id' | 'phoneNumberId' | 'accessTokenEncrypted'>;

const headTimeoutMs = 10_000;
const totalTimeoutMs = 60_000;

const codes = {
  FILE_FETCH_REFUSED: 'MEDIA_UNREACHABLE',
  FILE_NOT_FOUND: 'MEDIA_UNREACHABLE',
  FILE_TOO_LARGE: 'MEDIA_TOO_LARGE',
} as const;

type FetchError = Extract<
  Awaited<ReturnType<Dependencies['outbound']['fetchFile']>>,
  { readonly ok: false }
>['error'];

const isFetchError = (error: unknown): error is FetchError =>
  error instanceof Error && 'code' in error && 'isTemporary' in error;

const nameOf: Readonly<Record<MediaKind, string>> = {
  image: 'an image',
  video: 'a video',
  gif: 'a GIF',
  document: 'a document',
};

function failureOf({ field, kind }: MediaLink, { code, message, isTemporary }: FetchError): Error {
  const { maxBytes } = mediaRules[kind];
  const words =
    code === 'FILE_TOO_LARGE'
      ? `The file of ${field} is larger than ${maxBytes} bytes, the limit for ${nameOf[kind]}`
      : `${field} cannot be fetched: ${message}`;
  const failure = new PreparationFailure(codes[code], words);
  return isTemporary ? new FileTemporarilyUnavailable(failure) : failure;
}

interface FetchedMedia {
  readonly type: string;
  readonly content: AsyncIterable<Buffer>;
}

/** Throws PreparationFailure or FileTemporarilyUnavailable, as reading the content does. */
async function fetchMedia({ outbound }: Fetcher, media: MediaLink): Promise<FetchedMedia> {
  const { link, kind, field } = media;
  const rule = mediaRules[kind];
  const fetched = await outbound.fetchFile(link, {
    maxBytes: rule.maxBytes,
    headTimeoutMs,
    totalTimeoutMs,
  });
  if (!fetched.ok) throw failureOf(media, fetched.error);
  const type = mediaTypeOf(kind, fetched.contentType, link);
  if (!Object.hasOwn(rule.types, type)) {
    fetched.stream.destroy();
    const types = Object.keys(rule.types).join(', ');
    const message = `The file of ${field} is ${type}; ${nameOf[kind]} must be one of ${types}`;
    throw new PreparationFailure('MEDIA_TYPE', message);
  }
  return { type, content: contentOf(media, fetched.stream) };
}

async function* contentOf(media: MediaLink, stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw isFetchError(error) ? failureOf(media, error) : error;
  }
}

/** Fetches every constant link of the plan, and keeps nothing. Throws as `fetchMedia` does. */
export async function checkCampaignMedia(dependencies: Fetcher, plan: MessagePlan): Promise<void> {
  for (const media of mediaLinks(plan)) {
    const { content } = await fetchMedia(dependencies, media);
    for await (const _ of content) continue;
  }
}

/**
 * Fetches the file, and uploads it unless the channel has it already. Undefined if the provider refuses the upload: the link
 * is sent then. Throws as `fetchMedia` does, and ProviderRequestError if the provider cannot be reached.
 */
async function uploadLink(
  dependencies: Uploader,
  channel: Sender,
  media: MediaLink,
): Promise<PlannedMedia | undefined> {
  const { database, storage, provider, secrets, logger } = dependencies;
  const { type, content } = await fetchMedia(dependencies, media);
  const hash = createHash('sha256');
  // Spooled, because the provider wants to know the length; the hourly cleanup removes what a killed process leaves behind.
  const key = newCampaignFileKey();
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const size = await storage.write(key, Readable.from(hashed(), { objectMode: false }));
  try {
    const uploaded = { link: media.link, sha256: hash.digest('hex'), type };
    const known = await findProviderMedia(database, channel.id, [uploaded]);
    if (known.some((found) => found.type === type)) return uploaded;
    const stored = await storage.read(key);
    if (stored === undefined) throw new Error('The spooled file is gone');
    const id = await provider.uploadMedia({
      phoneNumberId: channel.phoneNumberId,
      accessToken: secrets.decrypt(channel.accessTokenEncrypted, `channel ${channel.id}`),
      mimeType: type,
      fileName: `file.${mediaRules[media.kind].types[type] ?? 'bin'}`,
      size,
      content: stored as AsyncIterable<Buffer>,
    });
    await saveProviderMedia(database, channel.id, { ...uploaded, id });
    return uploaded;
  } catch (error) {
    if (!(error instanceof ProviderRequestError) || error.failure.kind !== 'rejected') throw error;
    logger.warn({ channelId: channel.id, code: error.failure.code }, 'the provider refuses a media file');
    return undefined;
  } finally {
    await storage.delete(key);
  }
}

/** Uploads the files of the plan's constant links, one after the other. Throws as `uploadLink` does. */
export async function uploadCampaignMedia(
  dependencies: Uploader,
  channel: Sender,
  links: readonly MediaLink[],
): Promise<readonly PlannedMedia[]> {
  const uploaded: PlannedMedia[] = [];
  for (const media of links) {
    const planned = await uploadLink(dependencies, channel, media);
    if (planned !== undefined) uploaded.push(planned);
  }
  return uploaded;
}

/**
 * The plan with the provider's ids in place of the links. Files whose ids are too old are uploaded again; if that fails, the
 * link is sent.
 */
export async function planWithMedia(
  dependencies: Uploader,
  channel: Sender,
  plan: MessagePlan | null,
): Promise<MessagePlan | null> {
  const media = plan?.media ?? [];
  if (plan === null || media.length === 0) return plan;
  const idsOf = async (): Promise<ReadonlyMap<string, string>> => {
    const found = await findProviderMedia(dependencies.database, channel.id, media);
    const byContent = new Map(found.map(({ sha256, type, id }) => [`${sha256} ${type}`, id]));
    return new Map(
      media.flatMap(({ link, sha256, type }) => {
        const id = byContent.get(`${sha256} ${type}`);
        return id === undefined ? [] : [[link, id] as const];
      }),
    );
  };
  let ids = await idsOf();
  const expired = mediaLinks(plan).filter(
    ({ link }) => !ids.has(link) && media.some((planned) => planned.link === link),
  );
  if (expired.length > 0) {
    try {
      const renewed = await uploadCampaignMedia(dependencies, channel, expired);
      const fresh = renewed.filter(({ link, sha256 }) =>
        media.some((planned) => planned.link === link && planned.sha256 === sha256),
      );
      if (fresh.length > 0) ids = await idsOf();
    } catch (error) {
      dependencies.logger.warn(
        { channelId: channel.id, error: (error as Error).name },
        'media could not be uploaded again: links are sent',
      );
    }
  }
  return withMediaIds(plan, ids);
}
