/** The input of the form, kept in the browser's tab. */
import type { api } from '../../client.ts';
import type { SendingWindow } from '../../sending-window.ts';
import type { Kind } from './audience.tsx';
import type { Variables } from './fields.ts';

export interface Uploaded {
  readonly name: string;
  readonly key: string;
  /** The columns as the user chose them; absent where they are guessed. */
  readonly mapping?: api.CsvMapping | undefined;
}

export interface Draft {
  readonly name?: string | undefined;
  readonly templateId?: string | undefined;
  readonly kind: Kind;
  readonly uploaded?: Uploaded | undefined;
  readonly numbers: string;
  /** ISO 3166 alpha-2: the country of typed numbers that name none. */
  readonly country?: string | undefined;
  readonly segments: readonly string[];
  /** Of `segmented`: conditions that the contacts meet besides. */
  readonly filter?: api.ContactFilters | undefined;
  readonly variables: Variables;
  readonly at: string;
  /** A decimal number; absent or empty without a maximum. */
  readonly maxCost?: string | undefined;
  /** The campaign's own hours; absent where it sends at any time. */
  readonly window?: SendingWindow | undefined;
}
