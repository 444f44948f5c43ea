import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Fault } from '../../src/error.js'
import type { Disease, FindingDefinition } from '../../src/knowledge/knowledge.js'
import {
  backgroundFor,
  clinic,
  expandPanel,
  fitsBand,
  measureFor,
  stateProbabilities,
} from '../../src/knowledge/knowledge.js'
import { loadCheckedKnowledge, loadKnowledge } from '../../src/knowledge/load.js'
import { findingAttributes, ordinalProbabilities } from '../../src/knowledge/schema.js'
import { smallKnowledge, smallKnowledgeFolder } from '../fixtures/small-knowledge.js'

type Json = Record<string, unknown>
/** The parts of a knowledge base by file name, open to any change. */
type Files = Record<'belly.json' | 'chest.json' | 'shared.json', Record<string, Json[]>>

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A new folder of files; indented, so that errors have lines. */
function knowledgeFolder(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'bedside-knowledge-'))
  folders.push(folder)
  for (const [name, content] of Object.entries(files))
    writeFileSync(
      join(folder, name),
      typeof content === 'string' ? content : JSON.stringify(content, null, 2),
    )
  return folder
}

/** The small knowledge base as its files hold it. */
function smallKnowledgeFiles(): Files {
  const folder = smallKnowledgeFolder()
  folders.push(folder)
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const names = ['belly.json', 'chest.json', 'shared.json']
  // Written by the fixture under these names.
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Files
}

/** A folder with one thing of the small knowledge base changed. */
function damaged(change: (files: Files) => void): string {
  const files = smallKnowledgeFiles()
  change(files)
  return knowledgeFolder(files)
}

const named = (list: Json[] | undefined, id: string): Json => {
  const found = list?.find((each) => each.id === id)
  if (!found) throw new Error(`no ${id} in the fixture`)
  return found
}

/** What loading a folder says; a folder that loads says nothing. */
function refusal(folder: string): string {
  try {
    loadKnowledge(folder)
  } catch (error) {
    if (!Fault.is(error) || error.code !== 'bad-input') throw error
    return error.message.replaceAll(`${folder}/`, '')
  }
  return ''
}

const finding = (id: string): FindingDefinition =>
  smallKnowledge().finding.get(id) as FindingDefinition
const disease = (id: string): Disease => smallKnowledge().disease.get(id) as Disease

test('one run names every problem, of every file and kind', () => {
  const folder = damaged((files) => {
    named(files['shared.json'].findings, 'fever').name = { en: 'a fever' }
    named(files['shared.json'].exams, 'ecg').price = 3
    Object.assign(files['shared.json'], { icd10: { 'J18.9': 'Pneumonia, unspecified' } })
    named(files['belly.json'].diseases, 'gastritis').codes = [{ system: 'icd10', code: '18.9' }]
    named(files['chest.json'].diseases, 'pneumonia').complaints = {}
    named(files['shared.json'].findings, 'sputum-colour').parent = {
      finding: 'cough',
      when: 'blue',
    }
  })
  let message = ''
  try {
    loadCheckedKnowledge(folder)
  } catch (error) {
    message = String(error)
  }
  for (const problem of [
    /shared\.json:\d+: .* at findings\.1\.name\.zh$/m,
    /shared\.json:\d+: .*price.* at exams\.2$/m,
    /belly\.json:\d+: disease gastritis: expected an ICD-10 code .* got 18\.9$/m,
    /chest\.json:\d+: disease pneumonia: nobody can come with it/m,
    /shared\.json:\d+: finding sputum-colour: parent cough has no state blue$/m,
  ])
    expect(message).toMatch(problem)
  // What names the finding that was left out is no problem of its own.
  expect(message).not.toMatch(/unknown finding fever\b/)
})

