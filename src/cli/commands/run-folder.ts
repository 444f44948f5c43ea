/** Default run folders, and tests on paths. */
import { existsSync, statSync } from 'node:fs'

const two = (n: number): string => String(n).padStart(2, '0')

/** Default folder of a new run, `runs/<name>-<yyyymmdd-hhmmss>` in local time, numbered if that exists. */
export function runFolder(name: string, now: Date = new Date()): string {
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`
  const time = `${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`
  const folder = `runs/${name.replace(/[^\w.-]+/g, '-')}-${day}-${time}`
  let free = folder
  for (let n = 2; existsSync(free); n++) free = `${folder}-${n}`
  return free
}

/** True when both paths name one file or folder that exists. */
export function isSamePlace(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** True when a path names a folder that exists. */
export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
