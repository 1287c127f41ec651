/** Files for the headers of messages, handed to the provider. */
import * as t from 'io-ts';
import { named } from '../codecs/json-schema.ts';
import { Integer } from '../codecs/scalars.ts';
import { struct } from '../codecs/struct.ts';
import { maxMediaBytes, uploadMedia } from '../commands/messages/upload-media.ts';
import { channelNeeded } from '../domain/error.ts';
import { endpoint } from './frame/endpoint.ts';
import { ErrorEnvelope, record, succeed } from './frame/envelope.ts';

const Media = named('Media', struct({ id: t.string, mime_type: t.string, size: Integer }));

export const uploadMediaFile = endpoint(
  {
    method: 'POST',
    path: '/api/media',
    operationId: 'uploadMedia',
    summary: 'Upload a media file for a header',
    description:
      'Send the file as field `file` of a multipart form: images (JPEG, PNG) up to 5 MiB, videos (MP4, 3GPP) up to 16 MiB, documents (PDF, text, Office) up to 100 MiB, told apart by the part’s Content-Type. The provider keeps it for 30 days. Use the returned `id` in a header instead of `link`.',
    tag: 'Messages',
    access: 'channel',
    body: 'multipart',
    bodySchema: {
      type: 'object',
      required: ['file'],
      properties: { file: { type: 'string', format: 'binary', description: 'The file, up to 100 MiB.' } },
    },
    responses: {
      201: {
        description: 'Uploaded',
        body: record(Media),
        example: {
          status: 'success',
          data: { id: '2871834006348767', mime_type: 'image/png', size: 51234 },
        },
      },
      502: { description: 'The provider cannot be reached, or did not answer in time', body: ErrorEnvelope },
    },
  },
  async ({ dependencies, principal: { workspaceId, channelId }, body }) => {
    if (channelId === null) throw channelNeeded();
    const { id, mimeType, size } = await body({ field: 'file', maxBytes: maxMediaBytes }, (content, type) =>
      uploadMedia(dependencies, { workspaceId, channelId, mimeType: type, content }),
    );
    return { status: 201, body: succeed({ id, mime_type: mimeType, size }) };
  },
);
