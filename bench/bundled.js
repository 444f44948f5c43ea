/** Loads one source file of `src` that no subpath exports, bundled on the fly. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Imports `src/<path>`. */
export async function importSource(path) {
  const folder = mkdtempSync(join(root, 'dist', 'bench-'))
  try {
    const bundle = await rolldown({
      input: join(root, 'src', path),
      platform: 'node',
      transform: { target: 'node20' },
      logLevel: 'silent',
    })
    const file = join(folder, 'source.js')
    await bundle.write({ file, format: 'esm' })
    await bundle.close()
    return await import(pathToFileURL(file).href)
  } finally {
    await rm(folder, { recursive: true })
  }
}
