/** io-ts errors as `{field, message}` in declaration order, the field in dot form (`variable_mapping.body.1`). */
import type * as t from 'io-ts';
import type { FieldProblem } from '../domain/error.ts';
import { fieldPath } from './field-name.ts';

/** One problem per field, the first one reported for it. */
export function report(errors: t.Errors): readonly FieldProblem[] {
  const problems = new Map<string, FieldProblem>();
  for (const error of errors) {
    const field = fieldPath(error.context);
    if (problems.has(field)) continue;
    problems.set(field, { field, message: error.message ?? defaultMessage(field, error) });
  }
  return [...problems.values()];
}

function defaultMessage(field: string, error: t.ValidationError): string {
  const name = field === '' ? 'The value' : field;
  const expected = error.context.at(-1)?.type.name ?? 'valid';
  const choice = expected.startsWith('one of') ? `: ${expected}` : '';
  if (error.value === undefined) return `${name} is required${choice}`;
  return `${name} must be ${describeType(expected)}`;
}

function describeType(name: string): string {
  if (name === 'string') return 'a string';
  if (name === 'boolean') return 'true or false';
  if (name === 'number') return 'a number';
  if (name.startsWith('Array') || name.startsWith('ReadonlyArray')) return 'an array';
  if (/^[{(]|Record|Exact|^\{/.test(name)) return 'an object';
  return name;
}
