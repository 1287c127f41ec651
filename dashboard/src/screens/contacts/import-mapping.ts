/** Changes of an import's columns. Each column has one meaning; one without any is a custom field. */
import type { api } from '../../client.ts';

/** Of an import, or of a campaign's CSV, which has fewer fields. */
type Mapping = api.ContactImportMapping;
type Field = 'phone_column' | 'country_code_column' | 'name_column' | 'last_name_column' | 'email_column';

const fieldsOf: readonly Field[] = ['country_code_column', 'name_column', 'last_name_column', 'email_column'];

/** The custom fields after a column has lost or got another meaning. */
function withFields(before: Mapping, after: Mapping, headers: readonly string[]): Mapping {
  const used = usedBy(after);
  const freed = [...usedBy(before)].filter((column) => !used.has(column));
  const fields = Object.entries(after.custom_field_mapping ?? {}).filter(([, column]) => !used.has(column));
  const names = new Set(fields.map(([name]) => name));
  for (const column of freed) {
    const name = headers[column]?.trim() ?? '';
    if (name !== '' && !names.has(name)) fields.push([name, column]);
  }
  const { custom_field_mapping: _, ...rest } = after;
  return fields.length === 0 ? rest : { ...rest, custom_field_mapping: Object.fromEntries(fields) };
}

/** The service names the parts of what a file says about consent; a request may give the column alone. */
export const consentOf = ({ consent }: Mapping): api.ConsentMapping | undefined =>
  typeof consent === 'number' ? { column: consent } : (consent ?? undefined);

function usedBy(mapping: Mapping): ReadonlySet<number> {
  const others = fieldsOf.map((field) => mapping[field]);
  const columns = [mapping.phone_column, consentOf(mapping)?.column, ...others];
  return new Set(columns.filter((column) => column != null));
}

export function withColumn(
  mapping: Mapping,
  field: Field,
  value: string | null,
  headers: readonly string[],
): Mapping {
  const { [field]: _, ...others } = mapping;
  if (value === null)
    return field === 'phone_column' ? mapping : withFields(mapping, others as Mapping, headers);
  // International numbers name the phone column as that of the country too.
  const isBoth = field === 'phone_column' && mapping.country_code_column === mapping.phone_column;
  const column = Number(value);
  const after = { ...others, [field]: column, ...(isBoth && { country_code_column: column }) } as Mapping;
  return withFields(mapping, after, headers);
}

export function withConsent<M extends Mapping>(
  mapping: M,
  value: string | null,
  headers: readonly string[],
): M {
  const { consent: _, ...others } = mapping;
  const after =
    value === null ? others : { ...others, consent: { column: Number(value), meaning: 'opt_out' as const } };
  return withFields(mapping, after as Mapping, headers) as M;
}
