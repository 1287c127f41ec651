import * as t from 'io-ts';

/**
 * The field at the end of the path, in dot form (`variable_mapping.body.1`); empty for the whole value. An intersection or
 * a union puts the index of its member into the path; this index is left out, because it means nothing to a caller.
 */
export function fieldPath(context: t.Context): string {
  return context
    .filter((entry, index) => {
      const parent = unwrapped(context[index - 1]?.type);
      return entry.key !== '' && !(parent instanceof t.IntersectionType || parent instanceof t.UnionType);
    })
    .map((entry) => entry.key)
    .join('.');
}

// `exact` and `readonly` appear in the path in place of the codec they wrap.
function unwrapped(codec: t.Decoder<unknown, unknown> | undefined): unknown {
  if (codec instanceof t.ExactType || codec instanceof t.ReadonlyType) {
    return unwrapped(codec.type as t.Mixed);
  }
  return codec;
}

/** The name a message gives to the value at the end of the path. */
export function fieldName(context: t.Context): string {
  return fieldPath(context) || 'The value';
}
