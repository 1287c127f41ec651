/** One scale of type and space, one accent, and colours that are legible in both themes. */
import { createTheme, type CSSVariablesResolver } from '@mantine/core';

// The list itself scrolls: axe asks that a scrolling element around it be reachable by the keyboard.
const chooser = {
  defaultProps: { withScrollArea: false },
  styles: { options: { maxHeight: 240, overflowY: 'auto' } },
} as const;

export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: { light: 9, dark: 9 },
  autoContrast: true,
  defaultRadius: 'md',
  respectReducedMotion: true,
  components: {
    // Inside the main area: content outside every landmark is missed by users of a screen reader.
    Popover: { defaultProps: { portalProps: { target: '#overlays' } } },
    // Makes the heads of all tables look like those of `DataTable`.
    Table: {
      styles: { thead: { fontSize: 'var(--mantine-font-size-xs)', color: 'var(--mantine-color-dimmed)' } },
    },
    Select: chooser,
    MultiSelect: chooser,
    Autocomplete: chooser,
  },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontSizes: { xs: '0.8125rem', sm: '0.875rem', md: '1rem', lg: '1.25rem', xl: '1.625rem' },
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1.25rem', lineHeight: '1.3' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
      h4: { fontSize: '1rem', lineHeight: '1.4' },
    },
  },
});

/** Mantine's own greys and tints are too pale for small text. */
export const inks: CSSVariablesResolver = ({ colors }) => {
  const tints = (shade: number) =>
    Object.fromEntries(
      ['teal', 'orange', 'red', 'blue', 'gray', 'yellow', 'violet'].map((name) => [
        `--mantine-color-${name}-light-color`,
        colors[name]?.[shade] ?? '',
      ]),
    );
  return {
    variables: {},
    light: {
      // Mantine lightens a button below the pointer: too little contrast to its label.
      '--mantine-color-teal-filled-hover': '#066b4c',
      '--mantine-color-dimmed': '#535b63',
      '--mantine-color-placeholder': '#666e76',
      '--mantine-color-anchor': '#086347',
      ...tints(9),
      '--mantine-color-teal-light-color': '#065f46',
      '--mantine-color-teal-light': '#e3f5ee',
      '--mantine-color-teal-light-hover': '#d5efe3',
      '--mantine-color-orange-light-color': '#8a3206',
      '--mantine-color-yellow-light-color': '#7a4a00',
      '--mantine-color-error': '#b3261e',
    },
    dark: {
      '--mantine-color-teal-filled-hover': '#066b4c',
      '--mantine-color-dimmed': '#a6adb4',
      '--mantine-color-placeholder': '#9aa1a8',
      '--mantine-color-anchor': '#63e6be',
      ...tints(2),
      '--mantine-color-gray-light': '#3b4046',
      // Mantine's disabled colour is the same as a card's background.
      '--mantine-color-disabled': '#3b4046',
      '--mantine-color-disabled-color': '#8b939b',
    },
  };
};
