/** A rule patient whose knowledge base nobody has asked about yet. */
import { expect, test } from 'vitest'
import { rulePatient, rulePatientAtOnce } from '../../../src/envs/patients/rule.js'
import { clinic, type Knowledge } from '../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import type { Reply } from '../../../src/patient.js'
import { nextLoopTurn } from '../../../src/platform/slices.js'
import { asking, spokenView } from '../../fixtures/spoken-case.js'

/** A knowledge base of its own, so that no other test has warmed it. Few asides make the training short. */
function cold(): Knowledge {
  const { asides, ...rest } = clinic(loadKnowledge(), ['urinary-pelvic'])
  return { ...rest, asides: asides.slice(0, 20) }
}

/** By exact wording, phrases, similarity, misspelt, homophones, asides, nothing. */
const questions = [
  'Have you had a fever?',
  'Any burning when you pee, or blood in it?',
  'Has anything felt a little odd to you of late?',
  'Do you have a fevver?',
  'Did you find a place to park?',
  '您有没有发烧？',
  '这阵子哪儿有点说不上来的怪吗？',
  '最近有没有法烧',
  'xyzzy',
]
const context = asking(spokenView({ fever: 'present' }))

test('gives the replies of one that makes its indices at once', async () => {
  const [patient, other] = [
    rulePatient({ knowledge: cold() }),
    rulePatientAtOnce({ knowledge: cold() }),
  ]
  const replies = await Promise.all(questions.map((text) => patient(text, context)))
  expect(replies).toEqual(questions.map((text) => other(text, context)))
})

test('lets the event loop turn while it makes them, for however many wait, and then answers at once', async () => {
  const patient = rulePatient({ knowledge: cold() })
  const hard = questions[2]!
  let settled = false
  const all = Promise.all(Array.from({ length: 64 }, () => patient(hard, context))).finally(() => {
    settled = true
  })
  let turns = 0
  for (; !settled; turns++) await nextLoopTurn()
  // Fifty milliseconds of work or more, in slices of ten.
  expect(turns).toBeGreaterThan(4)
  const replies: readonly Reply[] = await all
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  for (let n = 0; n < 3; n++) await nextLoopTurn()
  expect(patient(hard, context)).toEqual(replies[0])
})
