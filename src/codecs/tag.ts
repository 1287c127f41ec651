/** Tags on the wire (Spec 2.2). */
import * as t from 'io-ts';
import { named } from './json-schema.ts';
import { HexColour, textOf, Uuid } from './scalars.ts';
import { notBlank, optional, struct } from './struct.ts';

export const Tag = named(
  'Tag',
  struct({
    tagId: Uuid,
    name: t.string,
    text_color: HexColour,
    background_color: HexColour,
  }),
);

const TagName = notBlank(textOf({ min: 1, max: 255 }));

/** `createdBy` is the id of a user; it defaults to the id of the API key. */
export const CreateTag = struct(
  { name: TagName },
  { text_color: HexColour, background_color: HexColour, createdBy: textOf({ min: 1, max: 255 }) },
);

export const UpdateTag = optional({ name: TagName, text_color: HexColour, background_color: HexColour });
