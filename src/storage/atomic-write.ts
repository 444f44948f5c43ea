/**
 * Atomic writes of files and folders: written under a temporary name, then renamed.
 *
 * A symbolic link is followed: its target is written and the link stays. What is not a regular file (a FIFO, a device,
 * a standard stream) is streamed to and never replaced.
 */
import { randomUUID } from 'node:crypto'
import { statSync, write as writeTo } from 'node:fs'
import { mkdir, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Fault } from '../error.js'

/** A file that is being written. */
export interface NewFile {
  /** Appends; wait for it before the next. */
  write(data: string | Uint8Array): Promise<void>
  /** Ends the file and gives it its name. */
  close(): Promise<void>
  /** Leaves nothing behind of a file that was not closed; what was streamed is gone. */
  discard(): Promise<void>
}

/** The process's own descriptor that a path stands for; such a path cannot always be opened again. */
function descriptorOf(path: string): number | undefined {
  if (path === '/dev/stdout') return 1
  if (path === '/dev/stderr') return 2
  const [, number] = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path) ?? []
  return number === undefined ? undefined : Number(number)
}

/** As many links as Linux follows. */
const mostLinks = 40

/** The path behind symbolic links, which need not exist; links to a descriptor's path end there. */
async function followLinks(path: string): Promise<string> {
  let at = path
  for (let links = 0; links <= mostLinks; links++) {
    if (descriptorOf(at) !== undefined) return at
    const target = await readlink(at).catch(() => undefined)
    if (target === undefined) return at
    at = resolve(await realpath(dirname(at)), target)
  }
  throw new Fault('bad-input', `${path}: expected a file, got a circle of symbolic links`)
}

const statOf = (path: string) =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

type Destination =
  /** Written under another name, then renamed. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'device'; readonly path: string }
  | { readonly kind: 'descriptor'; readonly fd: number }

async function destinationOf(path: string): Promise<Destination> {
  const target = await followLinks(path)
  const fd = descriptorOf(target)
  if (fd !== undefined) return { kind: 'descriptor', fd }
  const there = await statOf(path)
  if (there?.isDirectory()) throw new Fault('bad-input', `${path}: expected a file, got a folder`)
  return there && !there.isFile() ? { kind: 'device', path } : { kind: 'file', path: target }
}

const writeSome = promisify(writeTo)

/** Writes everything; a pipe that does not wait for its reader is tried again. */
async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; )
    try {
      at += (await writeSome(fd, bytes, at, bytes.length - at, null)).bytesWritten
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error // errors of fs have a code
      await sleep(2)
    }
}

/**
 * Begins a file that has its name only when it is closed; what was there before stays until then.
 * @throws Fault `bad-input` for a folder; the system's error for a place that cannot be written
 */
export async function newFile(path: string): Promise<NewFile> {
  const to = await destinationOf(path)
  if (to.kind === 'descriptor')
    return {
      write: (data) => writeAll(to.fd, typeof data === 'string' ? Buffer.from(data) : data),
      close: async () => {},
      discard: async () => {},
    }
  const temporary = to.kind === 'file' ? `${to.path}.${randomUUID()}.partial` : undefined
  const handle = await open(temporary ?? to.path, 'w')
  const discard = async (): Promise<void> => {
    await handle.close().catch(() => {})
    if (temporary !== undefined) await rm(temporary, { force: true })
  }
  return {
    write: (data) => handle.writeFile(data),
    async close() {
      try {
        await handle.close()
        if (temporary !== undefined) await rename(temporary, to.path)
      } catch (error) {
        await discard()
        throw error
      }
    },
    discard,
  }
}

/** Whether a path names this process's standard output. */
export const isStandardOutput = (path: string): boolean => descriptorOf(path) === 1

/** Whether bytes go straight to what a path names: a pipe, a device, a standard stream. */
export function isStreamed(path: string): boolean {
  if (descriptorOf(path) !== undefined) return true
  const there = statSync(path, { throwIfNoEntry: false })
  return there !== undefined && !there.isFile() && !there.isDirectory()
}

/** Writes a whole file; see {@link newFile}. */
export async function writeFileAtomically(
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const file = await newFile(path)
  try {
    await file.write(content)
  } catch (error) {
    await file.discard()
    throw error
  }
  await file.close()
}

/** Whether a name in a folder is that of a write that was cut off by the end of its process. */
export const isLeftover = (name: string): boolean => /\.[\da-f-]+\.(partial|tmp|old)$/.test(name)

/** Error codes of a rename to a folder that somebody else has put there meanwhile. */
const taken: readonly unknown[] = ['ENOTEMPTY', 'EEXIST', 'EPERM']

/** Renames a folder to `place`; what is there is moved away first. Another writer may come in between. */
async function replaceFolder(fresh: string, place: string): Promise<void> {
  const moved: string[] = []
  for (let tries = 1; ; tries++) {
    const old = `${place}.${randomUUID()}.old`
    await rename(place, old).then(
      () => moved.push(old),
      () => undefined,
    )
    try {
      await rename(fresh, place)
      for (const one of moved) await rm(one, { recursive: true, force: true })
      return
    } catch (error) {
      if (tries > 20 || !taken.includes((error as NodeJS.ErrnoException).code)) throw error // errors of fs have a code
    }
  }
}

/**
 * Where a folder can be read: its own path, or, where a writer was killed between its two renames, the folder that it
 * was about to replace.
 */
export async function readableFolder(folder: string): Promise<string> {
  const place = await followLinks(folder)
  for (let tries = 0; tries < 3; tries++) {
    if (await statOf(place)) return folder
    const names = await readdir(dirname(place)).catch(() => [])
    const old = names.find(
      (name) => name.startsWith(`${basename(place)}.`) && name.endsWith('.old'),
    )
    if (old === undefined) return folder
    // A writer that lives needs a moment for its second rename.
    if (tries === 2) return join(dirname(place), old)
    await sleep(20)
  }
  return folder
}

/**
 * Fills a temporary folder, then renames it; an existing folder stays until the rename. A process that is killed just
 * before it leaves the existing one under another name: see {@link readableFolder}.
 * @throws Fault `bad-input` for a file
 */
export async function writeFolderAtomically(
  folder: string,
  fill: (fresh: string) => Promise<void>,
): Promise<void> {
  const place = await followLinks(folder)
  if ((await statOf(place))?.isDirectory() === false)
    throw new Fault('bad-input', `${folder}: expected a folder, got a file`)
  const fresh = `${place}.${randomUUID()}.tmp`
  await mkdir(dirname(place), { recursive: true })
  await mkdir(fresh)
  try {
    await fill(fresh)
    await replaceFolder(fresh, place)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}
