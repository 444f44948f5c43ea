/** Packages of files for a job: a ZIP archive whose bytes depend on the files alone, and its name by their hash. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { deflateRawSync } from 'node:zlib'

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c
})

// Not `zlib.crc32`: Node 20 has none.
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

/** First of January 1980: the earliest date that the format knows. */
const noDate = 0x21

/** The fields that both headers of a file have in common. */
function commonFields(name: Buffer, bytes: Uint8Array, packed: Uint8Array): Buffer {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0) // version that can read it
  fields.writeUInt16LE(0x800, 2) // names are UTF-8
  fields.writeUInt16LE(8, 4) // deflate
  fields.writeUInt16LE(noDate, 8)
  fields.writeUInt32LE(crc32(bytes), 10)
  fields.writeUInt32LE(packed.length, 14)
  fields.writeUInt32LE(bytes.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}

/** Packs files by their paths, with slashes. The same files give the same bytes. */
export function zipFiles(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = Buffer.from(path)
    const packed = deflateRawSync(bytes)
    const fields = commonFields(name, bytes, packed)
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE((0o644 << 16) >>> 0, 6)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x03'), fields, tail, name)
    bodies.push(body)
    offset += body.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(files.size, 8)
  end.writeUInt16LE(files.size, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, listed, end])
}

/** Name of a package by the hash of its bytes. */
export const packageName = (zip: Uint8Array): string =>
  `_ray_pkg_${createHash('sha256').update(zip).digest('hex').slice(0, 32)}.zip`

/** The files under a folder whose names fit, by their paths below `into`. */
export async function filesOf(
  folder: string,
  fits: RegExp,
  into = '',
): Promise<ReadonlyMap<string, Uint8Array>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && fits.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  const read = paths.map(async (path): Promise<[string, Uint8Array]> => {
    const name = relative(folder, path).split(sep).join('/')
    return [into === '' ? name : `${into}/${name}`, await readFile(path)]
  })
  return new Map(await Promise.all(read))
}