describe('loadKnowledge', () => {
  test('reads every file of a folder into one indexed base', () => {
    const { diseases, findings, exams, groups, actions } = smallKnowledge()
    expect([diseases.length, findings.length, exams.length, actions.size]).toEqual([6, 12, 5, 2])
    expect([...groups.keys()]).toEqual(['belly', 'chest'])
    expect(disease('angina').group).toBe('chest')
    expect(finding('fever').states).toEqual(['absent', 'present'])
    expect(finding('belly-pain-site').states).toEqual(['right-lower', 'upper', 'all'])
  })

  test('turns the ordinal words into numbers', () => {
    expect(disease('pneumonia').findings.cough).toBe(ordinalProbabilities.usually)
    expect(disease('bronchitis').findings.fever).toBe(ordinalProbabilities.sometimes)
  })

  test('puts parents before their children, wherever they are written', () => {
    const folder = damaged((files) => {
      files['shared.json'].findings?.reverse()
    })
    const ids = loadKnowledge(folder).findings.map(({ id }) => id)
    expect(ids.indexOf('belly-pain')).toBeLessThan(ids.indexOf('belly-pain-site'))
  })

  test('reads a folder once', () => {
    const folder = smallKnowledgeFolder()
    folders.push(folder)
    expect(loadKnowledge(folder)).toBe(loadKnowledge(folder))
  })

  test('loads the knowledge base that comes with the package', () => {
    const { diseases, findings, exams, groups } = loadKnowledge()
    expect(diseases.length).toBeGreaterThanOrEqual(72)
    expect(groups.size).toBeGreaterThanOrEqual(10)
    expect(findings.length).toBeGreaterThanOrEqual(220)
    expect(exams.length).toBeGreaterThanOrEqual(60)
  })
})

