/** How the house is laid out, as a test: who may name whom, and what no file may hold. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

/**
 * Rooms in rank order: a room is a concept file of `src` or one of its folders. A room may import rooms before it and
 * itself; rooms in one bracket never import one another. A new room goes into its place here, on purpose.
 */
const ranks: readonly (string | readonly string[])[] = [
  ...['error', 'seed', 'turn', 'persona', 'platform/', 'text/', 'case', 'chat', 'chats/'],
  ...[
    'episode',
    'patient',
    'exam',
    'reward',
    'env',
    'agent',
    'rollout',
    'group',
    'batch',
    'backend',
  ],
  ...['knowledge/', 'inference/', 'storage/'],
  ['cases/', 'envs/', 'agents/', 'rewards/', 'trainers/', 'testing/'],
  ...['evaluation/', 'tasks/', 'runs/'],
  'server/',
  ['exports/', 'cli/'],
  'index',
]

/** Rooms whose inside is nobody else's business, and the files by which they are entered. */
const doors: Readonly<Record<string, RegExp>> = {
  'inference/': /^(belief|belief-trace|generative-model|hypotheses|posterior|utility)$/,
  'knowledge/': /^(action-space|knowledge|load|per-knowledge|tiers)$/,
  'storage/':
    /^((case|episode|parquet)-files|(case|case-json|episode)-schema|episode-row|atomic-write|compressed-lines)$/,
}

const rankOf = new Map(ranks.flatMap((rooms, rank) => [rooms].flat().map((room) => [room, rank])))

const roomOf = (file: string): string =>
  file.includes('/') ? `${file.split('/')[0]}/` : basename(file, '.ts')

/** Code without the comments that stand on lines of their own, which may quote imports. */
const withoutComments = (code: string): string =>
  code.replace(/^\s*\/\*[\s\S]*?\*\/\s*$/gm, '').replace(/^\s*\/\/.*$/gm, '')

/** Every module a file names: static, re-exported, dynamic, for its types, or to add to it. */
const specifiers = (code: string): string[] =>
  [
    ...withoutComments(code).matchAll(
      /\bfrom\s*(['"])([^'"]+)\1|\bimport\s*\(?\s*(['"])([^'"]+)\3|\bdeclare\s+module\s*(['"])([^'"]+)\5/g,
    ),
  ].map((found) => found[2] ?? found[4] ?? found[6] ?? '')

/** What is wrong with one import of a file, if anything; paths are relative to src. */
function wrongImport(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.'))
    return specifier === 'bedside' || specifier.startsWith('bedside/')
      ? 'imports the package it is part of'
      : undefined
  if (!specifier.endsWith('.js')) return `imports ${specifier}, which does not end in .js`
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts')
  if (target.startsWith('..')) return `imports ${target}, outside of src`
  const [from, to] = [roomOf(file), roomOf(target)]
  if (from === to) return file === target ? 'imports itself' : undefined
  const [rank, below] = [rankOf.get(from), rankOf.get(to)]
  if (rank === undefined) return `is in ${from}, a room without a rank`
  if (below === undefined || below >= rank) return `imports ${target}, which is not of a lower rank`
  const door = doors[to]
  // The entry points show what users may need of any room.
  if (!door || from === 'index' || from === 'exports/') return undefined
  return door.test(posix.relative(to, target).replace(/\.ts$/, ''))
    ? undefined
    : `imports ${target}, which is no door of ${to}`
}

/** What is wrong with the imports of some files, given by their paths in src. */
const wrongImports = (files: ReadonlyMap<string, string>): string[] =>
  [...files].flatMap(([file, code]) =>
    specifiers(code).flatMap((specifier) => {
      const wrong = wrongImport(file, specifier)
      return wrong ? [`${file} ${wrong}`] : []
    }),
  )

const root = fileURLToPath(new URL('..', import.meta.url))

