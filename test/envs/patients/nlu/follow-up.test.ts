import { describe, expect, test } from 'vitest'
import { patientView } from '../../../../src/case.js'
import { generateCase } from '../../../../src/cases/generator/generate.js'
import { rulePatient, rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Exchange, PatientContext, Reply } from '../../../../src/patient.js'
import type { Language } from '../../../../src/turn.js'
import { asking } from '../../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge, persona: {} })
const noise = { forget: 0, deny: 0, overReport: 0 }

/** A patient who comes with a complaint, with findings in these states. */
function withComplaint(complaint: string, states: Readonly<Record<string, string>> = {}) {
  for (let n = 0; n < 400; n++) {
    try {
      const truth = generateCase(knowledge, {
        tier: 'standard',
        seed: 11,
        n,
        change: { findings: { [complaint]: 'present', ...states } },
      })
      const view = patientView(truth)
      const own = { ...view.complaint, findings: [complaint] }
      return { ...view, persona: {}, noise, complaint: own }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error // Impossible at this one's age or sex.
    }
  }
  throw new Error(`Expected a patient with ${complaint}, got none`)
}

const told = (finding: string, state = 'present'): Exchange => ({
  utterance: 'What about that?',
  reply: {
    text: '…',
    understood: 'answered',
    questions: 1,
    asked: [finding],
    told: [{ finding, state }],
  },
})

const volunteered = (finding: string): Exchange => {
  const { utterance, reply } = told(finding)
  return { utterance, reply: { ...reply, understood: 'open', asked: [] } }
}

/** The reply to a question after others, of a patient with what was asked about in the state that was told. */
function replyAfter(
  complaint: string,
  dialogue: readonly Exchange[],
  text: string,
  { language = 'en', seed = 1 }: { language?: Language; seed?: number } = {},
): Reply {
  const states = Object.fromEntries(
    dialogue.flatMap(({ reply }) => reply.told.map(({ finding, state }) => [finding, state])),
  )
  const context: PatientContext = asking(withComplaint(complaint, states), {
    dialogue: [volunteered(complaint), ...dialogue],
    language,
    seed,
  })
  return patient(text, context)
}

describe('a question that leaves something out is about', () => {
  test.each([
    ['the part of the body of the topic', 'eye-redness', [], 'Itchy?', 'eye-itch'],
    ['the part of the body of the topic', 'eye-redness', [], '痒不痒？', 'eye-itch'],
    ['the part of the body of the topic', 'skin-rash', [], 'Itchy?', 'skin-itch'],
    ['a detail of the topic', 'breathlessness', [], 'Lying flat?', 'breathlessness-aggravating'],
    ['a detail of the topic', 'skin-rash', [], '在往外扩吗？', 'rash-spread'],
    ['the case it puts', 'headache', [], 'And if you cough?', 'headache-aggravating'],
    ['the case it puts', 'chest-pain', [], '走路的时候呢？', 'chest-pain-trigger'],
    ['what was last asked about', 'headache', [told('cough')], 'Worse at night?', 'cough-timing'],
    ['what was last asked about', 'headache', [told('sputum')], '什么颜色？', 'sputum-colour'],
    [
      'the complaint after a no',
      'headache',
      [told('cough', 'absent')],
      'How bad?',
      'headache-severity',
    ],
    [
      'what it names',
      'headache',
      [told('cough')],
      'About the headache: how bad is it?',
      'headache-severity',
    ],
    [
      'the relatives',
      'thirst',
      [told('diabetes-known', 'absent')],
      'And your father?',
      'family-sugar',
    ],
    ['the relatives', 'thirst', [told('diabetes-known', 'absent')], '家里人呢？', 'family-sugar'],
    ['a habit', 'cough', [told('smoking')], 'For how many years?', 'smoking'],
    ['a medicine', 'headache', [told('regular-medication')], '吃了多久了？', 'regular-medication'],
  ] as const)('%s (%s): %j, "%s"', (_, complaint, dialogue, text, expected) => {
    expect(replyAfter(complaint, dialogue, text).asked).toContain(expected)
  })

  test.each([
    ['en', 'How bad is it?'],
    ['zh', '厉害吗？'],
  ] as const)('the complaint, and not what was only volunteered, in %s', (language, text) => {
    const { asked } = replyAfter('headache', [volunteered('abdominal-pain')], text, { language })
    expect(asked).toEqual(['headache-severity'])
  })

  test('nothing before the first exchange', () => {
    const { asked } = patient('Itchy?', asking(withComplaint('eye-redness')))
    expect(asked).not.toContain('eye-itch')
  })

  test('what it says, where it is a question of the knowledge base', () => {
    const { ask } = knowledge.finding.get('skin-itch')!
    for (const language of ['en', 'zh'] as const)
      for (const text of ask[language])
        expect(replyAfter('eye-redness', [], text, { language }).asked, text).toEqual(['skin-itch'])
  })
})

describe('what nobody recorded', () => {
  test.each([
    ['ear-pain', 'Which ear?', 'en', /left|right/i],
    ['eye-redness', '哪只眼睛？', 'zh', /左|右/],
    ['one-leg-swelling', 'Which one?', 'en', /left|right/i],
  ] as const)('has a side: %s, "%s"', (complaint, text, language, side) => {
    const replies = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) =>
      replyAfter(complaint, [], text, { language, seed }),
    )
    for (const { asked, told: revealed, text: said } of replies) {
      expect(asked).toEqual([complaint])
      expect(revealed).toEqual([])
      expect(said).toMatch(side)
    }
    expect(new Set(replies.map(({ text: said }) => /left|左/i.test(said))).size).toBe(2)
  })

  test('is on the same side for all that is wrong with a patient', () => {
    const side = ({ text }: Reply) => /left/i.test(text)
    for (let seed = 1; seed < 9; seed++)
      expect(side(replyAfter('ear-pain', [], 'Which side?', { seed }))).toBe(
        side(replyAfter('ear-pain', [told('eye-pain')], 'Which side?', { seed })),
      )
  })

  test('is asked of the topic all the same, and answered with not knowing', () => {
    const {
      asked,
      told: revealed,
      understood,
    } = replyAfter('palpitations', [], 'What do they sound like?')
    expect(asked).toEqual(['palpitations'])
    expect(revealed).toEqual([])
    expect(['unknown', 'answered']).toContain(understood)
  })
})

test('a patient that makes its indices in slices says the same', async () => {
  const fresh = { ...knowledge } // Its indices are made anew.
  const sliced = rulePatient({ knowledge: fresh, persona: {} })
  const context = asking(withComplaint('eye-redness'), { dialogue: [volunteered('eye-redness')] })
  for (const text of ['Itchy?', 'Which one?', 'What makes it worse?'])
    expect(await sliced(text, context)).toEqual(patient(text, context))
})
