import { describe, expect, test } from 'vitest'
import { phrasebook } from '../../../../src/agents/phrasebook.js'
import { theories, wishes } from '../../../../src/envs/patients/nlg/convictions.js'
import { applyManner } from '../../../../src/envs/patients/nlg/manner.js'
import { carerRemarks, remarks } from '../../../../src/envs/patients/nlg/manner-sentences.js'
import {
  caregiverSentences,
  forgetfulSentences,
  stockSentences,
} from '../../../../src/envs/patients/nlg/stock-sentences.js'
import { getLexicons } from '../../../../src/envs/patients/nlu/lexicon.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Dial, Persona } from '../../../../src/persona.js'
import { containsPhrase, findPhrases, normaliseText } from '../../../../src/text/phrase-search.js'
import { toThirdPerson } from '../../../../src/text/third-person.js'
import { asking, interview, spokenView } from '../../../fixtures/spoken-case.js'
import { spokenKnowledge } from '../../../fixtures/spoken-knowledge.js'

const shipped = loadKnowledge()
const languages = ['en', 'zh'] as const
const remarked = [remarks, carerRemarks].flatMap((all) =>
  Object.values(all).flatMap((one) => Object.values(one)),
)
const banks = [
  ...remarked,
  ...theories,
  ...wishes,
  forgetfulSentences,
  ...Object.values(stockSentences),
  ...Object.values(caregiverSentences),
]
const everything = languages.flatMap((language) =>
  banks.flatMap((bank) => bank[language].map((text) => [language, text] as const)),
)

describe('what is said around an answer, or instead of one', () => {
  test('is plenty', () => expect(everything.length).toBeGreaterThan(100))

  test('is read by the phrasebook as nothing', () => {
    for (const [language, text] of everything) {
      expect(phrasebook(shipped, language).read(text), text).toEqual([])
      expect(phrasebook(shipped, language).read(`He says: ${text}`), text).toEqual([])
    }
  })

  test('holds no phrase of a finding', () => {
    for (const [, text] of everything) {
      const found = findPhrases(getLexicons(shipped).atOnce.tree(text), normaliseText(text))
      expect(
        found.filter(({ value }) => value.kind === 'finding').map(({ value }) => value),
        text,
      ).toEqual([])
    }
  })

  test('names no disease of the knowledge base, a theory of their own least of all', () => {
    const names = shipped.diseases.flatMap(({ name, aliases, codes }) => [
      ...[name.zh, name.en, ...aliases.zh, ...aliases.en],
      ...codes.map(({ code }) => code),
    ])
    const whole = everything.map(([, text]) => text.toLowerCase()).join('\n')
    expect(names.filter((name) => containsPhrase(whole, name.toLowerCase()))).toEqual([])
  })

  test('can be said by whoever speaks: no manner tells of a body of one’s own', () => {
    for (const language of languages)
      for (const text of remarked.flatMap((bank) => bank[language]))
        expect(toThirdPerson(text, 'en', 'he'), text).not.toMatch(
          /\bhis (?!family|neighbour|cousin)/,
        )
  })
})

const knowledge = spokenKnowledge()
const patient = rulePatientAtOnce({ knowledge })
const sick = { fever: 'present', cough: 'present', 'abdominal-pain': 'present' }
const questions = knowledge.findings.flatMap(({ ask }) => ask.en)
const told = (persona: Persona, utterances = questions, seeds = 8) =>
  Array.from({ length: seeds }, (_, seed) =>
    interview(patient, utterances, asking(spokenView(sick, { persona }), { seed })).map(
      ({ reply }) => reply,
    ),
  ).flat()
const words = (dial: Dial): readonly string[] => {
  if (dial === 'selfDiagnosing') return theories.flatMap(({ en }) => en)
  if (dial === 'demanding') return wishes.flatMap(({ en }) => en)
  return Object.values(remarks[dial] ?? {}).flatMap(({ en }) => en)
}
const share = (dial: Dial, level: number) => {
  const replies = told({ [dial]: level }).filter(({ understood }) => understood !== 'exam-only')
  return (
    replies.filter(({ text }) => words(dial).some((w) => text.includes(w))).length / replies.length
  )
}

