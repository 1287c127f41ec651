import type { SendRejected, SendUnknown, SendUnreachable } from './provider.ts';
import { Failure, ProviderRefused, ProviderUnreachable } from '../domain/error.ts';

/** Why a GET request failed; the same three kinds as for a send. */
export type RequestFailure = SendRejected | SendUnreachable | SendUnknown;

/** A GET request to the provider failed; it changed nothing and may be repeated. */
export class ProviderRequestError extends Failure {
  readonly failure: RequestFailure;

  constructor(failure: RequestFailure) {
    super(describeFailure(failure));
    this.failure = failure;
  }
}

/** The error that the API's caller gets. */
export function callerError({ failure }: ProviderRequestError): Failure {
  // An HTTP error outside the provider's protocol comes from a gateway, not from the provider.
  if (failure.kind !== 'rejected') return new ProviderUnreachable();
  if (failure.code === failure.httpStatus) return new ProviderUnreachable(failure.httpStatus);
  return new ProviderRefused(failure.code, failure.details ?? failure.message);
}

function describeFailure(failure: RequestFailure): string {
  if (failure.kind === 'rejected') {
    return `The provider refused the request: HTTP ${failure.httpStatus}, code ${failure.code}`;
  }
  return failure.kind === 'unreachable'
    ? `The provider cannot be reached: ${failure.cause}`
    : `The provider gave no readable answer: ${failure.cause}`;
}
