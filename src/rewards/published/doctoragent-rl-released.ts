/** The three training environments of DoctorAgent-RL as released, over an episode of ours. */
import type { GraderView } from '../../case.js'
import { inLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import { Fault } from '../../error.js'
import type { RewardContext, Score } from '../../reward.js'
import { ok } from '../../reward.js'
import type { Judge } from '../judges/judge.js'
import { bagF1 } from '../text/bag-f1.js'
import { characterLcs } from '../text/character-lcs.js'
import type { Remembered, Rules, Step, Walked } from './doctoragent-rl-loop.js'
import { walk } from './doctoragent-rl-loop.js'
import { goldTexts, replyOf, strip, withinAnswer } from './doctoragent-rl-texts.js'

/** A recorded question with its answer, as env.py matches against. */
export interface Candidate {
  /** The finding it is about. */
  readonly finding: string
  /** Empty where none was recorded. */
  readonly question: string
  readonly answer: string
}

/** What stands in for the models behind the released environments; what they say is read as released. */
export interface ReleasedModels {
  /**
   * The judge of repeats: the question up to its second colon, and those before it, likewise. A repeat is whatever has
   * "Sorry" in it. @default "Sorry" where the turn's facts call the question repeated
   */
  readonly repeats?: (question: string, earlier: readonly string[], turn: EpisodeTurn) => string
  /**
   * The matcher: `<answer>` with the index of a recorded answer, or -1. @default the index of the first recorded finding
   * that the turn told, or asked again
   */
  readonly matches?: (question: string, recorded: readonly Candidate[], turn: EpisodeTurn) => string
}

/** The parity options of the three presets. */
export interface ReleasedOptions extends ReleasedModels {
  /**
   * Whether no other episode is in the batch. In a batch an episode at its turn limit is asked again every other step
   * until the loop ends: never diagnosing within 2 turns is worth -32, alone -4. Alone, the patient environment raises
   * at a repeat, and its part is unavailable. @default false
   */
  readonly alone?: boolean
  /** The generations of the training loop; an episode's own limit beyond it never comes. @default 10 */
  readonly loop?: number
}

export type Complete = Required<ReleasedOptions>

const byFacts: Required<ReleasedModels> = {
  repeats: (_question, _earlier, { facts }) => (facts.understood === 'repeated' ? 'Sorry' : 'OK.'),
  matches: (_question, recorded, { facts }) => {
    const about = facts.told[0] ? facts.told.map(({ finding }) => finding) : facts.asked
    const asked = facts.told[0] || facts.understood === 'repeated' ? about : []
    return `<answer>${recorded.findIndex(({ finding }) => asked.includes(finding))}</answer>`
  },
}

/** @throws RangeError for a loop of no whole turns */
export function completed({
  alone = false,
  loop = 10,
  repeats = byFacts.repeats,
  matches = byFacts.matches,
}: ReleasedOptions): Complete {
  if (!Number.isSafeInteger(loop) || loop < 1)
    throw new RangeError(`Expected \`loop\` to be a whole number from 1, got ${loop}`)
  return { alone, loop, repeats, matches }
}

/** Walks the episode with the answers of the world behind it. */
function walked(
  { turns, maxTurns }: Episode,
  { alone, loop }: Complete,
  rules: Rules<EpisodeTurn>,
): Promise<Walked> {
  const steps = turns.map(
    (turn): Step<EpisodeTurn> => ({ turn, reply: replyOf(turn, { tagged: true }) }),
  )
  return walk(steps, { alone, loop, budget: Math.min(maxTurns, loop) }, rules)
}

const scored = (parts: Readonly<Record<string, number>>): Score => ({
  total: Object.values(parts).reduce((sum, value) => sum + value, 0),
  parts: Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, ok(value)])),
})

/** Only what stands behind a chat header, where one came with the answer. */
const answerIn = (text: string): string => {
  const [, behind] = text.split('\nassistant\n')
  return behind === undefined ? text : strip(behind)
}

const heard = ({ outcome }: EpisodeTurn): string => ('text' in outcome ? outcome.text : '')

/** What was recorded of a case: its findings with words of their own, or all that the patient knows. */
function recordedOf({ findings }: GraderView, { language }: Episode): readonly Candidate[] {
  const known = findings.filter(({ knownBy }) => knownBy === 'patient')
  const worded = known.filter(({ question, utterance }) => question ?? utterance)
  return (worded.length > 0 ? worded : known).map(({ id, question, utterance }) => ({
    finding: id,
    question: question ? inLanguage(question, language) : '',
    answer: utterance ? inLanguage(utterance, language) : '',
  }))
}

