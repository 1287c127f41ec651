import { WorkflowUpdateFailedError } from '@temporalio/client';
import { defaultPayloadConverter, TemporalFailure } from '@temporalio/common';
import { sql } from 'slonik';
import { describe, expect, it } from 'vitest';
import { nothing } from '../../src/records/database/row.ts';
import { campaignWorkflowId } from '../../src/workflows/contract.ts';
import {
  createCampaignFixture,
  until,
  type CampaignFixture,
  type CampaignFixtureSeed,
} from '../support/campaign-fixture.ts';
import { openTestServers } from '../support/test-servers.ts';
import { startTemporal } from '../support/temporal.ts';

const servers = openTestServers(startTemporal);
const blockChannel = sql.type(nothing)`UPDATE channel SET status = 'blocked'`;

interface Described {
  readonly name: string;
  readonly description?: string;
}
interface Metadata {
  readonly definition: Readonly<
    Record<'signalDefinitions' | 'updateDefinitions' | 'queryDefinitions', Described[]>
  >;
}

const createFixture = (seed: CampaignFixtureSeed) => createCampaignFixture(servers(), seed);
const handleOf = ({ campaignId }: CampaignFixture) =>
  servers().temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));
const eventsOf = async (fixture: CampaignFixture) => (await handleOf(fixture).describe()).historyLength;
const ask = (fixture: CampaignFixture, action: string) => handleOf(fixture).executeUpdate<string, []>(action);
/** What the Temporal UI shows of a refusal: the reason, without a stack trace. */
const whyRefused = (fixture: CampaignFixture, action: string): Promise<string> =>
  ask(fixture, action).then(
    (status) => `taken: ${status}`,
    (error: unknown) => {
      if (!(error instanceof WorkflowUpdateFailedError && error.cause instanceof TemporalFailure))
        return 'another error';
      const { message, stackTrace } = error.cause.failure ?? {};
      return `${message}${stackTrace ?? ''}`;
    },
  );

/** Summaries of timers and activities as the Temporal UI shows them. */
async function wordsOf(fixture: CampaignFixture) {
  const { events } = await handleOf(fixture).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { timerStartedEventAttributes: timer, activityTaskScheduledEventAttributes: step } = event;
    const what = timer ? 'timer' : step?.activityType?.name;
    const summary = event.userMetadata?.summary;
    return what === undefined ? [] : [[what, summary && defaultPayloadConverter.fromPayload(summary)]];
  });
}

const hour = 3_600_000;

describe('pause, resume and cancel as updates', () => {
  it('answer with the status, and refuse with the reason', async () => {
    const fixture = await createFixture({ recipients: 2, scheduledInMs: hour });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress()) !== null);
      expect(await whyRefused(fixture, 'resume')).toBe('resume is not possible: the campaign is SCHEDULED');
      expect(await ask(fixture, 'pause')).toBe('PAUSED');
      expect(await fixture.snapshot()).toMatchObject({ status: 'PAUSED', pauseReason: 'OPERATOR' });
      const before = await eventsOf(fixture);
      expect(await whyRefused(fixture, 'pause')).toBe(
        'pause is not possible: the campaign is PAUSED (OPERATOR)',
      );
      expect(await eventsOf(fixture)).toBe(before);
      expect(await ask(fixture, 'resume')).toBe('SCHEDULED');
      expect(await ask(fixture, 'cancel')).toBe('CANCELLED');
      expect(await fixture.result()).toMatchObject({
        status: 'CANCELLED',
        counts: { pending: 0 },
      });
    });
    expect((await handleOf(fixture).describe()).status.name).toBe('CANCELLED');
  });

  it('refuse what only Postgres shows to be impossible: to resume while the channel is blocked', async () => {
    const fixture = await createFixture({ recipients: 2, scheduledInMs: hour });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress()) !== null);
      await ask(fixture, 'pause');
      await fixture.dependencies.database.query(blockChannel);
      expect(await whyRefused(fixture, 'resume')).toBe(
        'The campaign is PAUSED and its channel is blocked: start it again once that has changed, or cancel it',
      );
      await ask(fixture, 'cancel');
    });
  });

  it('are described on the page of the workflow', async () => {
    const fixture = await createFixture({ recipients: 1, scheduledInMs: hour });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress()) !== null);
      const metadata = await handleOf(fixture).query<Metadata>('__temporal_workflow_metadata');
      const { signalDefinitions, updateDefinitions, queryDefinitions } = metadata.definition;
      for (const name of ['pause', 'resume', 'cancel', 'refresh'])
        expect(signalDefinitions.find((one) => one.name === name)?.description, name).toMatch(/\w/);
      expect(updateDefinitions.map(({ name }) => name).toSorted()).toEqual(['cancel', 'pause', 'resume']);
      expect(queryDefinitions.find(({ name }) => name === 'progress')?.description).toMatch(/\w/);
      await ask(fixture, 'cancel');
    });
  });
});

describe('a campaign that is looked at in the page', () => {
  it('says in words what its timers wait for and what its steps do', async () => {
    const sent = await createFixture({ recipients: 2 });
    const asleep = await createFixture({ recipients: 2, scheduledInMs: hour });
    await sent.withWorker(async () => {
      await Promise.all([sent.start(), asleep.start()]);
      await until(async () => (await asleep.progress()) !== null);
      await ask(asleep, 'cancel');
      await Promise.all([sent.result(), asleep.result()]);
    });
    const said = (await Promise.all([sent, asleep].map(wordsOf))).flat();
    const steps = ['prepareCampaign', 'beginCampaign', 'sendStep', 'settleCampaign', 'cancelRecipients'];
    expect(said.map(([what]) => what)).toEqual(expect.arrayContaining(['timer', ...steps]));
    for (const [what, words] of said) expect(words, String(what)).toMatch(/^\w+:? \w+/);
  });
});

describe('a resume', () => {
  it('costs few events', async () => {
    const fixture = await createFixture({ recipients: 2, scheduledInMs: hour });
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => (await fixture.progress()) !== null);
      await handleOf(fixture).signal('pause');
      await until(async () => (await fixture.progress())?.status === 'PAUSED');
      const before = await eventsOf(fixture);
      await handleOf(fixture).signal('resume');
      await until(async () => (await fixture.progress())?.status === 'SCHEDULED');
      // The signal, the activity, two workflow tasks, the search attributes, and the timer until the campaign is due.
      expect((await eventsOf(fixture)) - before).toBeLessThanOrEqual(12);
      await ask(fixture, 'cancel');
    });
  });
});

describe('a step of sending that is paused by hand', () => {
  it('pauses the campaign, which goes on when it is resumed', { timeout: 120_000 }, async () => {
    const fixture = await createFixture({ recipients: 1_500, messagesPerSecond: 100 });
    const { client, namespace = 'default' } = servers().temporal;
    await fixture.withWorker(async () => {
      await fixture.start();
      await until(async () => fixture.provider.received.length > 50);
      await client.workflowService.pauseActivity({
        namespace,
        execution: { workflowId: campaignWorkflowId(fixture.campaignId) },
        type: 'sendStep',
      });
      await until(async () => (await fixture.snapshot()).pauseReason === 'OPERATOR');
      await until(async () => (await fixture.snapshot()).counts.claimed === 0);
      await until(async () => (await fixture.progress())?.status === 'PAUSED');
      const sent = fixture.provider.received.length;
      expect(sent).toBeLessThan(1_500);
      expect(await ask(fixture, 'resume')).toBe('RUNNING');
      await until(async () => fixture.provider.received.length > sent);
      await ask(fixture, 'cancel');
      await fixture.result();
    });
  });
});
