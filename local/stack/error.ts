/** A failure that the user can fix: its message says what to do, in one or few sentences. */
export class StackError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StackError';
  }
}
