/** Passes the request that caused a workflow on to its activities: their log lines name it, their spans join its trace. */
import type { Context } from '@temporalio/activity';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { InjectedSinks, WorkerOptions } from '@temporalio/worker';
import { withCallContext } from '../concurrency/call-context.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { CauseSinks } from '../workflows/carry-cause.ts';
import { causeHeaders } from '../workflows/contract.ts';

export function causeOptions(tracing: Tracing): Pick<WorkerOptions, 'interceptors' | 'sinks'> {
  const sinks: InjectedSinks<CauseSinks> = {
    trace: {
      runFinished: {
        fn: ({ workflowId }, { name, ...run }) =>
          tracing.add({
            ...run,
            name: `workflow ${name}`,
            attributes: { 'temporal.workflow_id': workflowId },
          }),
      },
    },
  };
  return {
    sinks,
    interceptors: {
      activity: [
        ({ info: { activityType, attempt, workflowExecution } }: Context) => ({
          inbound: {
            execute({ headers, ...input }, next) {
              const workflowId = workflowExecution?.workflowId;
              const requestId = text(headers, causeHeaders.requestId);
              const parent = text(headers, causeHeaders.traceparent);
              const work = () => next({ ...input, headers });
              return withCallContext(
                {
                  ...(workflowId !== undefined && { workflowId }),
                  ...(requestId !== undefined && { requestId }),
                },
                () =>
                  // An activity without a parent gets no span: each one caused by a timer or schedule would begin its own trace.
                  parent === undefined
                    ? work()
                    : tracing.span(
                        {
                          name: `activity ${activityType}`,
                          parent,
                          attributes: { 'temporal.workflow_id': workflowId, 'temporal.attempt': attempt },
                        },
                        work,
                      ),
              );
            },
          },
        }),
      ],
    },
  };
}

function text(headers: Headers, name: string): string | undefined {
  const payload = headers[name];
  return payload === undefined ? undefined : defaultPayloadConverter.fromPayload<string>(payload);
}
