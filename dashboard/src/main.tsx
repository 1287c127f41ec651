import './frame/styles.ts';
import { MantineProvider } from '@mantine/core';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isGone } from './client.ts';
import { inks, theme } from './frame/theme.ts';
import { createPageRouter } from './router.tsx';

/** A record that was erased since it was loaded: what is left of it in the page must not be shown. */
const queryCache = new QueryCache({
  onError: (error, query) => {
    if (isGone(error) && query.state.data !== undefined) query.setState({ data: undefined });
  },
});

const queryClient = new QueryClient({
  queryCache,
  defaultOptions: {
    queries: {
      // The client of the API repeats requests itself.
      retry: false,
      staleTime: 1_000,
      // Without a network a query fails and shows it; it runs again once the network is back.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    // An action without a network fails at once and is not carried out later.
    mutations: { networkMode: 'always' },
  },
});
const router = createPageRouter(queryClient);

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={inks} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
