import { defineConfig } from 'tsdown'

export default defineConfig({
  entry: ['src/index.ts', 'src/exports/*.ts', 'src/cli/main.ts'],
  outDir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: true,
  // One output file per source file, so that `new URL('../data/…', import.meta.url)` means the same in src and in dist.
  unbundle: true,
  fixedExtension: false,
})
