/**
 * Names frequent statements: Postgres parses and plans a named statement once per connection, which is most of the cost of a
 * small one. Rare statements get no name and keep no plan.
 */
export function createStatementNames({ often = 20, mostNames = 200, mostCounted = 2_000 } = {}): (
  text: string,
) => string | undefined {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  return (text) => {
    const name = names.get(text);
    if (name !== undefined || names.size === mostNames) return name;
    const times = (counts.get(text) ?? 0) + 1;
    if (times < often) {
      if (counts.size >= mostCounted) counts.clear();
      counts.set(text, times);
      return undefined;
    }
    counts.delete(text);
    names.set(text, `often_${names.size}`);
    return names.get(text);
  };
}
