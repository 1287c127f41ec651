/**
 * Passes a workflow's cause (request id and trace span) on to the activities it calls. Headers change no command of a
 * workflow, so histories recorded without them still replay.
 */
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import {
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInterceptors,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { causeHeaders, type FinishedRun } from './contract.ts';

export interface CauseSinks extends Sinks {
  readonly trace: { readonly runFinished: (run: FinishedRun) => void };
}

const { trace } = proxySinks<CauseSinks>();

export const interceptors: WorkflowInterceptorsFactory = (): WorkflowInterceptors => {
  let carried: Headers = {};

  /**
   * Activities of a traced run are children of its span. They carry its id although the span is exported only when the run
   * ends.
   */
  const take = (headers: Headers): string | undefined => {
    const { [causeHeaders.requestId]: requestId, [causeHeaders.traceparent]: parent } = headers;
    if (requestId === undefined && parent === undefined) return undefined;
    const traceparent =
      parent === undefined ? undefined : defaultPayloadConverter.fromPayload<string>(parent);
    carried = {
      ...carried,
      ...(requestId !== undefined && { [causeHeaders.requestId]: requestId }),
      ...(traceparent !== undefined && {
        [causeHeaders.traceparent]: defaultPayloadConverter.toPayload(ofThisRun(traceparent)),
      }),
    };
    return traceparent;
  };

  /**
   * Later steps carry the request id of the latest change, or none if an operator made the change in Temporal. The trace
   * remains the one that started the workflow.
   */
  const takeOver = ({ [causeHeaders.requestId]: requestId }: Headers): void => {
    const { [causeHeaders.requestId]: _before, ...kept } = carried;
    carried = { ...kept, ...(requestId !== undefined && { [causeHeaders.requestId]: requestId }) };
  };

  return {
    inbound: [
      {
        execute(input, next) {
          const parent = take(input.headers);
          if (parent === undefined) return next(input);
          const { workflowType: name, runStartTime } = workflowInfo();
          return next(input).finally(() =>
            trace.runFinished({
              name,
              parent,
              spanId: spanIdOfRun(),
              startedAt: runStartTime.getTime(),
              endedAt: Date.now(),
            }),
          );
        },
        handleSignal(input, next) {
          takeOver(input.headers);
          return next(input);
        },
        handleUpdate(input, next) {
          takeOver(input.headers);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...carried, ...input.headers } }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: { ...carried, ...input.headers } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...carried, ...input.headers } }),
      },
    ],
  };
};

/** Derives the span's id from the run's id, which is random enough. */
function spanIdOfRun(): string {
  return workflowInfo().runId.replaceAll('-', '').slice(-16);
}

function ofThisRun(traceparent: string): string {
  const [version, traceId, , flags] = traceparent.split('-');
  return [version, traceId, spanIdOfRun(), flags].join('-');
}
