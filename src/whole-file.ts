/** Files that are there whole or not at all. */
import { rename, rm, writeFile } from 'node:fs/promises'

/** Writes beside the place, then renames; what was there before stays until then. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.partial`
  try {
    await writeFile(temporary, content)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