/** The text files under a folder of the repository, by path within it. */
function filesUnder(folder: string, ending: RegExp): Map<string, string> {
  const base = join(root, folder)
  const entries = readdirSync(base, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return new Map(
    paths.map((path) => [relative(base, path).replaceAll(sep, '/'), readFileSync(path, 'utf8')]),
  )
}

const src = filesUnder('src', /\.ts$/)

/** Files that import one another in a circle, types included: one circle, or none. */
function circle(files: ReadonlyMap<string, string>): readonly string[] {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): readonly string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const specifier of specifiers(files.get(file) ?? '')) {
      const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts')
      const found =
        specifier.startsWith('.') && files.has(target) ? visit(target, [...path, file]) : []
      if (found.length > 0) return found
    }
    done.add(file)
    return []
  }
  for (const file of files.keys()) {
    const found = visit(file, [])
    if (found.length > 0) return found
  }
  return []
}

const declarations =
  /^\s*(?:export\s+)?(?:declare\s+)?(?:(?:interface|class|enum)\s+(\w+)|type\s+(\w+)\s*(?:<[^\n]*)?=)/gm

/** Type names that more than one place declares, with the files. A module's additions to another are none. */
function declaredTwice(files: ReadonlyMap<string, string>): readonly string[] {
  const places = new Map<string, string[]>()
  for (const [file, code] of files)
    for (const [, name, alias] of withoutComments(code)
      .replace(/declare module [\s\S]*?^\}/gm, '')
      .matchAll(declarations)) {
      const declared = name ?? alias ?? ''
      places.set(declared, [...(places.get(declared) ?? []), file])
    }
  return [...places].flatMap(([name, all]) =>
    all.length > 1 ? [`${name}: ${all.join(', ')}`] : [],
  )
}

describe('rooms', () => {
  test('import rooms of a lower rank only, types included, and enter by the doors', () => {
    expect(src.size).toBeGreaterThan(50)
    expect(wrongImports(src)).toEqual([])
  })

  test('are the ones that are listed: put a new file into a room, or add a concept on purpose', () => {
    const found = readdirSync(join(root, 'src'), { withFileTypes: true }).map((entry) =>
      entry.isDirectory() ? `${entry.name}/` : basename(entry.name, '.ts'),
    )
    const listed = ranks.flat().filter((room) => room !== 'server/' || found.includes(room))
    expect(found.sort()).toEqual([...listed].sort())
  })

  test('have no circle', () => {
    expect(circle(src)).toEqual([])
    const two = [
      ['a.ts', "import type { B } from './b.js'"],
      ['b.ts', "export * from './a.js'"],
    ] as const
    expect(circle(new Map(two))).toEqual(['a.ts', 'b.ts', 'a.ts'])
  })

  test('hold at most 25 files of their own in a folder', () => {
    const counts = new Map<string, number>()
    for (const file of [...src.keys(), ...filesUnder('src', /\.py$/).keys()])
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
    expect([...counts].filter(([, count]) => count > 25)).toEqual([])
  })

  test('declare a type name once', () => {
    expect(declaredTwice(src)).toEqual([])
    const two = new Map([
      ['a.ts', 'interface Case {}'],
      ['b.ts', 'export type Case = string'],
    ])
    expect(declaredTwice(two)).toEqual(['Case: a.ts, b.ts'])
  })

  const says = (what: string, file: string, code: string, wrong: readonly string[]) =>
    test(what, () => expect(wrongImports(new Map([[file, code]]))).toEqual(wrong))

  says('may import a lower one', 'case.ts', "import { a } from './error.js'", [])
  says('may not import a higher one', 'case.ts', "import type { A } from './env.js'", [
    'case.ts imports env.ts, which is not of a lower rank',
  ])
  says('may not import a file that is in no room', 'case.ts', "import './news.js'", [
    'case.ts imports news.ts, which is not of a lower rank',
  ])
  says('need a rank', 'news/x.ts', "import '../error.js'", [
    'news/x.ts is in news/, a room without a rank',
  ])
  says(
    'may import themselves, however deep',
    'envs/patients/rule.ts',
    "import '../wrappers.js'",
    [],
  )
  says(
    'may not import one of the same rank, dynamically or for a type',
    'envs/check.ts',
    "const a = await import('../cases/files.js')\ntype B = import('../agents/chat.js').B",
    [
      'envs/check.ts imports cases/files.ts, which is not of a lower rank',
      'envs/check.ts imports agents/chat.ts, which is not of a lower rank',
    ],
  )
  says('may not add to one of the same rank', 'agents/x.ts', "declare module '../envs/x.js' {}", [
    'agents/x.ts imports envs/x.ts, which is not of a lower rank',
  ])
  says('are entered by their doors', 'agents/x.ts', "import '../inference/lookahead.js'", [
    'agents/x.ts imports inference/lookahead.ts, which is no door of inference/',
  ])
  says('end their imports in .js', 'envs/x.ts', "import { a } from './y'", [
    'envs/x.ts imports ./y, which does not end in .js',
  ])
  says('import nothing from outside of src', 'cli/x.ts', "import a from '../../data/a.js'", [
    'cli/x.ts imports ../data/a.ts, outside of src',
  ])
  says('do not import the package itself', 'envs/x.ts', "import { a } from 'bedside'", [
    'envs/x.ts imports the package it is part of',
  ])
  says(
    'may quote imports in a comment',
    'seed.ts',
    "/**\n * import { a } from './env.js'\n */\n// import './env.js'\nexport const a = 1",
    [],
  )
})

