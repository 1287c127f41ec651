/** Templates on the wire: the list, the variables (Spec 2.3) and the payload skeleton (Spec 2.4). */
import * as t from 'io-ts';
import { describe, named } from './json-schema.ts';
import { Integer, IsoDateTime, Uuid } from './scalars.ts';
import { nullish, struct } from './struct.ts';

/** Id of the template in every example and in the demo workspace, so that the examples work as they are written. */
export const exampleTemplateId = '0197c1f2-5d10-7c11-8a11-0c5f1b2a4e77';

export const Template = named(
  'Template',
  struct({
    id: Uuid,
    businessAccountId: describe(t.string, {
      description: 'Provider’s id of the business account that owns the template.',
    }),
    name: t.string,
    language: t.string,
    category: t.string,
    status: t.string,
    providerTemplateId: t.string,
    /** The provider's rating: GREEN, YELLOW, RED or UNKNOWN. */
    quality: nullish(t.string),
    /** The category that the provider has announced; `upcomingCategoryAt` is when it takes effect. */
    upcomingCategory: nullish(t.string),
    upcomingCategoryAt: nullish(IsoDateTime),
    components: describe(t.readonlyArray(t.unknown), {
      description: 'Provider’s definition of the template.',
    }),
    rejectedReason: describe(nullish(t.string), {
      description: 'Provider’s reason for rejecting the template; null without one.',
    }),
    source: describe(nullish(t.string), {
      description: 'Who made the template, in the provider’s words; null if it does not say.',
    }),
    sendTtlSeconds: describe(nullish(Integer), {
      description:
        'Seconds for which the provider tries to deliver a message; null for the default of the category.',
    }),
    updatedAt: IsoDateTime,
  }),
);

/** Spec 2.3 */
export const TemplateVariables = named(
  'TemplateVariables',
  struct({
    header: t.readonlyArray(t.string),
    body: t.readonlyArray(t.string),
    buttons: t.readonlyArray(t.string),
  }),
);

/** Spec 2.4 */
export const PayloadSkeleton = named(
  'PayloadSkeleton',
  struct({
    templateId: Uuid,
    recipientPhoneNumber: t.string,
    countryCode: t.string,
    variableMapping: named(
      'SkeletonMapping',
      struct(
        {
          header: t.UnknownRecord,
          body: t.record(t.string, t.string),
          buttons: t.readonlyArray(t.UnknownRecord),
        },
        {
          limited_time_offer: named('OfferExpiry', struct({ expiration_time_ms: Integer })),
          carousel: t.readonlyArray(t.UnknownRecord),
        },
      ),
    ),
  }),
);

export const TemplateSyncSummary = named(
  'TemplateSyncSummary',
  struct({
    synced: Integer,
    added: Integer,
    changed: Integer,
  }),
);
