import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react()],
  // The first versions that support light-dark(), so that the build does not rewrite it.
  build: {
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    reportCompressedSize: false,
    manifest: true,
  },
});
