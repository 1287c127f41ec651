/** io-ts errors as `{field, message}` in declaration order, the field in dot form (`variable_mapping.body.1`). */
import * as t from 'io-ts';
import type { FieldProblem } from '../domain/error.ts';
import type { ErrorCode } from '../domain/error-code.ts';
import { fieldPath } from './field-name.ts';

interface CodedError extends t.ValidationError {
  readonly code?: ErrorCode;
}

/** Like `t.failure`, for a problem that has its own code. */
export function failWith<A>(
  code: ErrorCode,
  message: string,
  value: unknown,
  context: t.Context,
): t.Validation<A> {
  const error: CodedError = { value, context, message, code };
  return t.failures([error]);
}

/** One problem per field, the first one reported for it. */
export function report(errors: t.Errors): readonly FieldProblem[] {
  const problems = new Map<string, FieldProblem>();
  for (const error of errors) {
    const field = fieldPath(error.context);
    if (problems.has(field)) continue;
    const { code } = error as CodedError;
    const message = error.message ?? defaultMessage(field, error);
    problems.set(field, { field, message, code });
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