describe('loadKnowledge refuses, by file and line,', () => {
  const refuses = (what: string, change: (files: Files) => void, message: RegExp) =>
    test(what, () => {
      const folder = damaged(change)
      const said = refusal(folder)
      expect(said).toMatch(message)
      const [, file, line] = said.match(/^([a-z]+\.json):(\d+): /) ?? []
      expect(file).toBeDefined()
      expect(Number(line)).toBeGreaterThan(1)
    })

  refuses(
    'a probability of 1.2',
    (files) => {
      const { findings } = named(files['chest.json'].diseases, 'pneumonia')
      Object.assign(findings as Json, { cough: 1.2 })
    },
    /at diseases\.0\.findings\.cough$/,
  )
  refuses(
    'a distribution that does not sum to 1',
    (files) => {
      const { findings } = named(files['chest.json'].diseases, 'pneumonia')
      Object.assign(findings as Json, { 'sputum-colour': { clear: 0.5, green: 0.6 } })
    },
    /at diseases\.0\.findings\.sputum-colour$/,
  )
  refuses(
    'an aside that is also a question for a finding',
    (files) => {
      const text = { zh: [], en: ['do you have a FEVER'] }
      Object.assign(files['shared.json'], { asides: [{ id: 'heat', text }] })
    },
    /aside heat: text\.en "do you have a FEVER" is also a phrase of finding fever/,
  )
  refuses(
    'a missing translation',
    (files) => {
      named(files['shared.json'].findings, 'fever').name = { en: 'a fever' }
    },
    /at findings\.1\.name\.zh$/,
  )
  refuses(
    'a finding without a question in one language',
    (files) => {
      named(files['shared.json'].findings, 'fever').ask = { zh: ['发烧吗？'], en: [] }
    },
    /at findings\.1\.ask\.en$/,
  )
  refuses(
    'a key nobody knows',
    (files) => {
      named(files['shared.json'].exams, 'ecg').price = 3
    },
    /price.* at exams\.2$/,
  )
  refuses(
    'an id that is not kebab-case',
    (files) => {
      named(files['shared.json'].findings, 'fever').id = 'High Fever'
    },
    /expected a kebab-case id at findings\.1\.id$/m,
  )
  refuses(
    'an edge to an unknown finding',
    (files) => {
      const { findings } = named(files['belly.json'].diseases, 'gastritis')
      Object.assign(findings as Json, { hiccups: 'often' })
    },
    /^belly\.json:\d+: disease gastritis: edge to unknown finding hiccups$/,
  )
  refuses(
    'a probability where a distribution belongs',
    (files) => {
      const { findings } = named(files['belly.json'].diseases, 'gastritis')
      Object.assign(findings as Json, { 'belly-pain-site': 0.5 })
    },
    /: disease gastritis: edge to belly-pain-site must be a distribution$/,
  )
  refuses(
    'a value that the finding does not have',
    (files) => {
      const { findings } = named(files['belly.json'].diseases, 'gastritis')
      Object.assign(findings as Json, { 'belly-pain-site': { upper: 0.5, left: 0.5 } })
    },
    /: disease gastritis: belly-pain-site has no value left$/,
  )
  refuses(
    'an id that is defined twice',
    (files) => {
      files['chest.json'].diseases?.push(
        structuredClone(named(files['belly.json'].diseases, 'gastritis')),
      )
    },
    /^chest\.json:\d+: id gastritis is defined twice$/,
  )
  refuses(
    'a state without sentences',
    (files) => {
      delete (named(files['shared.json'].findings, 'fever').say as Json).absent
    },
    /: finding fever: say has no sentences for state absent$/,
  )
  refuses(
    'an unknown parent',
    (files) => {
      named(files['shared.json'].findings, 'vomiting').parent = {
        finding: 'nausea',
        when: 'present',
      }
    },
    /: finding vomiting: unknown parent nausea$/,
  )
  refuses(
    'a parent that has no such state',
    (files) => {
      named(files['shared.json'].findings, 'vomiting').parent = { finding: 'fever', when: 'high' }
    },
    /: finding vomiting: parent fever has no state high$/,
  )
  refuses(
    'values of a boolean finding',
    (files) => {
      named(files['shared.json'].findings, 'vomiting').values = ['a', 'b']
    },
    /: finding vomiting: values belong to type cat, and only there$/,
  )
  refuses(
    'an examination that yields what the patient knows',
    (files) => {
      named(files['shared.json'].exams, 'ecg').yields = ['fever']
    },
    /: exam ecg: yields fever, which the patient knows$/,
  )
  refuses(
    'two findings that share a phrase, both by place',
    (files) => {
      const { ask } = named(files['shared.json'].findings, 'fever') as { ask: { en: string[] } }
      const { aliases } = named(files['shared.json'].findings, 'belly-pain') as {
        aliases: { en: string[] }
      }
      // Case and punctuation do not tell them apart.
      aliases.en.push(`${ask.en[0]?.toUpperCase()}!`)
    },
    /^shared\.json:\d+: finding belly-pain: aliases\.en ".*" is also a phrase of finding fever, at shared\.json:\d+$/,
  )
  refuses(
    'a sentence of a patient that names a disease',
    (files) => {
      const { say } = named(files['shared.json'].findings, 'fever') as {
        say: Record<string, { en: string[] }>
      }
      say.present?.en.push('They say it is pneumonia.')
    },
    /: finding fever: say\.present\.en "They say it is pneumonia\." names disease pneumonia \("pneumonia"\), at chest\.json:\d+$/,
  )
  refuses(
    'an age range on a finding with children',
    (files) => {
      named(files['shared.json'].findings, 'belly-pain').ages = [0, 10]
    },
    /: a finding of some ages has neither parent nor children$/,
  )
  refuses(
    'an unknown disease that one never accompanies',
    (files) => {
      named(files['chest.json'].diseases, 'angina').incompatible = ['plague']
    },
    /: disease angina: unknown disease plague$/,
  )
  refuses(
    'an examination that does nothing',
    (files) => {
      named(files['shared.json'].exams, 'ecg').yields = []
    },
    /: exam ecg: expected either panelOf or yields$/,
  )
  refuses(
    'a panel of unknown members',
    (files) => {
      named(files['shared.json'].exams, 'admission-set').panelOf = ['x-ray-of-all']
    },
    /: exam admission-set: unknown member x-ray-of-all$/,
  )
  const pneumonia = (files: Files): Json => named(files['chest.json'].diseases, 'pneumonia')
  test.each([
    ['hiccups', /complaint hiccups is an unknown finding/],
    ['vomiting', /complaint vomiting is not among its findings/],
    ['shadow-on-film', /complaint shadow-on-film is known by examination only/],
    ['sputum-colour', /complaint sputum-colour is not a boolean finding/],
  ])('a complaint that nobody could voice: %s', (id, message) => {
    const said = refusal(
      damaged((files) => void Object.assign(pneumonia(files), { complaints: { [id]: 1 } })),
    )
    expect(said).toMatch(/^chest\.json:\d+: disease pneumonia: /)
    expect(said).toMatch(message)
  })
  refuses(
    'a disease nobody can come with',
    (files) => {
      pneumonia(files).complaints = {}
    },
    /: disease pneumonia: nobody can come with it: expected complaints/,
  )
  refuses(
    'a complaint of no eagerness',
    (files) => {
      pneumonia(files).complaints = { cough: 0 }
    },
    /at diseases\.0\.complaints\.cough$/,
  )
  test('a work-up that is unknown, harmful, named twice, or shows nothing of the disease', () => {
    const folder = damaged((files) => {
      Object.assign(pneumonia(files), {
        harmful: ['ecg'],
        workup: { required: ['ecg', 'moon-scan'], useful: ['ecg'], source: 'this test' },
      })
    })
    const said = refusal(folder).split('\n').join(' ')
    for (const why of [
      'exam ecg is in the workup and harmful',
      'unknown exam moon-scan',
      'exam ecg is both required and useful',
      'required exam ecg shows nothing that the disease changes',
    ])
      expect(said).toContain(why)
  })
  test('a background that depends on what does not exist', () => {
    const folder = damaged((files) => {
      Object.assign(named(files['shared.json'].findings, 'vomiting'), {
        given: { finding: 'nausea', leaks: { present: { present: 1 } } },
        leakBands: [{ ages: [9, 1], leak: 0.1 }],
      })
    })
    const said = refusal(folder).split('\n').join(' ')
    for (const why of [
      'given names unknown finding nausea',
      'expected given.leaks.present to be a number',
      'expected the lower age first, got 9,1',
      'expected either leakBands or given',
    ])
      expect(said).toContain(why)
  })
  refuses(
    'an unknown recommendation',
    (files) => {
      named(files['belly.json'].diseases, 'gastritis').recommend = ['prayer']
    },
    /: disease gastritis: unknown action prayer$/,
  )

  refuses(
    'an ICD-10 code that its own list does not hold, or that is none',
    (files) => {
      Object.assign(files['shared.json'], { icd10: { 'J18.9': 'Pneumonia, unspecified' } })
      named(files['belly.json'].diseases, 'gastritis').codes = [{ system: 'icd10', code: '18.9' }]
    },
    /: disease gastritis: expected an ICD-10 code such as J45\.9, got 18\.9/,
  )

  test('the line on which the wrong thing stands', () => {
    const folder = damaged((files) => {
      const { findings } = named(files['chest.json'].diseases, 'pneumonia')
      Object.assign(findings as Json, { cough: 1.2 })
    })
    const line = Number(refusal(folder).match(/^chest\.json:(\d+): /)?.[1])
    const text = readFileSync(join(folder, 'chest.json'), 'utf8').split('\n')
    expect(text[line - 1]).toContain('"cough"')
  })

  test('every broken reference at once', () => {
    const folder = damaged((files) => {
      named(files['belly.json'].diseases, 'gastritis').recommend = ['prayer']
      named(files['shared.json'].exams, 'ecg').yields = ['fever']
    })
    expect(refusal(folder).split('\n')).toHaveLength(2)
  })
})

