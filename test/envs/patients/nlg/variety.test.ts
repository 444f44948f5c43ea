import { describe, expect, test } from 'vitest'
import { phrasebook } from '../../../../src/agents/phrasebook.js'
import { patientView } from '../../../../src/case.js'
import { caseSource } from '../../../../src/cases/generator/generate.js'
import { stemsOf } from '../../../../src/envs/patients/nlg/fresh.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange } from '../../../../src/patient.js'
import { type Dial, dials } from '../../../../src/persona.js'
import { uniformInt } from '../../../../src/seed.js'
import type { RevealedFinding } from '../../../../src/turn.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge })
const source = caseSource(knowledge, { tier: 'hard' })
const asked = knowledge.findings.filter(({ knownBy }) => knownBy === 'patient')
const spoken = Object.keys(dials).filter((dial) => dial !== 'fabricating') as Dial[]

/** One consultation of `turns` questions: three of four about findings, and some of those again. */
function consult(n: number, turns: number, language: 'en' | 'zh'): readonly Exchange[] {
  const truth = source(n)
  const persona = { [spoken[n % spoken.length]!]: 3, [spoken[(n * 5 + 2) % spoken.length]!]: 2 }
  const view = { ...patientView(truth), persona }
  const present = truth.findings.filter(
    ({ knownBy, state }) => knownBy === 'patient' && state !== 'absent',
  )
  const dialogue: Exchange[] = []
  for (let t = 0; t < turns; t++) {
    const from = t % 3 === 0 && present.length > 0 ? present : asked
    const { id } = from[uniformInt(from.length, n, 'question', t)]!
    const ask = knowledge.finding.get(id)!.ask[language]
    const others = { en: ['Hello.', 'Anything else?', 'Okay.'], zh: ['您好。', '还有吗？', '嗯。'] }
    const utterance =
      t % 4 === 3 ? others[language][uniformInt(3, n, t)]! : ask[uniformInt(ask.length, n, t)]!
    dialogue.push({ utterance, reply: patient(utterance, { view, dialogue, seed: n, language }) })
  }
  return dialogue
}

const keys = (told: readonly RevealedFinding[]): readonly string[] => [
  ...new Set(told.map(({ finding, state }) => `${finding} ${state}`)),
]

describe.each(['en', 'zh'] as const)('in %s', (language) => {
  const talks = Array.from({ length: 120 }, (_, n) => consult(n, 15, language))

  test('hardly a turn begins a sentence like one of the three turns before', () => {
    let again = 0
    for (const talk of talks)
      talk.forEach(({ reply }, t) => {
        const before = talk.slice(Math.max(0, t - 3), t)
        const stems = new Set(before.flatMap((one) => stemsOf(one.reply.text, language)))
        if (stemsOf(reply.text, language).some((stem) => stems.has(stem))) again++
      })
    expect(again / (talks.length * 15)).toBeLessThan(0.02)
  })

  test('whatever the words, the phrasebook reads what was told', () => {
    const book = phrasebook(knowledge, language)
    for (const talk of talks)
      for (const { reply } of talk) {
        const told = reply.told.filter(({ state }) => state !== 'unknown')
        // A closed gate speaks for what is behind it.
        const read = keys(book.read(reply.text))
        for (const one of keys(told)) {
          const gate = knowledge.finding.get(one.split(' ')[0]!)?.parent
          if (!gate) expect(read, reply.text).toContain(one)
        }
        const known = new Set([...keys(told), ...told.flatMap(({ finding }) => gates(finding))])
        expect(read.filter((one) => !known.has(one) && one.endsWith(' present'))).toEqual([])
      }
  })
})

/** What is said to be absent in place of a finding behind it. */
function gates(finding: string): readonly string[] {
  const parent = knowledge.finding.get(finding)?.parent?.finding
  return parent ? [`${parent} absent`, ...gates(parent)] : []
}
