import { isUuid } from '../domain/uuid.ts';
import type { AdminContext, Need } from './admin-context.ts';

interface OptionDeclaration {
  readonly description: string;
  readonly optional?: true;
  /** Takes no value; its value is `yes` when it is given. */
  readonly flag?: true;
  /** With the value `-` the secret is read from standard input, because other users of the machine can see arguments. */
  readonly secret?: true;
  /** Environment variable that gives the value if the option is omitted. */
  readonly variable?: string;
}

export type OptionDeclarations = { readonly [name: string]: OptionDeclaration };

type OptionValues<O extends OptionDeclarations> = {
  readonly [N in keyof O]: O[N] extends { readonly optional: true } | { readonly flag: true }
    ? string | undefined
    : string;
};

/** A command without its option types, as `run-admin.ts` lists, explains and runs it. */
export interface AdminCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: OptionDeclarations;
  readonly needs: readonly Need[];
  /** Resolves with the object to print. */
  readonly run: (
    context: AdminContext,
    values: Readonly<Record<string, string | undefined>>,
  ) => Promise<object>;
  /** Formats the output and sets the exit code; by default the object as JSON, and 0. */
  readonly present?: (result: object, values: Readonly<Record<string, string | undefined>>) => AdminOutput;
}

export interface AdminOutput {
  readonly text: string;
  readonly exitCode: 0 | 1;
}

/** Declares a command; required options are strings when `run` is called. */
export function adminCommand<const O extends OptionDeclarations, R extends object>(command: {
  readonly name: string;
  readonly summary: string;
  readonly options: O;
  readonly needs?: readonly Need[];
  readonly run: (context: AdminContext, values: OptionValues<O>) => Promise<R>;
  readonly present?: (result: R, values: OptionValues<O>) => AdminOutput;
}): AdminCommand {
  const { present, ...rest } = command;
  return {
    ...rest,
    needs: command.needs ?? [],
    run: command.run as AdminCommand['run'],
    ...(present !== undefined && { present: present as NonNullable<AdminCommand['present']> }),
  };
}

/** A UUID option; ids never reach SQL in another form. */
export function uuidOption(name: string, value: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw new Error(`--${name} must be a UUID`);
}

/** The id of an API key. A whole key is refused: its secret does not belong on a command line. */
export function keyIdOption(value: string): string {
  const [, keyId] = value.split('_');
  if (keyId === undefined) return value;
  throw new Error(`--key-id takes the second part of the key alone: ${keyId}`);
}

export function integerOption(name: string, value: string, largest = 2_147_483_647): number {
  const number = Number(value);
  if (/^\d{1,10}$/.test(value) && number <= largest) return number;
  throw new Error(`--${name} must be a whole number, at most ${largest}`);
}

export function switchOption(name: string, value: string): boolean {
  if (value === 'on' || value === 'off') return value === 'on';
  throw new Error(`--${name} must be on or off`);
}
