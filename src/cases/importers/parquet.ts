/** Reads the rows of a Parquet file; checks first that its columns are there. */
import { readFile } from 'node:fs/promises'
import type { AsyncBuffer, SchemaTree } from 'hyparquet'
import { errorMessage, Fault, rethrowAsFault } from '../../error.js'

function schemaFields(node: SchemaTree): readonly SchemaTree[] {
  const only = node.children.length === 1 ? node.children[0] : undefined
  const wrapped =
    only !== undefined && /^(?:list|array|bag|element|item|array_element)$/.test(only.element.name)
  return wrapped ? schemaFields(only) : node.children
}

function requireColumns(path: string, schema: SchemaTree, columns: readonly string[]): void {
  for (const column of columns) {
    let node = schema
    const names = column.split('.')
    for (const [depth, name] of names.entries()) {
      const fields = schemaFields(node)
      const next = fields.find((field) => field.element.name === name)
      if (!next) {
        const missing = names.slice(0, depth + 1).join('.')
        const found = fields.map((field) => field.element.name).join(', ') || 'no fields'
        throw new Fault(
          'bad-input',
          `${path}: column \`${missing}\` is missing, expected ${columns.join(', ')}, found ${found}${depth > 0 ? ` in \`${names.slice(0, depth).join('.')}\`` : ''}`,
        )
      }
      node = next
    }
  }
}

const magic = 'PAR1'

async function readBytes(path: string): Promise<AsyncBuffer> {
  const bytes = await rethrowAsFault('bad-input', path, () => readFile(path))
  const head = bytes.subarray(0, 4).toString('latin1')
  const tail = bytes.subarray(-4).toString('latin1')
  if (bytes.length < 12 || head !== magic || tail !== magic)
    throw new Fault(
      'bad-input',
      `${path}: not a whole parquet file: expected ${magic} at both ends, got ${JSON.stringify(head)} and ${JSON.stringify(tail)} in ${bytes.length} bytes`,
    )
  const { buffer, byteOffset, byteLength } = bytes
  return {
    byteLength,
    slice: (start, end = byteLength) =>
      // A file's Buffer is never backed by shared memory.
      (buffer as ArrayBuffer).slice(byteOffset + start, byteOffset + end),
  }
}

/**
 * Reads all rows as plain objects.
 * @param columns required columns as dotted paths (`a.b` is field `b` of struct `a`, or of the structs in list `a`);
 * their top-level columns are read whole
 * @throws Fault `bad-input` when the file is missing, not Parquet, damaged, or lacks a column
 */
export async function readParquet(path: string, columns: readonly string[]): Promise<unknown[]> {
  const file = await readBytes(path)
  const [{ parquetMetadataAsync, parquetReadObjects, parquetSchema }, { compressors }] =
    await Promise.all([import('hyparquet'), import('hyparquet-compressors')])
  const damaged = (error: unknown) =>
    new Fault('bad-input', `${path}: the parquet file is damaged: ${errorMessage(error)}`, {
      cause: error,
    })
  const metadata = await parquetMetadataAsync(file).catch((error: unknown) => {
    throw damaged(error)
  })
  requireColumns(path, parquetSchema(metadata), columns)
  const wanted = [...new Set(columns.map((column) => column.split('.')[0] ?? column))]
  return await parquetReadObjects({ file, metadata, compressors, columns: wanted }).catch(
    (error: unknown) => {
      throw damaged(error)
    },
  )
}