describe('loadKnowledge refuses, by name,', () => {
  test('a file that is not JSON', () => {
    const folder = knowledgeFolder({ ...smallKnowledgeFiles(), 'broken.json': '{ "knowledge": ' })
    expect(refusal(folder)).toMatch(/^broken\.json: /)
  })

  test('a file of another format', () => {
    const folder = knowledgeFolder({ 'old.json': { knowledge: 'bedside-knowledge/0' } })
    expect(refusal(folder)).toMatch(/^old\.json:\d+: .* at knowledge$/)
  })

  test('a folder that does not exist, or holds no files', () => {
    const folder = knowledgeFolder({})
    expect(refusal(folder)).toBe(`${folder}: no *.json files`)
    expect(refusal(join(folder, 'nowhere'))).toContain('nowhere: ENOENT')
  })

  test('a base without diseases', () => {
    const folder = knowledgeFolder({ 'shared.json': smallKnowledgeFiles()['shared.json'] })
    expect(refusal(folder)).toBe(`${folder}: no diseases`)
  })

  test('a finding that is its own ancestor', () => {
    const folder = damaged((files) => {
      const list = files['shared.json'].findings
      named(list, 'cough').parent = { finding: 'fever', when: 'present' }
      named(list, 'fever').parent = { finding: 'cough', when: 'present' }
    })
    expect(refusal(folder)).toMatch(/is its own ancestor$/)
  })
})

