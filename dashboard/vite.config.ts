import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Puts the style sheet behind the skeleton of index.html: in the head it would hold back the first paint. */
const lateStyle: Plugin = {
  name: 'late-style',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const [sheet = ''] = /<link rel="stylesheet"[^>]*>/.exec(html) ?? [];
      return html.replace(sheet, '').replace('</body>', `${sheet}</body>`);
    },
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react(), lateStyle],
  // The first versions that support light-dark(), so that the build does not rewrite it.
  build: {
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    reportCompressedSize: false,
    manifest: true,
  },
});
