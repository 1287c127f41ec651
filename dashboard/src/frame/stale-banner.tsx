/** Warns that the data on the screen is no longer updated, and says since when. */
import { Alert } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { useQueryClient, type QueryCache } from '@tanstack/react-query';
import { IconCloudOff } from '@tabler/icons-react';
import { useCallback, useSyncExternalStore } from 'react';
import { isGone, isUnanswered } from '../client.ts';
import { minuteTime } from '../format.ts';

/** Returns `<oldest update in ms> <unanswered>`: a string, so that React sees an unchanged state as equal. */
function stateOf(cache: QueryCache): string {
  const failed = cache
    .getAll()
    .filter((query) => query.isActive() && query.state.status === 'error' && !isGone(query.state.error));
  const unanswered = failed.some(({ state }) => isUnanswered(state.error));
  const stale = failed.filter(({ state }) => state.data !== undefined);
  if (!unanswered && stale.length === 0) return '';
  return `${Math.min(...stale.map(({ state }) => state.dataUpdatedAt))} ${unanswered}`;
}

export function StaleBanner() {
  const cache = useQueryClient().getQueryCache();
  const { online } = useNetwork();
  const state = useSyncExternalStore(
    useCallback((onChange) => cache.subscribe(onChange), [cache]),
    () => stateOf(cache),
  );
  if (state === '' && online) return null;
  const [since = '', unanswered] = state.split(' ');
  const isUnheard = !online || unanswered === 'true';
  const asOf =
    Number.isFinite(Number(since)) && since !== '' ? ` as of ${minuteTime(new Date(Number(since)))}` : ' old';
  return (
    <Alert color="orange" variant="light" role="alert" mb="md" icon={<IconCloudOff aria-hidden />}>
      {isUnheard ? 'No connection to the service.' : 'The service cannot answer now.'} What you see is
      {asOf === ' old' ? ' not up to date' : asOf}; it updates by itself once the service is back.
    </Alert>
  );
}
