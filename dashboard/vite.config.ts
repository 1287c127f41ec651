import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react()],
  // Those that know light-dark(): it is not to be written otherwise.
  build: {
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    reportCompressedSize: false,
    manifest: true,
  },
});
