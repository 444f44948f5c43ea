import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: [
    'src/index.ts',
    'src/exports/*.ts',
    'src/cli/main.ts',
    // Started by its path, as a thread.
    'src/rewards/text/overlap-worker.ts',
  ],
  outDir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  // Few files: importing a hundred small ones takes longer than everything they do.
  fixedExtension: false,
})
