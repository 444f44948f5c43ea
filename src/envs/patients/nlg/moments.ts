/** What a reply was about, for the persona to remark on. */
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import type { ParsedUtterance } from '../nlu/parsed-utterance.js'
import type { AnswerDraft } from './answer-input.js'
import type { ReplyMoment } from './manner-sentences.js'

/** Kinds of finding that are felt now. */
const felt: ReadonlySet<FindingDefinition['kind']> = new Set(['symptom', 'sign', 'vital'])
/** Topics too grave for a remark. */
const grave: ReadonlySet<string> = new Set(['self-harm-plan', 'guilt', 'future'])
const timed: ReadonlySet<string | undefined> = new Set(['onset', 'duration', 'timing'])
const described: ReadonlySet<string | undefined> = new Set(['character', 'site', 'radiation'])

/** The moments of a reply that tells states of findings. */
function momentsOfTold(knowledge: Knowledge, told: AnswerDraft['told']): readonly ReplyMoment[] {
  const known = told.flatMap(({ finding, state }) => {
    const definition = knowledge.finding.get(finding)
    return definition && state !== 'unknown' ? [{ definition, state }] : []
  })
  const [first] = known
  if (!first) return []
  const there = known.filter(({ state }) => state !== 'absent').map(({ definition }) => definition)
  const [main] = there
  if (!main) return [felt.has(first.definition.kind) ? 'denial' : 'never']
  return [
    ...(there.some(({ stigma }) => stigma > 0) ? (['delicate'] as const) : []),
    ...(there.some(({ attribute }) => timed.has(attribute)) ? (['time'] as const) : []),
    ...(there.some(({ attribute }) => described.has(attribute)) ? (['quality'] as const) : []),
    felt.has(main.kind) ? 'symptom' : 'history',
  ]
}

/** What a reply was about, the most telling first; nothing for one that nobody remarks on. */
export function momentsOf(
  knowledge: Knowledge,
  { understood, told }: AnswerDraft,
  { kind, speech, asides }: ParsedUtterance,
): readonly ReplyMoment[] {
  if (kind === 'exam-request') return ['exam']
  if (understood === 'courtesy') return speech === 'reassurance' ? ['comfort'] : []
  if (understood === 'repeated' || understood === 'withheld') return []
  if (told.length > 0) return momentsOfTold(knowledge, told)
  if (asides.some((aside) => grave.has(aside))) return []
  return kind === 'aside' && understood === 'answered' ? ['life'] : []
}
