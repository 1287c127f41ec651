import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * Moves the style sheets behind the skeleton of index.html: in the head they would delay the first paint. The script still waits
 * for them. The order of style sheets no longer decides, because all rules of Mantine are in a cascade layer.
 */
const lateStyleSheet: Plugin = {
  name: 'late-style-sheet',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => {
      const links = html.match(/<link rel="stylesheet"[^>]*>/g) ?? [];
      const rest = links.reduce((text, link) => text.replace(link, ''), html);
      return rest.replace('</body>', `${links.join('')}</body>`);
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
    // One file of what many screens use: the headers of twenty small files weigh 12 kB.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', test: /./, minShareCount: 8 }] } },
    },
  },
});
