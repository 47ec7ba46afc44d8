import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npm run console` finds the API. */
const api = { target: process.env.API_URL ?? 'http://localhost:8080' }

/** What every screen needs, in three files: many small ones compress worse. */
const FIRST_LOAD = [
  { name: 'react', test: /[\\/](react|react-dom|scheduler|@tanstack[\\/](react-)?router(-core)?)[\\/]/ },
  { name: 'libraries', test: /[\\/]node_modules[\\/]/ },
  { name: 'base', test: /./ },
].map(group => ({ ...group, tags: ['$initial' as const] }))

/** Small modules of many screens, in one file: each alone would be a request of its own, and a screen needs dozens. */
const SHARED = { name: 'shared', minShareCount: 16, maxModuleSize: 2000 }

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  html: { cspNonce: '__CSP_NONCE__' }, // the gateway puts the nonce of each answer here
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'], // light-dark() as it stands
    cssCodeSplit: false, // small files of styles compress badly
    assetsInlineLimit: 0, // fonts as data are refused by the policy
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: [...FIRST_LOAD, SHARED] } } },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
  },
  server: { proxy: { '/api': api } },
  preview: { proxy: { '/api': api } },
})