/** Functions of more than 40 lines, and whether the comment above says `Long because`. */
function longFunctions(code: string): { readonly line: number; readonly reason: boolean }[] {
  const source = ts.createSourceFile('x.ts', code, ts.ScriptTarget.Latest, true)
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const found: { line: number; reason: boolean }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const start = lineAt(node.getStart())
      if (lineAt(node.end) - start + 1 > 40) {
        const statement = ts.findAncestor(node, (one) => one.parent && ts.isSourceFile(one.parent))
        const above = code.slice(statement?.pos ?? node.pos, node.getStart())
        found.push({ line: start + 1, reason: above.includes('Long because') })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

describe('no file of src', () => {
  const none = (what: string, wrong: (file: string, code: string) => boolean) =>
    test(what, () => {
      expect([...src].filter(([file, code]) => wrong(file, code)).map(([file]) => file)).toEqual([])
    })

  none('has a default export', (_, code) => /^export default\b|\bas default\b/m.test(code))

  none('is called utils, helpers or types', (file) =>
    file.split(/[/.]/).some((part) => /^(utils?|helpers?|types?|misc|common|lib)$/.test(part)),
  )

  none('is an index but the one', (file) => basename(file) === 'index.ts' && dirname(file) !== '.')

  none('has more than 300 lines without saying why at its top', (_, code) => {
    const head = code.match(/^(?:#!.*\n)?\/\*\*[\s\S]*?\*\//)?.[0] ?? ''
    return code.trimEnd().split('\n').length > 300 && !head.includes('Long because')
  })

  test('has a function of more than 40 lines that does not say why', () => {
    const long = [...src].flatMap(([file, code]) =>
      longFunctions(code).map(({ line, reason }) => ({ place: `${file}:${line}`, reason })),
    )
    expect(long.filter(({ reason }) => !reason).map(({ place }) => place)).toEqual([])
    expect(long.length).toBeLessThanOrEqual(18)
  })

  none('begins without a sentence on what it is', (_, code) => !/^(?:#!.*\n)?\/\*\*/.test(code))

  none('draws from Math.random', (_, code) => withoutComments(code).includes('Math.random'))

  none(
    'reads the clock where results are made',
    (file, code) =>
      !/^(?:cli|runs|tasks)\//.test(file) &&
      /\bnew Date\b|\bDate\.now\b/.test(withoutComments(code)),
  )
})

describe('no file of the repository', () => {
  test('names a place of the machine it was written on', () => {
    const places = /(?:^|['"`\s(=])\/(?:work|home|root|Users|tmp|mnt)\//m
    const files = ['src', 'test', 'docs', 'examples', 'bench', 'data'].flatMap((folder) => {
      const names = readdirSync(root)
      return names.includes(folder)
        ? [...filesUnder(folder, /\.(?:ts|js|md|ya?ml|json)$/)].map(
            ([path, text]) => [`${folder}/${path}`, text] as const,
          )
        : []
    })
    expect(files.length).toBeGreaterThan(100)
    expect(files.filter(([, text]) => places.test(text)).map(([path]) => path)).toEqual([])
    expect(places.test("const folder = '/" + "home/someone/data'")).toBe(true)
  })
})
