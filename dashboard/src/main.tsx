import { createTheme, MantineProvider, type CSSVariablesResolver } from '@mantine/core';
import '@mantine/core/styles.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createPageRouter } from './router.tsx';

const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: { light: 9, dark: 9 },
  autoContrast: true,
  defaultRadius: 'md',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
});

// Mantine's own greys and tints are too pale for small text.
const inks: CSSVariablesResolver = ({ colors }) => {
  const tints = (shade: number) =>
    Object.fromEntries(
      ['teal', 'orange', 'red', 'blue', 'gray', 'yellow'].map((name) => [
        `--mantine-color-${name}-light-color`,
        colors[name]?.[shade] ?? '',
      ]),
    );
  return {
    variables: {},
    light: {
      '--mantine-color-dimmed': '#535b63',
      '--mantine-color-placeholder': '#666e76',
      '--mantine-color-anchor': '#086347',
      ...tints(9),
      '--mantine-color-teal-light-color': '#065f46',
      '--mantine-color-teal-light': '#e3f5ee',
      '--mantine-color-orange-light-color': '#8a3206',
      '--mantine-color-yellow-light-color': '#7a4a00',
      '--mantine-color-error': '#b3261e',
    },
    dark: {
      '--mantine-color-dimmed': '#a6adb4',
      '--mantine-color-placeholder': '#9aa1a8',
      '--mantine-color-anchor': '#63e6be',
      ...tints(2),
      '--mantine-color-gray-light': '#3b4046',
      // Its own is that of a card.
      '--mantine-color-disabled': '#3b4046',
      '--mantine-color-disabled-color': '#8b939b',
    },
  };
};

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The client tries again what may be there soon.
      retry: false,
      staleTime: 1_000,
      // Without a network a question fails, and says so; the next one is asked as soon as it is back.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    // What is pressed without a network is not done later.
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
