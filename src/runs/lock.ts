/** Lock of a run directory: one process at a time writes into it. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../error.js'

/** Name of the lock file in a run directory. */
export const lockName = 'run.lock'

/** Who holds a lock. */
interface Owner {
  readonly pid: number
  readonly host: string
  /** When the lock was taken, in ISO 8601. */
  readonly since: string
  /** Start of the process, where the system says it: tells it from a later one of the same id. */
  readonly process?: string
}

/** Code of a system error. */
const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code // errors of fs have one

/** Start of a process on Linux, in clock ticks since a boot; undefined elsewhere. */
function processStart(pid: number): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // The name of the program is in parentheses and may hold spaces; the start is the 20th field after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return fields?.[19] && `${boot}/${fields[19]}`
  } catch {
    return undefined
  }
}

function thisProcess(): Owner {
  const start = processStart(process.pid)
  const since = new Date().toISOString()
  return { pid: process.pid, host: hostname(), since, ...(start ? { process: start } : {}) }
}

/** Whether the owner's process has ended, as far as this host can tell. */
function hasEnded(owner: Owner): boolean {
  if (owner.host !== hostname()) return false
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
  const start = processStart(owner.pid)
  return start !== undefined && owner.process !== undefined && start !== owner.process
}

/** Reads the owner that a lock names; undefined for a file that is no lock. */
function ownerIn(text: string): Owner | undefined {
  try {
    const { pid, host, since } = JSON.parse(text)
    const fits = Number.isSafeInteger(pid) && pid > 0 && typeof host === 'string'
    return fits && typeof since === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

const ownerText = ({ pid, host, since }: Owner): string =>
  `process ${pid} on ${host}, since ${since}`

const heldFault = (folder: string, path: string, owner: Owner | undefined): Fault =>
  new Fault(
    'bad-input',
    `${folder}: expected a folder that nobody else writes into, got one in use (${owner ? ownerText(owner) : 'by an unknown process'}); wait for it, choose another --out, or, if that process is surely gone, remove ${path}`,
  )

/** Creates a lock whole, or not at all where there is one. @returns whether it was created */
async function createLock(path: string, text: string): Promise<boolean> {
  const fresh = `${path}.${randomUUID()}.tmp`
  await writeFile(fresh, text)
  try {
    await link(fresh, path).catch((error) => {
      if (codeOf(error) === 'EEXIST') throw error
      // A file system without hard links.
      return writeFile(path, text, { flag: 'wx' })
    })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  } finally {
    await rm(fresh, { force: true })
  }
}

const readLock = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(() => undefined)

/** Removes a lock that still holds `text`. */
async function releaseLock(path: string, text: string): Promise<void> {
  if ((await readLock(path)) === text) await rm(path, { force: true })
}

/** Takes a lock; returns the owner before, where that one had ended without a release. */
async function takeLock(folder: string, path: string, text: string): Promise<Owner | undefined> {
  for (let tries = 1; ; tries++) {
    if (await createLock(path, text)) return undefined
    const there = await readLock(path)
    // Released just now.
    if (there === undefined && tries < 20) continue
    const owner = there === undefined ? undefined : ownerIn(there)
    if (!owner || !hasEnded(owner)) throw heldFault(folder, path, owner)
    // Of several that see the same stale lock, one replaces it; a lock on the replacing says which.
    const claim = `${path}.taking`
    await takeLock(folder, claim, text)
    try {
      if ((await readLock(path)) !== there) continue
      await writeFile(`${claim}.tmp`, text)
      await rename(`${claim}.tmp`, path)
      return owner
    } finally {
      await releaseLock(claim, text)
    }
  }
}

/** A run directory held by this process; disposing it releases it. */
export interface RunLock extends AsyncDisposable {
  /** Says whose lock was taken over, where its process had ended without releasing it. */
  readonly takenOver: string | undefined
}

/**
 * Holds a run directory, which is made if missing, for one writer. The lock of a process that has ended on this host is
 * taken over.
 * @throws Fault `bad-input` naming the process that holds it
 */
export async function lockRun(folder: string): Promise<RunLock> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, lockName)
  const text = `${JSON.stringify(thisProcess())}\n`
  const before = await takeLock(folder, path, text)
  return {
    takenOver:
      before &&
      `${folder}: its lock is of a process that has ended without releasing it (${ownerText(before)}); taken over`,
    async [Symbol.asyncDispose]() {
      await releaseLock(path, text)
      // Fails, and is left, where the run has begun.
      await rmdir(folder).catch(() => undefined)
    },
  }
}
