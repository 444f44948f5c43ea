import { describe, expect, test } from 'vitest'
import { patientView } from '../../../src/case.js'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { isPain } from '../../../src/envs/patients/nlg/details.js'
import { noPainSentences } from '../../../src/envs/patients/nlg/speech-sentences.js'
import { rulePatientAtOnce } from '../../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import type { PatientContext, Reply } from '../../../src/patient.js'
import type { Language } from '../../../src/turn.js'
import { asking, interview } from '../../fixtures/spoken-case.js'

const knowledge = loadKnowledge()
const patient = rulePatientAtOnce({ knowledge, persona: {} })
const languages = ['en', 'zh'] as const
const tiers = ['easy', 'standard', 'hard', 'ood'] as const
const opening = { en: 'What brings you in today?', zh: '您哪里不舒服？' } as const

/** Patients of every tier, who forget nothing. */
const people = tiers.flatMap((tier) =>
  Array.from({ length: 150 }, (_, n) => {
    const truth = generateCase(knowledge, { tier, seed: 5, n })
    return {
      tier,
      n,
      view: { ...patientView(truth), noise: { forget: 0, deny: 0, overReport: 0 } },
    }
  }),
)
type Person = (typeof people)[number]

/** The reply to the last of some questions. */
function replyTo(person: Person, language: Language, questions: readonly string[]): Reply {
  const context: PatientContext = asking(person.view, { language, seed: person.n })
  const last = interview(patient, questions, context).at(-1)
  if (!last) throw new Error('Expected questions, got none')
  return last.reply
}

const painQuestions = {
  en: ['What is the pain like?', 'How bad is the pain?', 'Can you describe the pain for me?'],
  zh: ['怎么个疼法？', '疼得厉害吗？', '是什么样的疼？'],
} as const

describe('a patient who came with pain', () => {
  const sufferers = people.filter(({ view }) =>
    view.complaint.findings.some((id) => isPain(knowledge, id)),
  )

  test.each(languages)('says of it what it is like after one open question, in %s', (language) => {
    expect(sufferers.length).toBeGreaterThan(80)
    const missed = sufferers.flatMap((person) =>
      painQuestions[language].flatMap((question) => {
        const { asked, understood, text } = replyTo(person, language, [opening[language], question])
        const roots = asked.map((id) => knowledge.finding.get(id)?.parent?.finding ?? id)
        const ofPain = roots.some(
          (id) => isPain(knowledge, id) && person.view.findings.get(id)?.state === 'present',
        )
        const denied = noPainSentences[language].some((sentence) => text.includes(sentence))
        return ofPain && understood === 'answered' && !denied
          ? []
          : [`${person.tier} ${person.n}: ${question} → ${text} [${asked}] ${understood}`]
      }),
    )
    expect(missed).toEqual([])
  })
})

/** What people call what they come with, beside its name. */
const everyday: Readonly<Record<string, Readonly<Record<Language, readonly string[]>>>> = {
  fever: { en: ['a temperature', 'a fever'], zh: ['发烧', '发热'] },
  cough: { en: ['a cough'], zh: ['咳嗽', '咳'] },
  'sore-throat': { en: ['a sore throat', 'a bad throat'], zh: ['嗓子疼', '喉咙痛'] },
  'runny-nose': { en: ['a runny nose', 'a blocked nose'], zh: ['流鼻涕', '鼻塞'] },
  headache: { en: ['headaches', 'a sore head'], zh: ['头疼', '脑袋疼'] },
  fatigue: { en: ['tiredness', 'a lack of energy'], zh: ['没力气', '累'] },
  'muscle-aches': { en: ['aching muscles', 'aches and pains'], zh: ['浑身疼', '肌肉酸痛'] },
  nausea: { en: ['nausea', 'a sick feeling'], zh: ['恶心', '想吐'] },
  vomiting: { en: ['vomiting', 'any sickness, throwing up I mean'], zh: ['呕吐', '吐'] },
  'abdominal-pain': { en: ['tummy ache', 'stomach pain', 'belly pain'], zh: ['肚子疼', '胃疼'] },
  diarrhoea: { en: ['diarrhoea', 'the runs', 'loose stools'], zh: ['拉肚子', '腹泻'] },
  constipation: { en: ['constipation'], zh: ['便秘'] },
  'chest-pain': { en: ['chest pain', 'pain in the chest'], zh: ['胸口疼', '胸闷'] },
  breathlessness: { en: ['shortness of breath', 'trouble breathing'], zh: ['气短', '喘不上气'] },
  palpitations: { en: ['palpitations', 'a racing heart'], zh: ['心慌', '心跳快'] },
  dizziness: { en: ['dizziness', 'dizzy spells'], zh: ['头晕'] },
  'weight-loss': { en: ['weight loss'], zh: ['变瘦', '体重下降'] },
  'skin-rash': { en: ['a rash', 'a skin rash'], zh: ['疹子', '起疹子'] },
  'skin-itch': { en: ['itching', 'itchy skin'], zh: ['身上痒', '皮肤痒'] },
  'eye-redness': { en: ['a red eye', 'red eyes'], zh: ['眼睛红'] },
  'eye-pain': { en: ['eye pain', 'a sore eye'], zh: ['眼睛疼'] },
  'sight-blurred': { en: ['blurred vision', 'blurry sight'], zh: ['看不清', '视力模糊'] },
  'ear-pain': { en: ['earache', 'a sore ear'], zh: ['耳朵疼'] },
  'painful-urination': {
    en: ['burning when you pee', 'pain passing water'],
    zh: ['尿痛', '小便疼'],
  },
  'frequent-urination': { en: ['frequent peeing'], zh: ['尿频'] },
  'flank-pain': { en: ['pain in your side', 'flank pain'], zh: ['腰疼'] },
  'low-mood': { en: ['low mood'], zh: ['心情不好', '情绪低落'] },
  'poor-sleep': { en: ['trouble sleeping', 'poor sleep'], zh: ['失眠', '睡不好'] },
  thirst: { en: ['thirst'], zh: ['口渴'] },
}

describe('asked for what they came with', () => {
  const words = (id: string, language: Language): readonly string[] => {
    const { name, aliases } = knowledge.finding.get(id)!
    return [
      name[language].toLowerCase(),
      // A list of two complaints asks for both.
      ...aliases[language].filter((word) => !/和| and /.test(word)),
      ...(everyday[id]?.[language] ?? []),
    ]
  }
  const question = { en: (word: string) => `${word}?`, zh: (word: string) => `${word}吗？` }
  const plain = {
    en: (word: string) => `Do you have ${word}?`,
    zh: (word: string) => `有${word}吗？`,
  }
  // One patient for each complaint: words are many.
  const byComplaint = new Map(
    people.flatMap((person) =>
      person.view.complaint.findings
        .filter((id) => (knowledge.finding.get(id)?.stigma ?? 3) === 0)
        .map((id) => [id, person] as const),
    ),
  )

  test.each(languages)('patients confirm it in any plain word for it, in %s', (language) => {
    expect(byComplaint.size).toBeGreaterThan(40)
    const missed = [...byComplaint].flatMap(([id, person]) => {
      const own = words(id, language).map((word) => question[language](word))
      const spoken = (everyday[id]?.[language] ?? []).map(plain[language])
      return [...own, ...spoken].flatMap((text) => {
        const reply = replyTo(person, language, [opening[language], text])
        return reply.told.some(({ finding, state }) => finding === id && state === 'present')
          ? []
          : [`${id}: ${text} → ${reply.text} [${reply.asked}]`]
      })
    })
    expect(missed).toEqual([])
  })
})
