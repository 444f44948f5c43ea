/**
 * What the mended rewards of DoctorAgent-RL and TakesTwo are made of.
 *
 * All of it is read from the facts of the turns, never from what a patient's words look like, and every gain is
 * multiplied by whether the diagnosis is right, so that nothing else can be had for itself: not by length, by listing,
 * by repeating, by guessing at advice. A wrong diagnosis and none at all are worth 0.
 */
import type { GraderView } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import { diagnosisOf } from '../../episode.js'
import { Fault } from '../../error.js'
import { memoizeText } from '../../platform/memoize.js'
import type { Part, RewardContext, Score } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { visible } from '../../text/hidden-reasoning.js'
import { words } from '../../text/word-stems.js'
import { askJudge } from '../judges/ask-judge.js'
import type { Judge } from '../judges/judge.js'
import { evasion } from '../outcome/commitment.js'
import type { Formulary } from '../outcome/formulary.js'
import { inFormulary } from '../outcome/formulary.js'
import { goldOf, inGold } from '../outcome/gold.js'
import { mentionOf } from '../outcome/naming.js'
import { historyCoverage } from '../process/history-coverage.js'
import { partOf } from '../score.js'
import { goldTexts } from './doctoragent-rl-texts.js'

/** Nothing was played: a sample that was given up, which is nobody's score. @throws Fault */
export function checkPlayed({ id, turns }: Episode): void {
  if (turns.length === 0) throw new Fault('component-failed', `episode ${id} has no turn`)
}

/** 1 where the whole text names the primary diagnosis, else 0. */
export function rightness(
  episode: Episode,
  { gold }: GraderView,
  formulary: Formulary,
): Part & { readonly status: 'ok' } {
  const named = diagnosisOf(episode)?.diagnosis
  const mention = named === undefined ? undefined : mentionOf(named)
  const isRight =
    mention !== undefined &&
    (inGold(gold, mention)?.exact ||
      inFormulary(formulary, mention)?.id === goldOf(gold).diagnoses[0].id)
  return { status: 'ok', value: isRight ? 1 : 0, evidence: named ?? 'no diagnosis' }
}

/**
 * What two recommendations for different diseases have in common: the F1 of their words on the package's own cases is
 * .20 to .30 on average, by language and tier.
 */
const chance = 0.3

/** Cases share their advice, and a policy says the same few. */
const wordsOf = memoizeText((text): ReadonlySet<string> => new Set(words(text)), { most: 1000 })

/** F1 of the different words of two texts, less chance, from 0 to 1. */
function likeness(given: string, gold: string): number {
  const [said, wanted] = [wordsOf(given), wordsOf(gold)]
  let common = 0
  for (const word of said) if (wanted.has(word)) common++
  const f1 = common === 0 ? 0 : (2 * common) / (said.size + wanted.size)
  return Math.max(0, (f1 - chance) / (1 - chance))
}

/** The longest recommendation that is read, in UTF-16 units. */
const longest = 2000

const adviceOf = (episode: Episode): string => {
  const text = visible(diagnosisOf(episode)?.recommendation ?? '')
  return text.length > longest ? '' : text
}

/** How near the recommendation is to the gold one, by words; not applicable where the case has none. */
export function advice(episode: Episode, truth: GraderView): Part {
  const { recommendation } = goldTexts(truth, episode.language)
  if (recommendation === '') return notApplicable
  const given = adviceOf(episode)
  return ok(likeness(given, recommendation), given.slice(0, 80) || 'no recommendation')
}

/** A judge's 0 to 5 as credit: nothing up to 2, "key details or context differ", then thirds. */
const credit = (similarity: number): number => Math.max(0, (similarity - 2) / 3)

/** How right a judge finds the diagnosis, 0 to 1; a list, an evasion or an essay it is not even asked about. */
export async function judgedRightness(
  [episode, truth, context]: readonly [Episode, GraderView, RewardContext],
  judge: Judge,
): Promise<Part & { readonly status: 'ok' }> {
  const reference = goldTexts(truth, episode.language).diagnosis
  const answer = visible(diagnosisOf(episode)?.diagnosis ?? '')
  const refused = answer === '' || !mentionOf(answer) ? 'no diagnosis' : evasion(answer, reference)
  if (refused) return { status: 'ok', value: 0, evidence: refused }
  const asked = { task: 'similarity', of: 'diagnosis', reference, answer } as const
  const similarity = await askJudge(judge, asked, context)
  const evidence = `${judge.judgeName}: ${similarity} of 5 for ${answer.slice(0, 80)}`
  return { status: 'ok', value: credit(similarity), evidence }
}

/** How near a judge finds the recommendation, 0 to 1; not applicable where the case has none. */
export async function judgedAdvice(
  [episode, truth, context]: readonly [Episode, GraderView, RewardContext],
  judge: Judge,
): Promise<Part> {
  const reference = goldTexts(truth, episode.language).recommendation
  if (reference === '') return notApplicable
  const answer = adviceOf(episode)
  if (answer === '') return ok(0, 'no recommendation')
  const asked = { task: 'similarity', of: 'recommendation', reference, answer } as const
  const similarity = await askJudge(judge, asked, context)
  return ok(credit(similarity), `${judge.judgeName}: ${similarity} of 5`)
}

const history = historyCoverage()

/** The share, by weight, of what there was to elicit; each finding once. */
export const elicited = async (episode: Episode, truth: GraderView): Promise<Part> =>
  partOf(await history(episode, truth))

/** The share of the questions that settled a finding of the case that no turn before had; 0 without a question. */
export function precision({ turns }: Episode, { findings }: GraderView): Part {
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

/** Whether a turn was the doctor's fault: no question or several, a repeat, a breach, nothing that can be done. */
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
 * 1 less .2 for each turn at fault, not below 0; 0 without a diagnosis, or without a recommendation where the case has
 * one. A question that the patient cannot answer is no fault.
 */
export function conduct(episode: Episode, truth: GraderView): Part {
  const given = diagnosisOf(episode)
  if (!given) return ok(0, `no diagnosis: ${episode.stop}`)
  if (goldTexts(truth, episode.language).recommendation !== '' && adviceOf(episode) === '')
    return ok(0, 'no recommendation')
  const faults = episode.turns.filter(isFault).length
  return ok(Math.max(0, 1 - 0.2 * faults), `${faults} turns at fault`)
}

/** The share of the turns that was left. */
export const earliness = ({ turns, maxTurns }: Episode): Part =>
  ok(Math.max(0, 1 - turns.length / maxTurns), `${turns.length} of ${maxTurns} turns`)

/**
 * right × Σ wᵢ·vᵢ / Σ wᵢ over the parts that apply, in [0, 1]; `right` is also the first of the parts, as if it were 1.
 * @param weights of the parts by name, `diagnosis` among them
 */
export function earned(
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
