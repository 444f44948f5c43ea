/** What a short Chinese question goes on about that is no symptom: the job, the periods, the medicine just spoken of. */
import { perKnowledge } from '../../../../knowledge/per-knowledge.js'
import type { PatientContext } from '../../../../patient.js'
import { type AskedAttribute, looseAttribute } from '../attributes.js'
import { languageByScript } from '../finding-match.js'
import { isKnown, isWholeIllness, lastHistory } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import type { FollowUp, TextReader } from './question.js'
import { aboutAside, sequelOf } from './sequels.js'

/** The word that makes a question about a topic of the base whole. */
const words: ReadonlyMap<string, string> = new Map([
  ['job', '工作'],
  ['periods', '月经'],
  ['last-period', '月经'],
  ...['period-age', 'period-cycle', 'period-days', 'period-pain', 'period-flow'].map(
    (id): [string, string] => [id, '月经'],
  ),
  ['water-intake', '喝水'],
  ['old-operations', '手术'],
  ['children', '孩子'],
  ['partner-health', '爱人'],
  ['marital-status', '爱人'],
  ['parents-siblings', '父母'],
  ['hospital-stays', '住院'],
  ['sleep-general', '睡觉'],
  ['urine-general', '小便'],
  ['bowels-general', '大便'],
])

/** The same for findings. */
const ofFindings: ReadonlyMap<string, string> = new Map([
  ['missed-period', '月经'],
  ['heavy-periods', '月经'],
  ['thirst', '喝水'],
  ['smoking', '抽烟'],
  ['heavy-drinking', '喝酒'],
  ['frequent-urination', '小便'],
  ['painful-urination', '小便'],
  ['blood-in-urine', '小便'],
  ['diarrhoea', '大便'],
  ['constipation', '大便'],
  ['bloody-stool', '大便'],
  ['black-stool', '大便'],
  ['mucus-stool', '大便'],
  ['sputum', '痰'],
  ['regular-medication', '药'],
])

/** What is asked of a medicine that was told. */
const ofMedicine: readonly (readonly [AskedAttribute, RegExp])[] = [
  [
    'purpose',
    /治什么|管什么|干(?:什么|嘛|啥)|(?:什么|啥)病|作用|哪(?:儿|里)?(?:疼|不舒服)|为(?:什么|啥)|因为/,
  ],
  ['which', /叫什么|什么名|名字|哪(?:几)?种|什么药|药名|叫啥/],
  ['frequency', /几次|几片|几回|几粒|怎么吃|(?:多久|几天).{0,3}一[次回]/],
  ['duration', /多久|多长时间|[几多]少?年|几个月|多少年/],
]

/** The Chinese names of medicines in what patients say of them, each with its finding. */
const medicineNames = perKnowledge(({ details, finding }): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  for (const { of = [], attribute, facts = [] } of details) {
    const medicine = of.find((id) => finding.get(id)?.kind === 'medication')
    if (attribute !== 'which' || medicine === undefined) continue
    for (const word of facts.flatMap(({ zh }) => zh).flatMap((fact) => fact.match(drugName) ?? []))
      names.set(word, names.get(word) ?? medicine)
  }
  return names
})

/** The end of a clause that is the name of a medicine: 降压的氨氯地平, 药店买的布洛芬. */
const drugName = /(?<=^|[，。、的和叫是])\p{Script=Han}{2,5}?(?=片?(?:[，。、和加]|还有|$))/gu

/** The medicine that a question names as the patient did, some time before: 叶酸吃了多久. */
function echoedMedicine({ knowledge, context, text }: FollowUp): string | undefined {
  const said = context.dialogue.map(({ reply }) => reply.text).join(' ')
  return [...medicineNames(knowledge)].find(
    ([name]) => text.includes(name) && said.includes(name),
  )?.[1]
}