/** env.py asks a matcher, and pays by the recorded answers found. */
function matching(recorded: readonly Candidate[], matches: Complete['matches']) {
  const visited = new Set<number>()
  return (question: string, turn: EpisodeTurn, history: Remembered[]): number => {
    const said = answerIn(matches(question, recorded, turn))
    const index = Number(/<answer>(-?\d+)<\/answer>/.exec(said)?.[1] ?? -1)
    const found = recorded[index]
    const last = history.at(-1)
    history.push({ doctor: question, patient: found?.answer ?? '' })
    if (!found) return last && characterLcs(question, last.doctor) > 0.8 ? -2 : 0
    if (visited.has(index)) return -2
    visited.add(index)
    return 1
  }
}

/** Recall and precision as released: the patient's answers are looked up among the recorded questions. */
function lookedUp(history: readonly Remembered[], recorded: readonly Candidate[]): number {
  const questions = new Set(recorded.map(({ question }) => question).filter(Boolean))
  const found = new Set(history.map(({ patient }) => patient).filter((text) => questions.has(text)))
  const share = (of: number): number => (of === 0 ? 0 : found.size / of)
  return 5 * share(recorded.length) + 5 * share(history.length)
}

/** env.py: matched answers, and texts compared by their characters in common order. */
export async function releasedMatch(
  episode: Episode,
  truth: GraderView,
  options: Complete,
): Promise<Score> {
  const recorded = recordedOf(truth, episode)
  const { turns, commitment, history } = await walked(episode, options, {
    ...{ invalid: -3, oneMark: false, unlabelled: 'put', absorbing: false, remembersAll: false },
    ask: matching(recorded, options.matches),
  })
  const gold = goldTexts(truth, episode.language)
  return scored({
    turns,
    questions: commitment ? lookedUp(history, recorded) : 0,
    diagnosis: commitment ? 5 * characterLcs(commitment.diagnosis, gold.diagnosis) : 0,
    recommendation: 5 * characterLcs(commitment?.recommendation ?? '', gold.recommendation),
  })
}

/** The question as the models were shown it: what stands between the first colon and the second. */
const shown = (text: string): string => (text.includes(':') ? (text.split(':')[1] ?? '') : text)

/** The generative environments put a question to the judge of repeats, then to the patient. */
function putting({ repeats, alone }: Complete, raises: boolean) {
  return (question: string, turn: EpisodeTurn, history: Remembered[]): number => {
    const earlier = history
      .map(({ doctor }) => doctor)
      .filter((text) => !text.includes('</answer>'))
    if (repeats(shown(question), earlier.map(shown), turn).includes('Sorry')) {
      if (alone && raises)
        throw new Fault(
          'component-failed',
          'the released environment raises where every question of a step is a repeat',
        )
      // As an unaccepted reply, it is kept with its tags and never shown to the judge again.
      return -2
    }
    history.push({ doctor: question, patient: '' })
    return answerIn(heard(turn)).includes('Sorry') ? -1 : 1
  }
}

/** env_patient_llm.py: a generative patient, and texts compared as bags of jieba tokens. */
export async function releasedPatient(
  episode: Episode,
  truth: GraderView,
  options: Complete,
): Promise<Score> {
  const { turns, commitment } = await walked(episode, options, {
    ...{ invalid: -2, oneMark: true, unlabelled: 'question', absorbing: false, remembersAll: true },
    ask: putting(options, true),
  })
  const gold = goldTexts(truth, episode.language)
  return scored({
    turns,
    diagnosis: commitment ? 5 * bagF1(commitment.diagnosis, gold.diagnosis) : 0,
    recommendation: 5 * bagF1(commitment?.recommendation ?? '', gold.recommendation),
  })
}

/** The first digit from 0 to 5 within the answer tags, or without them anywhere; 0 where there is none. */
export const releasedSimilarity = (words: string): number =>
  Number(/[0-5]/.exec(strip(withinAnswer(words) ?? words))?.[0] ?? 0)

/** env_patient_llm_rm.py: a generative patient, and a judge of meaning, asked about empty texts too. */
export async function releasedJudge(
  [episode, truth, context]: readonly [Episode, GraderView, RewardContext],
  options: Complete,
  judge: Judge,
): Promise<Score> {
  const { turns, commitment } = await walked(episode, options, {
    ...{ invalid: -2, oneMark: true, unlabelled: 'nothing', absorbing: true, remembersAll: true },
    ask: putting(options, false),
  })
  const gold = goldTexts(truth, episode.language)
  const judged = async (of: 'diagnosis' | 'recommendation'): Promise<number> => {
    if (!commitment) return 0
    const request = { of, reference: gold[of], answer: commitment[of] ?? '' }
    return releasedSimilarity(await judge({ task: 'similarity', ...request }, context))
  }
  return scored({
    turns,
    diagnosis: await judged('diagnosis'),
    recommendation: await judged('recommendation'),
  })
}
