/**
 * Parts of the fixed rewards of DoctorAgent-RL and TakesTwo.
 *
 * All parts are computed from the facts of the turns, never from the patient's wording, and the total is multiplied by
 * the correctness of the diagnosis, so that length, listing, repeating or guessed advice pay nothing by themselves. A
 * wrong or missing diagnosis is worth 0.
 */
import type { GraderView } from '../../case.js'
import { diagnosisOf, type Episode, type EpisodeTurn } from '../../episode.js'
import { Fault } from '../../error.js'
import { memoizeText } from '../../platform/memoize.js'
import { notApplicable, ok, type Part, type Score } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { wordStems } from '../../text/word-stems.js'
import type { RewardArguments } from '../define.js'
import { askJudge } from '../judges/ask-judge.js'
import type { Judge } from '../judges/judge.js'
import { findInGold, goldIndex } from '../outcome/diagnosis-list.js'
import { readMention } from '../outcome/disease-names.js'
import { detectEvasion } from '../outcome/evasion.js'
import { type Formulary, findInFormulary } from '../outcome/formulary.js'
import { historyCoverage } from '../process/history-coverage.js'
import { toPart } from '../score.js'
import { goldTexts } from './doctoragent-rl-texts.js'

/** Checks that an episode was played; one without a turn was abandoned and must not be scored. @throws Fault */
export function requireTurns({ id, turns }: Episode): void {
  if (turns.length === 0) throw new Fault('component-failed', `episode ${id} has no turn`)
}

/** The diagnosis part: 1 where the whole text names the primary diagnosis, else 0. */
export function diagnosisPart(
  episode: Episode,
  { gold }: GraderView,
  formulary: Formulary,
): Part & { readonly status: 'ok' } {
  const named = diagnosisOf(episode)?.diagnosis
  const mention = named === undefined ? undefined : readMention(named)
  const isRight =
    mention !== undefined &&
    (findInGold(gold, mention)?.exact ||
      findInFormulary(formulary, mention)?.id === goldIndex(gold).diagnoses[0].id)
  return { status: 'ok', value: isRight ? 1 : 0, evidence: named ?? 'no diagnosis' }
}

/**
 * Chance level of the word F1: two recommendations for different diseases of the package's cases have .20 to .30 on
 * average, by language and tier.
 */
const chance = 0.3

/** The set of words of a text; cached, as cases share advice and a policy repeats a few texts. */
const wordSet = memoizeText((text): ReadonlySet<string> => new Set(wordStems(text)), { most: 1000 })

function likeness(given: string, gold: string): number {
  const [said, wanted] = [wordSet(given), wordSet(gold)]
  let common = 0
  for (const word of said) if (wanted.has(word)) common++
  const f1 = common === 0 ? 0 : (2 * common) / (said.size + wanted.size)
  return Math.max(0, (f1 - chance) / (1 - chance))
}

/** Maximum length of a recommendation, in UTF-16 units; a longer one counts as none. */
const maxLength = 2000

const adviceText = (episode: Episode): string => {
  const text = stripHiddenReasoning(diagnosisOf(episode)?.recommendation ?? '')
  return text.length > maxLength ? '' : text
}

/** The recommendation part: similarity to the gold one, by words; not applicable where the case has none. */
export function recommendationPart(episode: Episode, truth: GraderView): Part {
  const { recommendation } = goldTexts(truth, episode.language)
  if (recommendation === '') return notApplicable
  const given = adviceText(episode)
  return ok(likeness(given, recommendation), given.slice(0, 80) || 'no recommendation')
}

/** Credit of a judge's similarity of 0 to 5: 0 up to 2 ("key details or context differ"), then by thirds. */
const credit = (similarity: number): number => Math.max(0, (similarity - 2) / 3)

/**
 * The diagnosis part by a judge, 0 to 1. A list, an evasive answer or an essay is 0 without asking, a name of the primary
 * diagnosis 1.
 */
