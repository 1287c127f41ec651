/** A failure that the person at the terminal can act on: its message is one sentence (or a few) that says what to do. */
export class StackError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StackError';
  }
}
