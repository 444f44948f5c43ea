/** The public face: which names each entry point exports, that they are few at the root, and that each has a sentence. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest: { readonly exports: Readonly<Record<string, unknown>> } = JSON.parse(
  readFileSync(`${root}package.json`, 'utf8'),
)
const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json')
const sourceOf = (entry: string): string =>
  entry === '.' ? `${root}src/index.ts` : `${root}src/exports/${entry.slice(2)}.ts`

const config = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
const program = ts.createProgram(entries.map(sourceOf), { ...options, types: [], noResolve: false })
const checker = program.getTypeChecker()

/** What an entry point exports: the name, whether it is a value, and where it is declared. */
function exportsOf(entry: string) {
  const source = program.getSourceFile(sourceOf(entry))
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`Expected ${sourceOf(entry)} to be a module, it is none`)
  return checker.getExportsOfModule(module).map((exported) => {
    const symbol =
      exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    return { name: exported.name, symbol, value: (symbol.flags & ts.SymbolFlags.Value) !== 0 }
  })
}

const all = new Map(entries.map((entry) => [entry, exportsOf(entry)] as const))

test('every entry of package.json is a file of src, and holds something', () => {
  expect([...all].filter(([, names]) => names.length === 0)).toEqual([])
})

test('the root has at most 80 names', () => {
  expect(all.get('.')?.length).toBeLessThanOrEqual(80)
})

test('a name means one thing, whichever entry it comes from', () => {
  const meanings = new Map<string, Set<ts.Symbol>>()
  for (const names of all.values())
    for (const { name, symbol } of names)
      meanings.set(name, (meanings.get(name) ?? new Set()).add(symbol))
  expect([...meanings].filter(([, symbols]) => symbols.size > 1).map(([name]) => name)).toEqual([])
})

describe('every name has a doc sentence', () => {
  test.each(entries)('%s', (entry) => {
    const bare = (all.get(entry) ?? []).filter(
      ({ symbol }) =>
        ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim() === '',
    )
    expect(bare.map(({ name }) => name)).toEqual([])
  })
})

test('the names of each entry are those of the last release; `vitest -u` after a change on purpose', async () => {
  const text = [...all]
    .map(([entry, names]) => {
      const line = (kind: string, value: boolean) =>
        names
          .filter((one) => one.value === value)
          .map(({ name }) => `  ${kind} ${name}`)
          .sort()
      return [entry, ...line('value', true), ...line('type', false)].join('\n')
    })
    .join('\n\n')
  await expect(`${text}\n`).toMatchFileSnapshot('exports.names.txt')
})