export async function judgedDiagnosisPart(
  [episode, truth, context]: RewardArguments,
  judge: Judge,
): Promise<Part & { readonly status: 'ok' }> {
  const reference = goldTexts(truth, episode.language).diagnosis
  const answer = stripHiddenReasoning(diagnosisOf(episode)?.diagnosis ?? '')
  const mention = answer === '' ? undefined : readMention(answer)
  const refused = mention ? detectEvasion(answer, reference) : 'no diagnosis'
  if (refused) return { status: 'ok', value: 0, evidence: refused }
  if (mention && findInGold(truth.gold, mention)?.exact)
    return { status: 'ok', value: 1, evidence: `alias table: ${answer.slice(0, 80)}` }
  const asked = { task: 'similarity', of: 'diagnosis', reference, answer } as const
  const similarity = await askJudge(judge, asked, context)
  const evidence = `${judge.judgeName}: ${similarity} of 5 for ${answer.slice(0, 80)}`
  return { status: 'ok', value: credit(similarity), evidence }
}

/** The recommendation part by a judge, 0 to 1; not applicable where the case has none. */
export async function judgedRecommendationPart(
  [episode, truth, context]: RewardArguments,
  judge: Judge,
): Promise<Part> {
  const reference = goldTexts(truth, episode.language).recommendation
  if (reference === '') return notApplicable
  const answer = adviceText(episode)
  if (answer === '') return ok(0, 'no recommendation')
  const asked = { task: 'similarity', of: 'recommendation', reference, answer } as const
  const similarity = await askJudge(judge, asked, context)
  return ok(credit(similarity), `${judge.judgeName}: ${similarity} of 5`)
}

const history = historyCoverage()

/** The history part: the weighted share of the findings worth eliciting that were elicited, each once. */
export const historyPart = async (episode: Episode, truth: GraderView): Promise<Part> =>
  toPart(await history(episode, truth))

/** The precision part: the share of questions that newly settled a finding of the case; 0 without a question. */
export function precisionPart({ turns }: Episode, { findings }: GraderView): Part {
  const settled = new Set<string>()
  let asked = 0
  let hits = 0
  for (const { action, facts } of turns) {
    let fresh = 0
    for (const { finding, state } of facts.told) {
      if (state === 'unknown' || settled.has(finding)) continue
      settled.add(finding)
      if (findings.some(({ id }) => id === finding)) fresh++
    }
    if (action.kind !== 'ask') continue
    asked++
    if (fresh > 0 && (facts.questions ?? 1) === 1) hits++
  }
  return ok(asked === 0 ? 0 : hits / asked, `${hits} of ${asked} questions`)
}

/** Whether a turn is a fault of the doctor: no question or several, a repeat, a refused or an invalid action. */
function isFault({ action, outcome, facts }: EpisodeTurn): boolean {
  if (action.kind === 'invalid' || outcome.kind === 'rejected') return true
  if (action.kind === 'order') return facts.ordered === 'repeat'
  if (action.kind !== 'ask') return false
  return (
    (facts.questions ?? 1) !== 1 ||
    facts.understood === 'repeated' ||
    facts.understood === 'refused'
  )
}

/**
 * The conduct part: 1 less .2 for each turn at fault, at least 0; 0 without a diagnosis, or without a recommendation
 * where the case has one. A question that the patient cannot answer is not a fault.
 */
export function conductPart(episode: Episode, truth: GraderView): Part {
  const given = diagnosisOf(episode)
  if (!given) return ok(0, `no diagnosis: ${episode.stop}`)
  if (goldTexts(truth, episode.language).recommendation !== '' && adviceText(episode) === '')
    return ok(0, 'no recommendation')
  const faults = episode.turns.filter(isFault).length
  return ok(Math.max(0, 1 - 0.2 * faults), `${faults} turns at fault`)
}

/** The earliness part: the share of the turns that was left. */
export const earlinessPart = ({ turns, maxTurns }: Episode): Part =>
  ok(Math.max(0, 1 - turns.length / maxTurns), `${turns.length} of ${maxTurns} turns`)

/**
 * Combines the parts: right × Σ wᵢ·vᵢ / Σ wᵢ over those that apply, in [0, 1]. In the sum the diagnosis counts as 1.
 * @param right the diagnosis part
 * @param weights weights by part name, `diagnosis` among them
 */
export function combineParts(
  right: Part & { readonly status: 'ok' },
  parts: Readonly<Record<string, Part>>,
  weights: { readonly diagnosis: number; readonly [part: string]: number },
): Score {
  let applied = weights.diagnosis
  let sum = applied
  for (const [name, part] of Object.entries(parts)) {
    if (part.status !== 'ok') continue
    applied += weights[name] ?? 0
    sum += (weights[name] ?? 0) * part.value
  }
  return {
    total: Math.min(1, (right.value * sum) / applied),
    parts: { diagnosis: right, ...parts },
  }
}