describe('a dial', () => {
  const heardAnywhere: readonly Dial[] = [
    ...(['anxious', 'verbose', 'impatient', 'distrustful', 'pleasing', 'confused'] as const),
    ...(['selfDiagnosing', 'demanding'] as const),
  ]
  test.each(heardAnywhere)('%s is heard the more the further it is turned', (dial) => {
    const shares = [0, 1, 2, 3].map((level) => share(dial, level))
    expect(shares[0]).toBe(0)
    expect(shares[1]).toBeGreaterThan(0)
    expect(shares[2]).toBeGreaterThan(shares[1]!)
    expect(shares[3]).toBeGreaterThan(shares[2]!)
  })

  test('adds at most one remark, and none to a question of the patient’s own', () => {
    const all: Persona = { anxious: 3, verbose: 3, distrustful: 1, pleasing: 3, confused: 1 }
    for (let seed = 0; seed < 200; seed++) {
      const context = asking(spokenView({}, { persona: all }), { seed })
      const text = applyManner('So it is.', () => ['symptom'], 'fever', context)
      expect(text.match(/[.?!]/g)!.length).toBeLessThanOrEqual(2)
      expect(applyManner('What?', () => [], 'fever', context)).toBe('What?')
    }
  })

  test('makes no remark twice in a consultation', () => {
    const persona: Persona = { anxious: 3, verbose: 3, impatient: 2 }
    for (let seed = 0; seed < 40; seed++) {
      const text = interview(patient, questions, asking(spokenView(sick, { persona }), { seed }))
        .map(({ reply }) => reply.text)
        .join('\n')
      for (const saying of [...words('anxious'), ...words('verbose'), ...words('impatient')])
        expect(text.split(saying).length - 1, saying).toBeLessThanOrEqual(1)
    }
  })

  test('holds to one theory, and to one wish', () => {
    const persona: Persona = { selfDiagnosing: 3, demanding: 3 }
    for (let seed = 0; seed < 40; seed++) {
      const text = interview(patient, questions, asking(spokenView(sick, { persona }), { seed }))
        .map(({ reply }) => reply.text)
        .join('\n')
      for (const all of [theories, wishes]) {
        const held = all.filter(({ en }) => en.some((saying) => text.includes(saying)))
        expect(held.length).toBeLessThanOrEqual(1)
      }
    }
  })

  test('leaves nothing to play down, to treat or to explain where nothing is the matter', () => {
    const persona: Persona = { pleasing: 3, demanding: 3, selfDiagnosing: 3 }
    const sayings = [...words('pleasing'), ...words('demanding'), ...words('selfDiagnosing')]
    const heard = (moment: 'symptom' | 'denial') =>
      Array.from({ length: 50 }, (_, seed) =>
        applyManner('.', () => [moment], 'x', asking(spokenView({}, { persona }), { seed })),
      ).filter((text) => sayings.some((saying) => text.includes(saying)))
    expect(heard('denial')).toEqual([])
    expect(heard('symptom').length).toBeGreaterThan(30)
  })

  test('that is ashamed is heard at what is delicate, a forgetful one at times', () => {
    const heard = (persona: Persona, moment: 'delicate' | 'time', dial: Dial) =>
      Array.from({ length: 100 }, (_, seed) =>
        applyManner('.', () => [moment], 'x', asking(spokenView({}, { persona }), { seed })),
      ).filter((text) => words(dial).some((saying) => text.includes(saying))).length
    expect(heard({ ashamed: 3 }, 'delicate', 'ashamed')).toBeGreaterThan(25)
    expect(heard({ ashamed: 3 }, 'time', 'ashamed')).toBe(0)
    expect(heard({ forgetful: 3 }, 'time', 'forgetful')).toBeGreaterThan(25)
    expect(heard({ forgetful: 3 }, 'delicate', 'forgetful')).toBe(0)
  })
})

describe('a confused patient', () => {
  const persona: Persona = { confused: 3 }
  const lost = (reply: { text: string }) =>
    stockSentences['again-please'].en.some((s) => reply.text.includes(s))
  const fever = 'Have you had a fever?'

  test('loses the thread at about four questions in ten, and answers when asked again', () => {
    let [asked, lostOnce] = [0, 0]
    for (let seed = 0; seed < 2000; seed++) {
      const context = asking(spokenView(sick, { persona }), { seed })
      const [first, second] = interview(patient, [fever, fever], context).map(({ reply }) => reply)
      asked++
      if (!lost(first!)) continue
      lostOnce++
      expect(first).toMatchObject({ understood: 'unclear', asked: ['fever'], told: [] })
      expect(second!.told).toEqual([{ finding: 'fever', state: 'present' }])
    }
    expect(Math.abs(lostOnce / asked - 0.4)).toBeLessThan(4 * Math.sqrt(0.24 / asked))
  })

  test('keeps it for four turns after kind words', () => {
    const calm = ['Hello, do not worry.', ...questions.slice(0, 4)]
    expect(told(persona, calm).some(lost)).toBe(false)
    expect(told(persona, ['Hello, do not worry.', ...questions.slice(0, 9)]).some(lost)).toBe(true)
  })
})

describe('technical words', () => {
  const jargon = {
    ...knowledge,
    findings: knowledge.findings.map((finding) =>
      finding.id === 'fever'
        ? { ...finding, jargon: { en: ['pyrexia'], zh: ['体温升高症'] } }
        : finding,
    ),
  }
  const low = rulePatientAtOnce({ knowledge: jargon })
  const ask = (lowLiteracy: number, text: string, seed = 0) =>
    low(text, asking(spokenView(sick, { persona: { lowLiteracy } }), { seed }))

  test('mean nothing to a patient of no literacy, until the plain one is used', () => {
    const reply = ask(3, 'Any pyrexia?')
    expect(reply).toMatchObject({ understood: 'unclear', asked: ['fever'], told: [] })
    expect(stockSentences.jargon.en).toContain(reply.text)
    expect(ask(3, 'Any pyrexia, I mean fever?').told).toHaveLength(1)
    expect(ask(3, 'Any fever?').told).toHaveLength(1)
    expect(ask(0, 'Any pyrexia?').told).toHaveLength(1)
  })

  test('are known to fewer the lower literacy is', () => {
    const known = [0, 1, 2, 3].map(
      (level) =>
        Array.from({ length: 400 }, (_, seed) => ask(level, 'Any pyrexia?', seed)).filter(
          (reply) => reply.told.length > 0,
        ).length / 400,
    )
    expect(known[0]).toBe(1)
    expect(Math.abs(known[1]! - 0.65)).toBeLessThan(0.1)
    expect(Math.abs(known[2]! - 0.3)).toBeLessThan(0.1)
    expect(known[3]).toBe(0)
  })
})
