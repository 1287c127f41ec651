/** The screens and their addresses; every filter is in the address. */
import { Box, Title } from '@mantine/core';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { readSession } from './client.ts';
import { Layout } from './frame/layout.tsx';
import { ErrorFace, LoadingFace } from './parts/faces.tsx';
import { Campaign } from './screens/campaign/campaign.tsx';
import { Campaigns } from './screens/campaigns/campaigns.tsx';
import { SignIn } from './screens/sign-in/sign-in.tsx';

const Pending = () => (
  <>
    <Title order={1} size="h2" mb="md">
      Loading …
    </Title>
    <LoadingFace />
  </>
);

// Loads the page anew: after an upgrade the file of a screen may be gone.
const Missing = ({ error }: { error: unknown }) => (
  <>
    <Title order={1} size="h2" mb="md">
      Something is missing
    </Title>
    <ErrorFace error={error as Error} retry={() => location.reload()} />
  </>
);

type Search<K extends string> = { readonly [key in K]?: string };

const text = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
const texts = (value: unknown): string[] | undefined => {
  const list = [value].flat().flatMap((one) => text(one) ?? []);
  return list.length === 0 ? undefined : list;
};

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Outlet });

const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn });

/** Everything else is for who is signed in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Layout,
  // Before the layout stands.
  pendingComponent: () => (
    <Box component="main" p="lg">
      <Pending />
    </Box>
  ),
  errorComponent: ({ error }) => (
    <Box component="main" p="lg">
      <Missing error={error} />
    </Box>
  ),
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.ensureQueryData({
      queryKey: ['session'],
      queryFn: readSession,
    });
    if (session === null) {
      context.queryClient.clear();
      throw redirect({ to: '/sign-in' });
    }
  },
});

const campaigns = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: Campaigns,
  validateSearch: (search: Record<string, unknown>): Search<'status' | 'search'> & { page?: number } => ({
    status: text(search['status']),
    search: text(search['search']),
    page: Number(search['page']) > 1 ? Number(search['page']) : undefined,
  }),
});

const campaign = createRoute({ getParentRoute: () => inside, path: '/campaigns/$id', component: Campaign });

const recipients = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/$id/recipients',
  component: lazyRouteComponent(() => import('./screens/recipients/recipients.tsx'), 'Recipients'),
  validateSearch: (
    search: Record<string, unknown>,
  ): Search<'phone' | 'recipient'> & { state?: string[]; reason?: string[] } => ({
    state: texts(search['state']),
    reason: texts(search['reason']),
    phone: text(search['phone']),
    recipient: text(search['recipient']),
  }),
});

const newCampaign = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/new',
  component: lazyRouteComponent(() => import('./screens/new-campaign/new-campaign.tsx'), 'NewCampaign'),
  validateSearch: (search: Record<string, unknown>): Search<'failed'> => ({ failed: text(search['failed']) }),
});

const wallet = createRoute({
  getParentRoute: () => inside,
  path: '/wallet',
  component: lazyRouteComponent(() => import('./screens/wallet/wallet.tsx'), 'Wallet'),
  validateSearch: (search: Record<string, unknown>): Search<'campaign'> => ({
    campaign: text(search['campaign']),
  }),
});

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
  validateSearch: (search: Record<string, unknown>): Search<'state' | 'delivery'> => ({
    state: text(search['state']),
    delivery: text(search['delivery']),
  }),
});

const templates = createRoute({
  getParentRoute: () => inside,
  path: '/templates',
  component: lazyRouteComponent(() => import('./screens/templates/templates.tsx'), 'Templates'),
  validateSearch: (search: Record<string, unknown>): Search<'search'> => ({ search: text(search['search']) }),
});

const channels = createRoute({
  getParentRoute: () => inside,
  path: '/channels',
  component: lazyRouteComponent(() => import('./screens/channels/channels.tsx'), 'Channels'),
});

const tree = root.addChildren([
  signIn,
  inside.addChildren([campaigns, newCampaign, campaign, recipients, wallet, webhooks, templates, channels]),
]);

export const createPageRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: '/dashboard',
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPendingMs: 300,
    defaultPendingComponent: Pending,
    defaultErrorComponent: Missing,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPageRouter>;
  }
}
