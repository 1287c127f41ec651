/** Requests about contacts (Spec 2.5). Responses contain a contact in the form of events, `EventContact`. */
import * as t from 'io-ts';
import { consents } from '../domain/contacts/consent.ts';
import { maxCustomFields } from '../domain/contacts/contact.ts';
import { listOf } from './collections.ts';
import { describe, named } from './json-schema.ts';
import { cursorOf, HexColour, integerOf, IsoDateTime, textOf, Uuid } from './scalars.ts';
import { notBlank, nullish, oneOf, optional, refined, struct } from './struct.ts';

const Name = textOf({ max: 255 });

const Email = refined(
  textOf({ max: 320 }),
  (value) => value === '' || /^[^\s@]+@[^\s@]+$/.test(value),
  'email must be an e-mail address',
  {},
);

const DateOfBirth = refined(
  IsoDateTime,
  (date) => date.getUTCFullYear() >= 1000 && date.getUTCFullYear() <= 9999,
  'dob must lie in the years 1000 to 9999',
  {},
);

/** Refuses `__proto__`: assigning to it sets an object's prototype, so the field would be lost when the contact is read. */
const FieldId = refined(
  textOf({ min: 1, max: 255 }),
  (fieldId) => fieldId !== '__proto__',
  (field) => `${field} must not be __proto__`,
  {},
);

const CustomFields = refined(
  listOf(named('CustomFieldValue', struct({ fieldId: FieldId, value: textOf({ max: 5000 }) }))),
  (fields) =>
    fields.length <= maxCustomFields && new Set(fields.map(({ fieldId }) => fieldId)).size === fields.length,
  `customFields must hold at most ${maxCustomFields} fields, each once`,
  { maxItems: maxCustomFields },
);

const TagIds = refined(listOf(t.string), (ids) => ids.length <= 1000, 'tagsId must hold at most 1000 tags', {
  maxItems: 1000,
});

const PhoneNumber = describe(textOf({ min: 1, max: 255 }), {
  description: 'Phone number in any spelling: national digits, or international with `+`.',
});
const CallingCode = describe(textOf({ min: 1, max: 5 }), {
  description: 'Country calling code, with or without `+`; may be omitted if the number begins with `+`.',
});

const fields = {
  countryCode: CallingCode,
  firstName: Name,
  lastName: Name,
  chatName: Name,
  email: Email,
  subscribed: t.boolean,
  consent: oneOf(consents, 'ContactConsent'),
  customFields: CustomFields,
  tagsId: TagIds,
  dob: nullish(DateOfBirth),
};

export const CreateContact = struct({ phoneNumber: PhoneNumber }, fields);

/** Absent fields stay; `tagsId` and `customFields` replace the whole list. */
export const UpdateContact = optional({ phoneNumber: PhoneNumber, ...fields });

/** `way` is the index of the column by which a search found the contact; only cursors of a search have it. */
export const ContactCursor = cursorOf(struct({ id: Uuid }, { way: integerOf({ min: 0, max: 9 }) }));

// Tags on the wire (Spec 2.2).

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
