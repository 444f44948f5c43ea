/** What a reply may depend on: nothing but the question, the patient and the seed. */
import { describe, expect, test } from 'vitest'
import type { Case } from '../../../../src/case.js'
import { patientView, primaryDiagnosis } from '../../../../src/case.js'
import { caseSource } from '../../../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange, Reply } from '../../../../src/patient.js'
import { personas } from '../../../../src/persona.js'
import { shuffle } from '../../../../src/seed.js'
import { makeConsultation } from '../../../../src/tasks/registry.js'
import type { Language } from '../../../../src/turn.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge })
const spoken = knowledge.findings.filter(({ knownBy }) => knownBy === 'patient')
const take = (count: number, tier: 'standard' | 'hard'): Case[] =>
  Array.from({ length: count }, (_, n) => caseSource(knowledge, { tier })(n))

const play = (truth: Case, questions: readonly string[], language: Language, seed = 5): Reply[] => {
  const dialogue: Exchange[] = []
  const view = patientView(truth)
  for (const utterance of questions) {
    const reply = patient(utterance, { view, dialogue, seed, language })
    dialogue.push({ utterance, reply })
  }
  return dialogue.map(({ reply }) => reply)
}

describe('Chinese and English', () => {
  const acts = (language: Language, n: number): readonly string[] => [
    language === 'zh' ? '您好，谢谢您过来。' : 'Hello, thank you for coming.',
    ...shuffle(spoken, n, 'asks')
      .slice(0, 14)
      .map(({ ask }) => ask[language][0] ?? ''),
    language === 'zh' ? '还有别的不舒服吗？' : 'Anything else?',
    language === 'zh' ? '您得的是什么病？' : 'What is your diagnosis?',
    ...shuffle(spoken, n, 'asks')
      .slice(0, 3)
      .map(({ ask }) => ask[language][0] ?? ''),
  ]

  const hard = take(6, 'hard')

  test.each(Object.entries(personas))(
    'give the same facts for the same acts, of %s patients',
    (_, persona) => {
      for (const [n, truth] of hard.entries()) {
        const facts = (language: Language) =>
          play({ ...truth, persona }, acts(language, n), language).map(
            ({ text: _, questions: __, ...rest }) => rest,
          )
        expect(facts('zh')).toEqual(facts('en'))
      }
    },
  )
})

/** Of the cases, how many a guesser gets right that learnt on the others what goes with each feature. */
function guessed(
  cases: readonly { readonly disease: string; readonly features: readonly string[] }[],
) {
  const half = Math.floor(cases.length / 2)
  const counts = new Map<string, Map<string, number>>()
  const total = new Map<string, number>()
  for (const { disease, features } of cases.slice(0, half)) {
    total.set(disease, (total.get(disease) ?? 0) + 1)
    for (const feature of features) {
      const of = counts.get(feature) ?? new Map<string, number>()
      counts.set(feature, of.set(disease, (of.get(disease) ?? 0) + 1))
    }
  }
  const best = (features: readonly string[]): string => {
    let [top, most] = ['', Number.NEGATIVE_INFINITY]
    for (const [disease, seen] of total) {
      let score = Math.log(seen)
      for (const feature of features)
        score += Math.log(((counts.get(feature)?.get(disease) ?? 0) + 1) / (seen + 10))
      if (score > most) [top, most] = [disease, score]
    }
    return top
  }
  const rest = cases.slice(half)
  const share = (right: (one: (typeof rest)[number]) => boolean) =>
    rest.filter(right).length / rest.length
  const prior = best([])
  return {
    blind: share(({ disease, features }) => best(features) === disease),
    prior: share(({ disease }) => disease === prior),
    se: 0.5 / Math.sqrt(rest.length),
  }
}

test('the lengths of answers and the wording chosen say nothing to who knows no question', () => {
  const cases = take(1000, 'standard').map((truth, n) => {
    const questions = shuffle(spoken, n, 'blind').slice(0, 10)
    const replies = play(
      truth,
      questions.map(({ ask }) => ask.en[0] ?? ''),
      'en',
      n,
    )
    const lengths = replies.map(({ text }) => text.length)
    const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
    // Which of its sentences each answer is, wherever it has several.
    const places = replies.flatMap(({ text, told }, i) => {
      const said = questions[i]?.say[told[0]?.state ?? '']?.en ?? []
      const place = said.findIndex((sentence) => text.includes(sentence))
      return place < 0 ? [] : [place]
    })
    const opening = truth.chiefComplaint.text.en?.length ?? 0
    return {
      disease: primaryDiagnosis(truth.gold).id,
      features: [
        `mean ${Math.round(mean / 6)}`,
        `longest ${Math.round(Math.max(...lengths) / 15)}`,
        `places ${Math.round((4 * places.reduce((sum, place) => sum + place, 0)) / (places.length || 1))}`,
        `first ${places.slice(0, 2).join()}`,
      ].slice(0, opening > 0 ? 4 : 0),
    }
  })
  const { blind, prior, se } = guessed(cases)
  expect(blind).toBeLessThanOrEqual(prior + 3 * se)
})

test('an episode has the same bytes alone and among 1,000 others', async () => {
  const actions = [
    { kind: 'ask', text: spoken[3]?.ask.en[0] ?? '' },
    { kind: 'ask', text: 'Anything else?' },
    { kind: 'ask', text: spoken[40]?.ask.en[0] ?? '' },
    { kind: 'order', exam: knowledge.exams[2]?.name.en ?? '' },
    { kind: 'diagnose', diagnosis: 'no idea' },
  ] as const
  const cases = take(25, 'hard')
  const run = async (seed: number): Promise<string> => {
    const env = makeConsultation({ tier: 'hard' })
    await env.reset({ seed, options: { case: cases[seed % cases.length] } })
    let last: unknown
    for (const action of actions) last = (await env.step(action)).info.episode
    return JSON.stringify(last)
  }
  const among = await Promise.all(Array.from({ length: 1000 }, (_, seed) => run(seed)))
  for (const seed of [0, 1, 499, 998, 999]) expect(await run(seed)).toBe(among[seed])
  expect(new Set(among).size).toBe(1000)
})
