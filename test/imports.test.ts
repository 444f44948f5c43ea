/** How the house is laid out, as a test: who may name whom, and what no file may hold. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/** The concepts, in the order in which each may name those before it. A new concept goes into its place here. */
const concepts = `
  error package-folder lines whole-file near-names seed retry pool chat-reply chat
  remembering turn hidden reasoned-reply words voice phrases
  codes persona case-schema case tiers knowledge-file knowledge knowledge-check knowledge-folder likelihood families hypotheses utility information sweep order outlook belief prospect phrasebook posterior actionSpace
  patient exam episode track reward contributions quick-check episode-schema episode-reader episode-row episode-table episode-file
  env agent rollout group correlation signal-accuracy signal batch backend event
  estimate audit-play audit-parts audit adversary evaluate tally evaluation recipe run-directory training-report
`
  .trim()
  .split(/\s+/)

/** Where folders are put together; only these may name folders, and no other file may name these. */
const compositions = [
  'index',
  'registry',
  'doctors',
  'setting',
  'backends',
  'setting-worlds',
  'auditing',
  'training-plan',
  'training-loops',
  'training-run',
  'exports/*',
  'cli/*',
  'server/*',
]

const isComposition = (file: string): boolean =>
  compositions.some((name) =>
    name.endsWith('/*') ? file.startsWith(name.slice(0, -1)) : file === `${name}.ts`,
  )

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
      ? 'names the package it is part of'
      : undefined
  if (!specifier.endsWith('.js')) return `names ${specifier}, which does not end in .js`
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts')
  if (target.startsWith('..')) return `names ${target}, outside of src`
  if (isComposition(file)) return undefined
  if (isComposition(target)) return `names ${target}, which puts folders together`
  const [folder, own] = [target, file].map((path) => (path.includes('/') ? path.split('/')[0] : ''))
  if (own === '') {
    if (folder !== '') return `is a concept and names the folder of ${target}`
    const earlier = concepts.slice(0, Math.max(0, concepts.indexOf(basename(file, '.ts'))))
    return earlier.includes(basename(target, '.ts')) ? undefined : `does not come after ${target}`
  }
  return folder === '' || folder === own ? undefined : `names ${target}, of another folder`
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

describe('the import rule', () => {
  test('holds for every file of src', () => {
    expect(src.size).toBeGreaterThan(50)
    expect(wrongImports(src)).toEqual([])
  })

  test('knows every concept, and no concept that is gone', () => {
    const found = [...src.keys()].filter((file) => !file.includes('/') && !isComposition(file))
    expect(found.map((file) => basename(file, '.ts')).sort()).toEqual([...concepts].sort())
  })

  const says = (what: string, file: string, code: string, wrong: readonly string[]) =>
    test(what, () => expect(wrongImports(new Map([[file, code]]))).toEqual(wrong))

  says('lets a concept name an earlier one', 'case.ts', "import { a } from './error.js'", [])
  says('stops a concept that names a later one', 'case.ts', "import type { A } from './env.js'", [
    'case.ts does not come after env.ts',
  ])
  says('stops a concept that names itself', 'case.ts', "export { a } from './case.js'", [
    'case.ts does not come after case.ts',
  ])
  says('stops a concept that nobody put in order', 'news.ts', "import './error.js'", [
    'news.ts does not come after error.ts',
  ])
  says('stops a concept that names one nobody put in order', 'case.ts', "import './news.js'", [
    'case.ts does not come after news.ts',
  ])
  says('stops a concept that names a folder', 'env.ts', "import { a } from './envs/wrappers.js'", [
    'env.ts is a concept and names the folder of envs/wrappers.ts',
  ])
  says(
    'lets a folder name concepts and itself, however deep',
    'envs/patients/rule.ts',
    "import { a } from '../../case.js'\nimport { b } from '../wrappers.js'\nimport { c } from './act.js'",
    [],
  )
  says(
    'stops a folder that names another, statically',
    'envs/check.ts',
    "import {\n  a,\n  b,\n} from '../testing/env.js'",
    ['envs/check.ts names testing/env.ts, of another folder'],
  )
  says(
    'stops a folder that names another, dynamically or for a type',
    'envs/check.ts',
    "const a = await import('../cases/files.js')\ntype B = import('../agents/chat.js').B",
    [
      'envs/check.ts names cases/files.ts, of another folder',
      'envs/check.ts names agents/chat.ts, of another folder',
    ],
  )
  says(
    'stops a folder that adds to another',
    'agents/x.ts',
    "declare module '../envs/register.js' {}",
    ['agents/x.ts names envs/register.ts, of another folder'],
  )
  says('stops a folder that names a composition', 'envs/x.ts', "import '../registry.js'", [
    'envs/x.ts names registry.ts, which puts folders together',
  ])
  says('stops a concept that names a composition', 'event.ts', "export * from './index.js'", [
    'event.ts names index.ts, which puts folders together',
  ])
  says(
    'lets compositions name anything',
    'cli/main.ts',
    "import '../registry.js'\nimport '../envs/x.js'\nimport 'commander'",
    [],
  )
  says('stops an import without .js', 'envs/x.ts', "import { a } from './y'", [
    'envs/x.ts names ./y, which does not end in .js',
  ])
  says('stops an import from outside of src', 'cli/x.ts', "import a from '../../data/a.js'", [
    'cli/x.ts names ../data/a.ts, outside of src',
  ])
  says('stops a file that imports the package itself', 'envs/x.ts', "import { a } from 'bedside'", [
    'envs/x.ts names the package it is part of',
  ])
  says(
    'does not mind what a comment says',
    'seed.ts',
    "/**\n * import { a } from './env.js'\n */\n// import './env.js'\nexport const a = 1",
    [],
  )
})

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

  none('begins without a sentence on what it is', (_, code) => !/^(?:#!.*\n)?\/\*\*/.test(code))

  none('draws from Math.random', (_, code) => withoutComments(code).includes('Math.random'))

  none(
    'reads the clock where results are made',
    (file, code) =>
      !isComposition(file) && /\bnew Date\b|\bDate\.now\b/.test(withoutComments(code)),
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
