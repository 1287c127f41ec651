interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (output: O) => void;
  readonly reject: (error: unknown) => void;
}

export interface Grouping {
  /** Of one group. */
  readonly maxSize: number;
  /** Groups under way at a time. */
  readonly lanes: number;
}

/**
 * Turns a function over many items into one over one item: calls that come while an earlier group is under way are made
 * together. A lone call waits for nobody. Outputs stand in the order of the items.
 */
export function groupCalls<I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  { maxSize, lanes }: Grouping,
): (item: I) => Promise<O> {
  const queue: Waiting<I, O>[] = [];
  let busy = 0;

  const drain = async (): Promise<void> => {
    busy += 1;
    while (queue.length > 0) {
      const group = queue.splice(0, maxSize);
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next group gathers meanwhile
        const outputs = await run(group.map(({ item }) => item));
        for (const [index, { resolve }] of group.entries()) resolve(outputs[index] as O);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    busy -= 1;
  };

  return (item) =>
    // oxlint-disable-next-line promise/avoid-new -- settled by the group the item travels in
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (busy < lanes) void drain();
    });
}
