import type { Supervisor } from './supervisor.ts';

/** Like Promise.all, but when one part fails everything is stopped, and awaited, before the first failure is thrown. */
export async function allOrNone<T extends readonly Promise<unknown>[]>(
  { supervisor }: { readonly supervisor: Supervisor },
  parts: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  try {
    return await Promise.all(parts);
  } catch (error) {
    await supervisor.stop();
    await Promise.allSettled(parts);
    throw error;
  }
}