describe('stateProbabilities', () => {
  test('is the background where the disease says nothing', () => {
    const [absent, present] = stateProbabilities([disease('angina')], finding('fever'))
    expect(absent).toBe(0.97)
    expect(present).toBeCloseTo(0.03, 12)
    expect(stateProbabilities([], finding('belly-pain-site'))).toEqual([0.2, 0.4, 0.4])
  })

  test('is a noisy-OR of disease and background for a boolean finding', () => {
    const [absent, present] = stateProbabilities([disease('pneumonia')], finding('cough'))
    expect(present).toBeCloseTo(1 - (1 - 0.03) * (1 - 0.8), 12)
    expect(absent).toBeCloseTo(0.97 * 0.2, 12)
  })

  test("is the disease's own distribution for a categorical finding", () => {
    expect(stateProbabilities([disease('gastritis')], finding('belly-pain-site'))).toEqual([
      0.05, 0.85, 0.1,
    ])
  })

  test('leaves out what another finding rules out, and takes the background where nothing else is left', () => {
    const site = finding('belly-pain-site')
    const [right = 0, upper = 0, all = 0] = stateProbabilities([], site)
    const excluded = ['all']
    const left = stateProbabilities([], site, { leak: site.leak, excluded })
    expect(left).toEqual([right / (right + upper), upper / (right + upper), 0])
    const sure = { ...disease('gastritis'), findings: { [site.id]: { all: 1 } } }
    expect(all).toBeGreaterThan(0)
    expect(stateProbabilities([sure], site, { leak: site.leak, excluded })).toEqual(left)
  })

  test('sums to 1 for every disease and finding of the shipped base', () => {
    const { diseases, findings } = loadKnowledge()
    for (const d of diseases)
      for (const f of findings) {
        const sum = stateProbabilities([d], f).reduce((total, p) => total + p, 0)
        expect(Math.abs(sum - 1), `${d.id} ${f.id}`).toBeLessThan(1e-6)
      }
  })
})

