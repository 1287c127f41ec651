/** The least a workflow can do: the baseline of deliveries. */
export async function noop(): Promise<void> {
  // Nothing: start, one workflow task, completion.
}
