/** Headers of answers, as the document tells of them. */
import type { JsonSchema } from '../../../codecs/json-schema.ts';

export const errorHeaders: Readonly<Record<number, JsonSchema>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' }, description: 'Names the header of the key' } },
  429: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds' } },
};

/** Of what may be read from a standby. */
export const dataAge = {
  'X-Data-Age': {
    schema: { type: 'number' },
    description: 'Only of an answer from a standby: the seconds in which something may have changed since',
  },
};
