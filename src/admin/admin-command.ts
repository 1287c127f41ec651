import type { AdminContext } from './admin-context.ts';
import type { Need } from './admin-environment.ts';

interface OptionDeclaration {
  readonly description: string;
  readonly optional?: true;
}

export type OptionDeclarations = { readonly [name: string]: OptionDeclaration };

type OptionValues<O extends OptionDeclarations> = {
  readonly [N in keyof O]: O[N] extends { readonly optional: true } ? string | undefined : string;
};

/** A command whose option types are erased: what the frame lists, explains and runs. */
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
}

/** Declares a command; required options are strings when `run` is called. */
export function adminCommand<const O extends OptionDeclarations>(command: {
  readonly name: string;
  readonly summary: string;
  readonly options: O;
  readonly needs?: readonly Need[];
  readonly run: (context: AdminContext, values: OptionValues<O>) => Promise<object>;
}): AdminCommand {
  return { ...command, needs: command.needs ?? [], run: command.run as AdminCommand['run'] };
}

/** A UUID option; ids never reach SQL in another form. */
export function uuidOption(name: string, value: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return value.toLowerCase();
  throw new Error(`--${name} must be a UUID`);
}

export function integerOption(name: string, value: string): number {
  const number = Number(value);
  if (/^\d{1,10}$/.test(value) && number <= 2_147_483_647) return number;
  throw new Error(`--${name} must be a whole number`);
}
