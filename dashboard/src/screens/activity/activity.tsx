/** Notices of the service, the audit log of what each key did, and the requests of each key, in tabs. */
import { Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { Screen } from '../../parts/display/screen.tsx';
import { AuditLog } from './audit.tsx';
import type { ActivityFilter } from './filters.tsx';
import { NoticeList } from './notice-list.tsx';
import { RequestLog } from './requests.tsx';

const route = getRouteApi('/inside/activity');

export function Activity() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filters = {
    filter: search,
    onFilter: (change: ActivityFilter) => void navigate({ search: (old) => ({ ...old, ...change }) }),
  };
  return (
    <Screen title="Activity">
      <Tabs
        value={search.view === 'audit' || search.view === 'requests' ? search.view : 'notices'}
        onChange={(next) => void navigate({ search: { view: next ?? undefined } })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="notices">Notices</Tabs.Tab>
          <Tabs.Tab value="audit">Audit log</Tabs.Tab>
          <Tabs.Tab value="requests">Requests</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="notices" pt="md">
          <NoticeList {...filters} />
        </Tabs.Panel>
        <Tabs.Panel value="audit" pt="md">
          <AuditLog {...filters} />
        </Tabs.Panel>
        <Tabs.Panel value="requests" pt="md">
          <RequestLog {...filters} />
        </Tabs.Panel>
      </Tabs>
    </Screen>
  );
}
