/** Hands a file for a message's header to the provider; it is stored only until then, because the provider wants its length. */
import { Readable } from 'node:stream';
import type { Dependencies } from '../../dependencies.ts';
import { FileTooLarge, Invalid } from '../../domain/error.ts';
import { ruleOfType, mediaRules } from '../../domain/templates/media.ts';
import { callerError, ProviderRequestError } from '../../provider/provider.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { newCampaignFileKey } from '../audience/campaign-file.ts';

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
  {
    database,
    provider,
    secrets,
    storage,
  }: Pick<Dependencies, 'database' | 'provider' | 'secrets' | 'storage'>,
  { workspaceId, channelId, mimeType, content }: MediaUpload,
): Promise<UploadedMedia> {
  const rule = ruleOfType(mimeType);
  if (rule === undefined) {
    const known = (['image', 'video', 'document'] as const).flatMap((kind) =>
      Object.keys(mediaRules[kind].types),
    );
    throw Invalid.at('file', `file must be of one of the types ${known.join(', ')}`);
  }
  const channel = await getChannel(database, workspaceId, channelId);
  let size = 0;
  let broken: Error | undefined;
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of content) {
        size += (chunk as Buffer).length;
        if (size > (rule?.maxBytes ?? 0)) throw new FileTooLarge(mimeType, rule?.maxBytes ?? 0);
        yield chunk as Buffer;
      }
    } catch (error) {
      broken = error as Error;
      throw error;
    }
  }
  const key = newCampaignFileKey();
  try {
    await storage.write(key, Readable.from(counted(), { objectMode: false })).catch((error: unknown) => {
      throw broken ?? error;
    });
    const stored = await storage.read(key);
    if (stored === undefined) throw new Error('The spooled file is gone');
    const id = await provider.uploadMedia({
      phoneNumberId: channel.phoneNumberId,
      accessToken: secrets.decrypt(channel.accessTokenEncrypted, `channel ${channel.id}`),
      mimeType,
      fileName: `file.${rule.extension}`,
      size,
      content: stored as AsyncIterable<Buffer>,
    });
    return { id, mimeType, size };
  } catch (error) {
    throw error instanceof ProviderRequestError ? callerError(error) : error;
  } finally {
    await storage.delete(key);
  }
}
