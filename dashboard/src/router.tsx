/** The screens and their addresses; the state of every filter is in the address. */
import { Title } from '@mantine/core';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  useRouterState,
} from '@tanstack/react-router';
import { ask, readSession } from './client.ts';
import { Frame, Layout } from './frame/layout.tsx';
import { NotFound } from './frame/not-found.tsx';
import { placeAt } from './frame/places.ts';
import { ErrorFace, LoadingFace } from './parts/display/load-states.tsx';
import { keepFor } from './parts/forms/use-draft.ts';
import { lists, page, strings } from './search-params.ts';
import { SignIn } from './screens/sign-in/sign-in.tsx';

/** The title of the screen to come, above the rows of a skeleton. */
function Pending() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <>
      <Title order={1} mb="lg">
        {placeAt(path)?.label ?? 'Loading …'}
      </Title>
      <LoadingFace />
    </>
  );
}

/** Throws an error whose message a user understands when the service does not answer. */
const checkReachable = () => ask('/dashboard/session', { method: 'HEAD' });

/**
 * A screen's component, loaded when it is first shown. When its file cannot be loaded the router reloads the page, because after
 * an upgrade the file may be gone. Without a connection the browser would then show its own error page in place of this one, so
 * the error says that instead.
 */
function screen<M extends Record<string, unknown>>(load: () => Promise<M>, name: keyof M & string) {
  const loadOrExplain = () =>
    load().catch(async (error: unknown) => {
      await checkReachable();
      throw error;
    });
  return lazyRouteComponent(loadOrExplain, name);
}

const reload = () =>
  checkReachable().then(
    () => location.reload(),
    () => undefined,
  );

const Missing = ({ error }: { error: unknown }) => (
  <>
    <Title order={1} mb="md">
      Something is missing
    </Title>
    <ErrorFace error={error as Error} retry={() => void reload()} />
  </>
);

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Outlet });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignIn,
  validateSearch: strings('to', 'why'),
});

/** All other screens need a session. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Layout,
  // Shown before the layout, with the same frame.
  pendingComponent: () => (
    <Frame session={undefined}>
      <Pending />
    </Frame>
  ),
  errorComponent: ({ error }) => (
    <Frame session={undefined}>
      <Missing error={error} />
    </Frame>
  ),
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData({
      queryKey: ['session'],
      queryFn: readSession,
    });
    if (session === null) {
      context.queryClient.clear();
      throw redirect({ to: '/sign-in', search: { to: location.href === '/' ? undefined : location.href } });
    }
    keepFor(session.workspaceId);
  },
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: screen(() => import('./screens/overview/overview.tsx'), 'Overview'),
});

const campaigns = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns',
  component: screen(() => import('./screens/campaigns/campaigns.tsx'), 'Campaigns'),
  validateSearch: (search: Record<string, unknown>) => ({
    ...strings('status', 'search', 'template', 'from', 'to', 'sort')(search),
    ...page(search),
  }),
});

const campaign = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/$id',
  component: screen(() => import('./screens/campaign/campaign.tsx'), 'Campaign'),
});

const replies = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/$id/replies',
  component: screen(() => import('./screens/campaign/replies.tsx'), 'CampaignReplies'),
  validateSearch: strings('status'),
});

const campaignActivity = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/$id/activity',
  component: screen(() => import('./screens/campaign/activity.tsx'), 'CampaignActivity'),
});

const recipients = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/$id/recipients',
  component: screen(() => import('./screens/recipients/recipients.tsx'), 'Recipients'),
  validateSearch: (search: Record<string, unknown>) => ({
    ...strings('phone', 'recipient')(search),
    ...lists('state', 'reason')(search),
  }),
});

const newCampaign = createRoute({
  getParentRoute: () => inside,
  path: '/campaigns/new',
  component: screen(() => import('./screens/new-campaign/new-campaign.tsx'), 'NewCampaign'),
  validateSearch: (search: Record<string, unknown>) => ({
    ...strings('failed', 'copy', 'template', 'reached')(search),
    ...lists('reason', 'state')(search),
  }),
});

const contacts = createRoute({
  getParentRoute: () => inside,
  path: '/contacts',
  component: screen(() => import('./screens/contacts/contacts.tsx'), 'Contacts'),
  validateSearch: strings('search', 'tag', 'segment', 'consent', 'sort'),
});

const contact = createRoute({
  getParentRoute: () => inside,
  path: '/contacts/$id',
  component: screen(() => import('./screens/contacts/contact.tsx'), 'Contact'),
});

const segments = createRoute({
  getParentRoute: () => inside,
  path: '/segments',
  component: screen(() => import('./screens/segments/segments.tsx'), 'Segments'),
  validateSearch: strings('segment'),
});

const conversations = createRoute({
  getParentRoute: () => inside,
  path: '/conversations',
  component: screen(() => import('./screens/conversations/conversations.tsx'), 'Conversations'),
  validateSearch: strings('status', 'conversation', 'campaign'),
});

const templates = createRoute({
  getParentRoute: () => inside,
  path: '/templates',
  component: screen(() => import('./screens/templates/templates.tsx'), 'Templates'),
  validateSearch: strings('search', 'status', 'category', 'language'),
});

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  component: screen(() => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
  validateSearch: strings('state', 'delivery', 'webhook'),
});

const wallet = createRoute({
  getParentRoute: () => inside,
  path: '/wallet',
  component: screen(() => import('./screens/wallet/wallet.tsx'), 'Wallet'),
  validateSearch: strings('campaign', 'channel', 'statement'),
});

const channels = createRoute({
  getParentRoute: () => inside,
  path: '/channels',
  component: screen(() => import('./screens/channels/channels.tsx'), 'Channels'),
});

const activity = createRoute({
  getParentRoute: () => inside,
  path: '/activity',
  component: screen(() => import('./screens/activity/activity.tsx'), 'Activity'),
  validateSearch: strings('view', 'kind', 'actor', 'from', 'to'),
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: screen(() => import('./screens/settings/settings.tsx'), 'Settings'),
});

/** An unknown address, with the navigation around it. */
const unknown = createRoute({ getParentRoute: () => inside, path: '$', component: NotFound });

const tree = root.addChildren([
  signIn,
  inside.addChildren([
    overview,
    campaigns,
    newCampaign,
    campaign,
    recipients,
    replies,
    campaignActivity,
    contacts,
    contact,
    segments,
    conversations,
    templates,
    webhooks,
    wallet,
    channels,
    activity,
    settings,
    unknown,
  ]),
]);

export const createPageRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: '/dashboard',
    context: { queryClient },
    defaultPreload: 'intent',
    // A dialog that was opened for one record must not stay open for another: it would change, cancel or erase that one.
    defaultRemountDeps: ({ params }) => params,
    defaultPendingMs: 300,
    defaultPendingComponent: Pending,
    defaultErrorComponent: Missing,
    defaultNotFoundComponent: NotFound,
  });

declare module '@tanstack/react-router' {
  /** What a screen says once about the action that led to it. */
  interface HistoryState {
    erased?: boolean;
  }

  interface Register {
    router: ReturnType<typeof createPageRouter>;
  }
}
