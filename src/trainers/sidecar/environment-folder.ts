/** Prepares the folder of an environment: checks that it may be emptied, and marks it as unfinished. */
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Fault, rethrowAsFault } from '../../error.js'
import { stampFile } from './environment.js'

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Empties an environment's folder and marks it as unfinished. @throws Fault `bad-input` for any other folder */
export async function prepareFolder(folder: string): Promise<void> {
  const stamp = await readFile(stampFile(folder), 'utf8').catch(() => undefined)
  const entries = existsSync(folder) ? readdirSync(folder) : []
  if (stamp === undefined && entries.length > 0)
    throw new Fault(
      'bad-input',
      `${folder}: expected no such folder, an empty one, or an environment made by this command; found ${entries.length} entries of something else. Remove it, or choose another with \`--env DIR\``,
    )
  const other = Number(/^unfinished (\d+)/.exec(stamp ?? '')?.[1])
  if (other && other !== process.pid && alive(other))
    throw new Fault(
      'bad-input',
      `${folder}: another set-up is under way there (process ${other}); wait for it, or remove the folder where that is none`,
    )
  const unwritable = `${folder}: expected a folder that can be written; choose one with \`--env DIR\``
  await rethrowAsFault('bad-input', unwritable, async () => {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await writeFile(stampFile(folder), `unfinished ${process.pid}\n`)
  })
  // Environments are often created inside a repository, and must not be committed to it.
  const ignore = join(dirname(folder), '.gitignore')
  if (basename(dirname(folder)) === '.venvs' && !existsSync(ignore)) await writeFile(ignore, '*\n')
}
