/** What a short Chinese question goes on about that is no symptom: the job, the periods, the medicine just spoken of. */
import type { PatientContext } from '../../../../patient.js'
import { languageByScript } from '../finding-match.js'
import { isKnown } from '../focus.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import { type FollowUp, isShort, type TextReader } from './question.js'

/** The word that makes a question about a topic of the base whole. */
const words: ReadonlyMap<string, string> = new Map([
  ['job', '工作'],
  ['periods', '月经'],
  ['last-period', '月经'],
  ['period-age', '月经'],
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
  ['diarrhoea', '大便'],
  ['constipation', '大便'],
  ['sputum', '痰'],
])

/** Exchanges back that a topic is gone on about. */
const memory = 4

/** The word for what was spoken of last, where it is no complaint of the patient's. */
function wordOfLast({ dialogue }: PatientContext, reader: TextReader): string | undefined {
  for (const { utterance, reply } of dialogue.slice(-memory).reverse()) {
    const { kind, asides, topics } = reader.parse(utterance)
    const named = asides.findLast((id) => words.has(id))
    if (named !== undefined) return words.get(named)
    const [asked] = reply.asked
    const told = reply.told.find(({ finding }) => finding === asked)
    if (asked !== undefined && told && (ofFindings.has(asked) || isKnown(told)))
      return ofFindings.get(asked)
    // Another topic lies between.
    if (kind === 'open' || asides.length > 0 || topics.some(({ guessed }) => !guessed))
      return undefined
  }
  return undefined
}

/** "规律吗？" after the periods, "几年了？" after the job: the question with the word for what was spoken of. */
export function ofSpokenTopic(given: FollowUp): ParsedUtterance | undefined {
  const { context, reader, text, alone, doubtful } = given
  if (languageByScript(text) === 'en' || !isShort(text)) return undefined
  const whole = alone.kind === 'finding' && alone.topics.every(({ of }) => of === undefined)
  const says = whole && reader.named(text).length > 0
  const open = doubtful || alone.kind === 'attribute' || alone.kind === 'aside' || (whole && !says)
  if (!open) return undefined
  const word = wordOfLast(context, reader)
  if (word === undefined || text.includes(word)) return undefined
  const completed = `${word}${text.replace(/^(?:那|嗯|好)+/, '')}`
  const parsed = reader.parse(completed)
  if (parsed.kind === 'aside') {
    // What names another topic by itself is about that.
    const other = !doubtful && alone.kind === 'aside' && parsed.asides[0] !== alone.asides[0]
    return reader.namesAside(completed) && !other ? parsed : undefined
  }
  return parsed.kind === 'finding' && parsed.topics.every(({ guessed }) => !guessed)
    ? parsed
    : undefined
}