/** "叫什么名字？", "治什么的？" after a medicine. */
function ofToldMedicine(given: FollowUp) {
  const { knowledge, context, text, alone } = given
  const echoed = echoedMedicine(given)
  const sequel = echoed === undefined ? undefined : sequelOf(given, [echoed])
  if (sequel) return aboutAside(alone, sequel.id)
  const medicine = echoed ?? lastHistory(knowledge, context, ({ kind }) => kind === 'medication')
  if (
    medicine === undefined ||
    alone.topics.some(({ guessed, finding }) => !guessed && !isWholeIllness(knowledge, finding))
  )
    return undefined
  const attribute = ofMedicine.find(([, asks]) => asks.test(text))?.[0]
  if (attribute === undefined) return undefined
  const had =
    echoed !== undefined ||
    context.dialogue.at(-1)?.reply.told.some((one) => one.finding === medicine && isKnown(one))
  const topic = had
    ? { finding: medicine, of: medicine, attribute, missing: true }
    : { finding: medicine }
  return { ...alone, kind: 'finding' as const, topics: [topic], loose: [], asides: [] }
}

/** Characters of the longest question that is completed: by a medicine, and by another topic. */
const longest = { medicine: 12, other: 8 } as const

/** Exchanges back that a topic is gone on about. */
const memory = 4

/** A topic, and the word for it. */
interface Spoken {
  readonly id: string
  readonly word: string
}

/** What was spoken of last, where it is no complaint of the patient's. */
function lastSpoken({ dialogue }: PatientContext, reader: TextReader): Spoken | undefined {
  for (const { utterance, reply } of dialogue.slice(-memory).reverse()) {
    const { kind, asides, topics } = reader.parse(utterance)
    const named = asides.findLast((id) => words.has(id))
    if (named !== undefined) return { id: named, word: words.get(named) ?? '' }
    const [asked] = reply.asked
    const told = reply.told.find(({ finding }) => finding === asked)
    const word = ofFindings.get(asked ?? '')
    if (asked !== undefined && word !== undefined && told) return { id: asked, word }
    if (told && isKnown(told)) return undefined
    // Another topic lies between.
    if (kind === 'open' || asides.length > 0 || topics.some(({ guessed }) => !guessed))
      return undefined
  }
  return undefined
}

/** "规律吗？" after the periods, "几年了？" after the job: the question with the word for what was spoken of. */
export function ofSpokenTopic(given: FollowUp): ParsedUtterance | undefined {
  const { knowledge, context, reader, text, alone, doubtful } = given
  if (languageByScript(text) === 'en') return undefined
  if (echoedMedicine(given) !== undefined) return ofToldMedicine(given)
  if (text.length > longest.medicine) return undefined
  const named = reader.named(text).some((id) => !isWholeIllness(knowledge, id))
  const open =
    doubtful ||
    alone.kind === 'attribute' ||
    alone.kind === 'aside' ||
    (alone.kind === 'finding' && !named && alone.topics.every(({ of }) => of === undefined))
  if (!open) return undefined
  const medicine = ofToldMedicine(given)
  if (medicine) return medicine
  if (text.length > longest.other) return undefined
  const spoken = lastSpoken(context, reader)
  if (spoken === undefined || text.includes(spoken.word)) return undefined
  // 多长时间了 after a symptom asks for a detail of it.
  const symptom = knowledge.finding.get(spoken.id)?.kind === 'symptom'
  if (symptom && looseAttribute(text) !== undefined) return undefined
  const completed = `${spoken.word}${text.replace(/^(?:那|嗯|好)+/, '')}`
  const parsed = reader.parse(completed)
  const illness = parsed.topics.every(({ finding }) => isWholeIllness(knowledge, finding))
  // Years in a job are none of the illness's.
  if (parsed.kind === 'attribute' || (parsed.kind === 'finding' && illness))
    return { ...alone, kind: 'unmodelled', topics: [], loose: [], asides: [], expects: 'content' }
  if (parsed.kind === 'aside') {
    // The word only added its own topic: 有孩子吗 after the marriage.
    const own = alone.kind === 'aside' && alone.asides.every((id) => parsed.asides.includes(id))
    if (own && parsed.asides.length > alone.asides.length) return undefined
    // What names another topic by itself is about that: "您多大了？" after the children.
    const other = !doubtful && alone.kind === 'aside' && parsed.asides[0] !== alone.asides[0]
    const goesOn = parsed.asides.includes(spoken.id) && !text.includes('你')
    return reader.namesAside(completed) && (goesOn || !other) ? parsed : undefined
  }
  if (!doubtful && alone.kind === 'aside') return undefined
  return parsed.kind === 'finding' && parsed.topics.every(({ guessed }) => !guessed)
    ? parsed
    : undefined
}
