/** Atomic writes of files and folders: written under a temporary name, then renamed. */
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file atomically; an existing file stays until the rename. */
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

/** Fills a temporary folder, then renames it; an existing folder stays until the rename. */
export async function writeWholeFolder(
  folder: string,
  fill: (fresh: string) => Promise<void>,
): Promise<void> {
  const fresh = `${folder}.${randomUUID()}.tmp`
  const old = `${folder}.${randomUUID()}.old`
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(fresh)
  try {
    await fill(fresh)
    const replaced = await rename(folder, old).then(
      () => true,
      () => false,
    )
    await rename(fresh, folder)
    if (replaced) await rm(old, { recursive: true, force: true })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}
