import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// Three files with fixed names: the C++ build embeds them into the binary.
export default defineConfig({
  base: './',
  plugins: [svelte()],
  server: { proxy: { '^/(v1|props|runs|health)': process.env.PGDLM_URL ?? 'http://127.0.0.1:8080' } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        assetFileNames: 'app[extname]',
        inlineDynamicImports: true,
      },
    },
  },
});