describe('by age and sex', () => {
  const bands = [{ ages: [0, 0.49] }, { ages: [1, 17] }, { ages: [18, 64], sex: 'F' }] as const
  const fits = (who: { age?: number; sex?: string }) => bands.map((band) => fitsBand(band, who))

  test('a whole year lasts to its last day, a part of one to itself; an unknown age fits none', () => {
    expect(fits({ age: 0.4 })).toEqual([true, false, false])
    expect(fits({ age: 0.5 })).toEqual([false, false, false])
    expect(fits({ age: 17.9 })).toEqual([false, true, false])
    expect(fits({ age: 64.9, sex: 'F' })).toEqual([false, false, true])
    expect(fits({ age: 30, sex: 'M' })).toEqual([false, false, false])
    expect(fits({})).toEqual([false, false, false])
  })

  test('the first background and range that fit are taken, else the general ones', () => {
    const pulse = {
      ...finding('fever'),
      leak: 0.1,
      leakBands: [{ ages: [0, 9] as [number, number], leak: 0.3 }],
      measure: {
        unit: '/min',
        ranges: { present: [100, 120] as [number, number] },
        bands: [{ ages: [0, 9] as [number, number], ranges: {} }],
      },
    }
    expect(backgroundFor(pulse, { age: 9.5 }).leak).toBe(0.3)
    expect(backgroundFor(pulse, { age: 10 }).leak).toBe(0.1)
    expect(measureFor(pulse, { age: 3 })?.ranges).toEqual({})
    expect(measureFor(pulse, {})?.ranges).toEqual({ present: [100, 120] })
  })
})

describe('expandPanel', () => {
  test("gives a panel's members, and a single examination itself", () => {
    const { exam } = smallKnowledge()
    expect(exam.get('admission-set')).toBeDefined()
    expect([...expandPanel(exam.get('admission-set')!)]).toEqual(['blood-count', 'ecg'])
    expect([...expandPanel(exam.get('ecg')!)]).toEqual(['ecg'])
  })
})

describe('clinic', () => {
  test('keeps the diseases of its groups with their findings, parents and examinations', () => {
    const belly = clinic(smallKnowledge(), ['belly'])
    const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id).sort()
    expect(ids(belly.diseases)).toEqual(['appendicitis', 'enteritis', 'gastritis'])
    expect(ids(belly.findings)).toEqual([
      'belly-pain',
      'belly-pain-site',
      'diarrhoea',
      'fever',
      'raised-white-cells',
      'vomiting',
    ])
    expect(ids(belly.exams)).toEqual(['blood-count'])
    expect([...belly.groups.keys()]).toEqual(['belly'])
  })

  test('takes the questions for every other finding of the patient as asides', () => {
    const chest = clinic(smallKnowledge(), ['chest'])
    const { ask } = finding('diarrhoea')
    expect(chest.asides).toContainEqual({ id: 'diarrhoea', text: ask })
    expect(chest.asides.some(({ id }) => chest.finding.has(id))).toBe(false)
  })

  test('keeps a parent that no disease mentions', () => {
    const folder = damaged((files) => {
      for (const each of files['belly.json'].diseases ?? [])
        delete (each.findings as Json)['belly-pain']
    })
    const { finding: kept } = clinic(loadKnowledge(folder), ['belly'])
    expect(kept.has('belly-pain')).toBe(true)
  })

  test('keeps a panel exactly where all its members are kept', () => {
    const ids = (groups: readonly string[]) => [...clinic(smallKnowledge(), groups).exam.keys()]
    expect(ids(['belly'])).not.toContain('admission-set')
    expect(ids(['chest'])).toContain('admission-set')
  })

  test('has an index of what it keeps, and nothing else', () => {
    const chest = clinic(smallKnowledge(), ['chest'])
    expect([...chest.disease.keys()]).toEqual(chest.diseases.map(({ id }) => id))
    expect([...chest.finding.keys()]).toEqual(chest.findings.map(({ id }) => id))
    expect([...chest.exam.keys()]).toEqual(chest.exams.map(({ id }) => id))
    for (const { findings } of chest.diseases)
      for (const id of Object.keys(findings)) expect(chest.finding.has(id)).toBe(true)
    for (const { yields } of chest.exams)
      for (const id of yields) expect(chest.finding.has(id)).toBe(true)
  })

  test('of all groups keeps every disease', () => {
    const all = clinic(smallKnowledge(), ['chest', 'belly'])
    expect(all.diseases).toHaveLength(6)
    expect(all.findings).toHaveLength(12)
  })

  test('refuses a group that does not exist and lists those that do', () => {
    expect(() => clinic(smallKnowledge(), ['belly', 'skin'])).toThrow(
      new RangeError('Expected a group of belly, chest, got `skin`'),
    )
  })
})

