/** Streams a file for a message's header to the provider; nothing is stored here. */
import type { Readable } from 'node:stream';
import type { Dependencies } from '../../dependencies.ts';
import { FileTooLarge, Invalid } from '../../domain/error.ts';
import { callerError, ProviderRequestError } from '../../provider/provider.ts';
import { getChannel } from '../../records/workspaces/channels.ts';

const mib = 1024 * 1024;
const office = 'application/vnd.openxmlformats-officedocument';
const kinds = [
  { bytes: 5 * mib, types: ['image/jpeg', 'image/png'] },
  { bytes: 16 * mib, types: ['video/mp4', 'video/3gpp'] },
  {
    bytes: 100 * mib,
    types: [
      'application/pdf',
      'text/plain',
      'application/msword',
      'application/vnd.ms-excel',
      'application/vnd.ms-powerpoint',
      `${office}.wordprocessingml.document`,
      `${office}.spreadsheetml.sheet`,
      `${office}.presentationml.presentation`,
    ],
  },
];
/** The limit for the largest kind of media. */
export const maxMediaBytes = 100 * mib;

export interface MediaUpload {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly mimeType: string;
  readonly content: Readable;
}

export interface UploadedMedia {
  /** The provider's id of the file. */
  readonly id: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
}

/** Throws Invalid for a type that no header accepts, FileTooLarge, ProviderRefused or ProviderUnreachable. */
export async function uploadMedia(
  { database, provider, secrets }: Pick<Dependencies, 'database' | 'provider' | 'secrets'>,
  { workspaceId, channelId, mimeType, content }: MediaUpload,
): Promise<UploadedMedia> {
  const kind = kinds.find(({ types }) => types.includes(mimeType));
  if (kind === undefined) {
    const known = kinds.flatMap(({ types }) => types).join(', ');
    throw Invalid.at('file', `file must be of one of the types ${known}`);
  }
  const channel = await getChannel(database, workspaceId, channelId);
  let size = 0;
  let broken: Error | undefined;
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of content) {
        size += (chunk as Buffer).length;
        if (size > (kind?.bytes ?? 0)) throw new FileTooLarge(mimeType, kind?.bytes ?? 0);
        yield chunk as Buffer;
      }
    } catch (error) {
      broken = error as Error;
      throw error;
    }
  }
  try {
    const id = await provider.uploadMedia({
      phoneNumberId: channel.phoneNumberId,
      accessToken: secrets.decrypt(channel.accessTokenEncrypted, `channel ${channel.id}`),
      mimeType,
      content: counted(),
    });
    return { id, mimeType, size };
  } catch (error) {
    if (broken !== undefined) throw broken;
    throw error instanceof ProviderRequestError ? callerError(error) : error;
  }
}
