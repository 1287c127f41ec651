import { Failure } from '../../domain/error.ts';

/** An error of the HTTP layer: routes, methods, bodies, limits. */
export class HttpProblem extends Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The client closed the connection before the request was complete, so no answer is written. */
export class CallerGone extends Failure {
  constructor() {
    super('The caller closed the connection');
  }
}
