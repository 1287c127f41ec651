/** An empty workflow: the baseline that deliveries are compared with. */
export async function noop(): Promise<void> {
  // Temporal records a start, one workflow task and the completion.
}
