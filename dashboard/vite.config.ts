import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * Moves the style sheet behind the skeleton of index.html: in the head it would delay the first paint. The script still waits
 * for it. The order of style sheets no longer decides, because all rules of Mantine are in a cascade layer.
 */
const lateStyleSheet: Plugin = {
  name: 'late-style-sheet',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const [link = ''] = /<link rel="stylesheet"[^>]*>/.exec(html) ?? [];
      return html.replace(link, '').replace('</body>', `${link}</body>`);
    },
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react(), lateStyleSheet],
  // The first versions that support light-dark(), so that the build does not rewrite it.
  build: {
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    reportCompressedSize: false,
    manifest: true,
  },
});
