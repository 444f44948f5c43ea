/**
 * The rule patient: answers in the sentences of the knowledge base, from its view of the case, for free.
 *
 * A pure function of the utterance, the view, the dialogue and the seed. It tells what it is asked for and
 * nothing else, so that what a doctor knows is what the doctor asked.
 */
import type { FindingDefinition, Knowledge } from '../../knowledge.js'
import type { PatientContext, Reply } from '../../patient.js'
import { below } from '../../seed.js'
import type { Told, Understanding } from '../../turn.js'
import type { Occasion } from './realise.js'
import { join, say } from './realise.js'
import { closedGate, closedSentence, sentenceFor, toldState } from './recall.js'
import type { Understood } from './understand.js'
import { understand } from './understand.js'

export interface RulePatientOptions {
  readonly knowledge: Knowledge
  /** Findings answered per utterance; of the others the patient asks to be asked again. @default 2 */
  readonly maxFindings?: number
}

interface Answer {
  readonly how: Extract<Understanding, 'answered' | 'unknown' | 'exam-only' | 'repeated'>
  readonly sentence: string
  readonly told?: Told
}

const wasTold = ({ dialogue }: PatientContext, id: string): boolean =>
  dialogue.some(({ reply }) => reply.told.some(({ finding }) => finding === id))

function answer(
  knowledge: Knowledge,
  finding: FindingDefinition,
  utterance: string,
  context: PatientContext,
): Answer {
  const { view, seed, language } = context
  const generic = (occasion: Occasion) => say(occasion, language, seed, utterance)
  if (finding.knownBy === 'exam' && !view.findings.has(finding.id))
    return { how: 'exam-only', sentence: generic('exam-only') }
  const gate = closedGate(knowledge, finding, view)
  const state = toldState(finding, gate !== undefined, context)
  const own =
    gate && state === 'absent'
      ? closedSentence(finding, gate, context)
      : sentenceFor(finding, state, context)
  const sentence = own ?? generic('unknown')
  const told = { finding: finding.id, state }
  if (wasTold(context, finding.id))
    return { how: 'repeated', sentence: join([generic('again'), sentence], language), told }
  return { how: state === 'unknown' ? 'unknown' : 'answered', sentence, told }
}

const ranks = ['answered', 'unknown', 'repeated', 'exam-only'] as const

function answerAll(
  knowledge: Knowledge,
  findings: readonly string[],
  maxFindings: number,
  utterance: string,
  context: PatientContext,
): Pick<Reply, 'text' | 'understood' | 'told'> {
  const { language, seed } = context
  const answers = findings.slice(0, maxFindings).flatMap((id) => {
    const finding = knowledge.finding.get(id)
    return finding ? [answer(knowledge, finding, utterance, context)] : []
  })
  const parts = answers.map(({ sentence }) => sentence)
  if (findings.length > maxFindings) parts.push(say('one-at-a-time', language, seed, utterance))
  return {
    text: join(parts.length > 1 ? [...new Set(parts)] : parts, language),
    understood: ranks.find((rank) => answers.some(({ how }) => how === rank)) ?? 'unknown',
    told: answers.flatMap(({ told }) => told ?? []),
  }
}

/** Complaints that a patient brings up unasked: present, told for present, not yet told, and not delicate. */
function volunteered(
  complaints: readonly FindingDefinition[],
  context: PatientContext,
): readonly FindingDefinition[] {
  const { view, seed } = context
  const present = complaints.flatMap((finding) => {
    const recorded = view.findings.get(finding.id)
    return recorded?.state === 'present' && recorded.stigma === 0
      ? [{ finding, salience: recorded.salience }]
      : []
  })
  const next: FindingDefinition[] = []
  for (const { finding } of present.sort((a, b) => b.salience - a.salience)) {
    if (view.complaint.findings.includes(finding.id) || wasTold(context, finding.id)) continue
    if (toldState(finding, false, context) !== 'present') continue
    next.push(finding)
    if (next.length > below(2, seed, 'open', next[0]?.id ?? '')) break
  }
  return next
}

function tellMore(
  complaints: readonly FindingDefinition[],
  utterance: string,
  context: PatientContext,
): Pick<Reply, 'text' | 'understood' | 'told'> {
  const { language, seed } = context
  const next = volunteered(complaints, context)
  const texts = next.flatMap((finding) => sentenceFor(finding, 'present', context) ?? [])
  return {
    text: join(
      texts.length > 0 ? texts : [say('nothing-more', language, seed, utterance)],
      language,
    ),
    understood: 'open',
    told: next.map(({ id }) => ({ finding: id, state: 'present' })),
  }
}

const occasions: {
  readonly [kind in Exclude<Understood['kind'], 'finding' | 'open'>]: readonly [
    Occasion,
    Understanding,
  ]
} = {
  'diagnosis-request': ['refused', 'refused'],
  injection: ['refused', 'refused'],
  'exam-request': ['exam-request', 'exam-only'],
  courtesy: ['courtesy', 'courtesy'],
  unclear: ['unclear', 'unclear'],
}

/**
 * Makes a rule patient; it answers at once, and in `context.language` whatever language it is asked in.
 * @throws RangeError when `maxFindings` is not a positive integer
 */
export function rulePatient({
  knowledge,
  maxFindings = 2,
}: RulePatientOptions): (utterance: string, context: PatientContext) => Reply {
  if (!Number.isInteger(maxFindings) || maxFindings < 1)
    throw new RangeError(
      `Expected \`maxFindings\` to be a positive integer, got \`${maxFindings}\``,
    )
  const complaints = knowledge.findings.filter(
    ({ knownBy, type, parent }) => knownBy === 'patient' && type === 'bool' && !parent,
  )
  return (utterance, context) => {
    const { questions, findings, kind } = understand(knowledge, utterance)
    if (kind === 'finding')
      return {
        ...answerAll(knowledge, findings, maxFindings, utterance, context),
        questions,
        asked: findings,
      }
    if (kind === 'open')
      return { ...tellMore(complaints, utterance, context), questions, asked: findings }
    const [occasion, understood] = occasions[kind]
    const text = say(occasion, context.language, context.seed, utterance)
    return { text, understood, questions, asked: findings, told: [] }
  }
}