describe('the shipped knowledge base', () => {
  const shipped = loadCheckedKnowledge()
  const { diseases, findings, exams, groups } = shipped
  const known = (knownBy: 'patient' | 'exam') => findings.filter((f) => f.knownBy === knownBy)

  test('passes every check that other folders are held to', () => {
    expect(diseases.length).toBe(loadKnowledge().diseases.length)
  })

  test('has the size it says: 72 to 100 diseases in 10 to 14 groups, 220 to 360 findings, 60 to 110 examinations', () => {
    const within = (n: number, low: number, high: number) => n >= low && n <= high
    expect(within(diseases.length, 72, 100)).toBe(true)
    expect(within(groups.size, 10, 14)).toBe(true)
    expect(within(findings.length, 220, 360)).toBe(true)
    expect(within(exams.length, 60, 110)).toBe(true)
    expect(known('patient').length / findings.length).toBeGreaterThanOrEqual(0.65)
  })

  test('asks for every patient-known finding in at least a dozen ways in both languages', () => {
    const few = known('patient').filter(({ ask }) => ask.zh.length < 12 || ask.en.length < 12)
    expect(few.map(({ id }) => id)).toEqual([])
  })

  test('records every attribute of complaints, and antecedents, medication, allergy, family and social life', () => {
    const attributesOf = new Set(findings.map(({ attribute }) => attribute))
    for (const attribute of findingAttributes) expect(attributesOf).toContain(attribute)
    const kinds = new Set(known('patient').map(({ kind }) => kind))
    for (const kind of ['symptom', 'antecedent', 'medication', 'allergy', 'family', 'social'])
      expect(kinds).toContain(kind)
  })

  test('has at least two findings in each group that only an examination shows and that tell two of its diseases apart', () => {
    for (const group of groups.keys()) {
      const own = diseases.filter((disease) => disease.group === group)
      const telling = known('exam').filter((finding) =>
        own.some((a) =>
          own.some((b) => {
            const [p, q] = [stateProbabilities([a], finding), stateProbabilities([b], finding)]
            return p.some((chance, s) => chance - q[s]! >= 0.6)
          }),
        ),
      )
      expect([group, telling.length >= 2]).toEqual([group, true])
    }
  })

  test('can examine for whatever only an examination shows', () => {
    const shown = new Set(exams.flatMap(({ yields }) => yields))
    expect(known('exam').filter(({ id }) => !shown.has(id))).toEqual([])
  })

  test('gives every disease a code, what to do, and a complaint to come with; every grave one a red flag', () => {
    for (const { id, codes, recommend, findings: edges, severity, redFlags } of diseases) {
      expect([id, codes.length > 0, recommend.length > 0]).toEqual([id, true, true])
      const comes = Object.entries(edges).some(([f, p]) => {
        const finding = shipped.finding.get(f)
        return typeof p === 'number' && p >= 0.8 && !finding?.parent && (finding?.salience ?? 0) > 0
      })
      expect([id, comes]).toEqual([id, true])
      if (severity <= 2) expect([id, redFlags.length > 0]).toEqual([id, true])
    }
  })

  test('says no two states in sentences of which one begins the other', () => {
    for (const language of ['zh', 'en'] as const) {
      const said = findings
        .flatMap(({ id, say }) =>
          Object.values(say).flatMap((both) =>
            both[language].map((text) => [text.replace(/[.。]$/, ''), id] as const),
          ),
        )
        .sort(([a], [b]) => (a < b ? -1 : 1))
      const clash = said.filter(([text], i) => i > 0 && text.startsWith(said[i - 1]![0]))
      expect(clash).toEqual([])
    }
  })

  test('claims no review that nobody gave', () => {
    expect(diseases.every(({ reviewed }) => reviewed === null)).toBe(true)
  })
})
