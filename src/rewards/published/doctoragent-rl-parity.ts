/** Parity with the three training environments of DoctorAgent-RL as released, computed from our episodes. */
import { type GraderView, textInLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import { Fault } from '../../error.js'
import { ok, type Score } from '../../reward.js'
import type { RewardArguments } from '../define.js'
import type { Judge } from '../judges/judge.js'
import { bagF1 } from '../text/bag-f1.js'
import { characterLcs } from '../text/common-subsequence.js'
import { pythonNumber, strip } from '../text/python-text.js'
import { type LoopExchange, replayLoop } from './doctoragent-rl-loop.js'
import { goldTexts, readAnswerTag } from './doctoragent-rl-texts.js'

/** A recorded question with its answer, which env.py matches questions against. */
export interface RecordedQuestion {
  /** The id of the finding it is about. */
  readonly finding: string
  /** Empty where none was recorded. */
  readonly question: string
  readonly answer: string
}

/** Substitutes for the models behind the released environments; their replies are parsed as released. */
export interface DoctorAgentRlModels {
  /**
   * The judge of repeats, given the question and earlier ones, each cut at its second colon. A reply with "Sorry" means
   * a repeat. @default "Sorry" where the turn's facts call the question repeated
   */
  readonly repeats?: (question: string, earlier: readonly string[], turn: EpisodeTurn) => string
  /**
   * The matcher, which replies `<answer>` with the index of a recorded answer, or -1. @default the index of the first
   * recorded finding that the turn reported, or asked again
   */
  readonly matches?: (
    question: string,
    recorded: readonly RecordedQuestion[],
    turn: EpisodeTurn,
  ) => string
}

/** Parity options of the three rewards. */
export interface DoctorAgentRlParityOptions extends DoctorAgentRlModels {
  /**
   * Whether no other episode is in the batch. In a batch an episode at its turn limit is asked again every other step
   * until the loop ends: never diagnosing within 2 turns is worth -32, alone -4. Alone, the patient environment raises
   * at a repeat, and its part is unavailable. @default false
   */
  readonly alone?: boolean
  /** Number of generations of the training loop; it caps the episode's own turn limit. @default 10 */
  readonly loop?: number
}

/** Parity options with all defaults filled in. */
export type ParityOptions = Required<DoctorAgentRlParityOptions>

const factModels: Required<DoctorAgentRlModels> = {
  repeats: (_question, _earlier, { facts }) => (facts.understood === 'repeated' ? 'Sorry' : 'OK.'),
  matches: (_question, recorded, { facts }) => {
    const about = facts.told[0] ? facts.told.map(({ finding }) => finding) : facts.asked
    const asked = facts.told[0] || facts.understood === 'repeated' ? about : []
    return `<answer>${recorded.findIndex(({ finding }) => asked.includes(finding))}</answer>`
  },
}

/** Completes the parity options. @throws RangeError for a `loop` that is not a positive integer */
export function completeParityOptions({
  alone = false,
  loop = 10,
  repeats = factModels.repeats,
  matches = factModels.matches,
}: DoctorAgentRlParityOptions): ParityOptions {
  if (!Number.isSafeInteger(loop) || loop < 1)
    throw new RangeError(`Expected \`loop\` to be a whole number from 1, got ${loop}`)
  return { alone, loop, repeats, matches }
}

/** The sum of the parts, of which `paid` has what each turn was paid; all else is paid with the last one. */
function sumScore(
  parts: Readonly<Record<string, number>> & { readonly turns: number },
  paid: readonly number[],
): Score {
  const total = Object.values(parts).reduce((sum, value) => sum + value, 0)
  const last = paid.length - 1
  return {
    total,
    parts: Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, ok(value)])),
    turns: paid.map((value, t) => value + (t === last ? total - parts.turns : 0)),
  }
}

const stripHeader = (text: string): string => {
  const [, afterHeader] = text.split('\nassistant\n')
  return afterHeader === undefined ? text : strip(afterHeader)
}

const outcomeText = ({ outcome }: EpisodeTurn): string => ('text' in outcome ? outcome.text : '')

/** The recorded questions of a case: its findings with wordings of their own, or else all that the patient knows. */
function recordedQuestions(
  { findings }: GraderView,
  { language }: Episode,
): readonly RecordedQuestion[] {
  const known = findings.filter(({ knownBy }) => knownBy === 'patient')
  const worded = known.filter(({ question, utterance }) => question ?? utterance)
  return (worded.length > 0 ? worded : known).map(({ id, question, utterance }) => ({
    finding: id,
    question: question ? textInLanguage(question, language) : '',
    answer: utterance ? textInLanguage(utterance, language) : '',
  }))
}

/** The question reward of env.py: by the recorded answer that the matcher finds. */
function matcherReward(recorded: readonly RecordedQuestion[], matches: ParityOptions['matches']) {
  const visited = new Set<number>()
  return (question: string, turn: EpisodeTurn, history: LoopExchange[]): number => {
    const said = stripHeader(matches(question, recorded, turn))
    const index = pythonNumber(/<answer>(-?\p{Nd}+)<\/answer>/u.exec(said)?.[1] ?? '-1')
    const found = recorded[index]
    const last = history.at(-1)
    history.push({ doctor: question, patient: found?.answer ?? '' })
    if (!found) return last && characterLcs(question, last.doctor) > 0.8 ? -2 : 0
    if (visited.has(index)) return -2
    visited.add(index)
    return 1
  }
}

/** Recall and precision as released, which look the patient's answers up among the recorded questions. */
function lookupReward(
  history: readonly LoopExchange[],
  recorded: readonly RecordedQuestion[],
): number {
  const questions = new Set(recorded.map(({ question }) => question).filter(Boolean))
  const found = new Set(history.map(({ patient }) => patient).filter((text) => questions.has(text)))
  const share = (of: number): number => (of === 0 ? 0 : found.size / of)
  return 5 * share(recorded.length) + 5 * share(history.length)
}

/** Released score of env.py: matched answers, and texts compared by character LCS. */
export async function scoreMatchParity(
  episode: Episode,
  truth: GraderView,
  options: ParityOptions,
): Promise<Score> {
  const recorded = recordedQuestions(truth, episode)
  const { turns, paid, commitment, history } = await replayLoop(episode, options, {
    ...{ invalid: -3, oneMark: false, unlabelled: 'put', absorbing: false, remembersAll: false },
    ask: matcherReward(recorded, options.matches),
  })
  const gold = goldTexts(truth, episode.language)
  return sumScore(
    {
      turns,
      questions: commitment ? lookupReward(history, recorded) : 0,
      diagnosis: commitment ? 5 * characterLcs(commitment.diagnosis, gold.diagnosis) : 0,
      recommendation: 5 * characterLcs(commitment?.recommendation ?? '', gold.recommendation),
    },
    paid,
  )
}

/** The question as shown to the models: the text between the first colon and the second. */
const afterColon = (text: string): string =>
  text.includes(':') ? (text.split(':')[1] ?? '') : text

/** The question reward of the generative environments: by the judge of repeats, then the patient's answer. */
function generativeReward({ repeats, alone }: ParityOptions, raises: boolean) {
  return (question: string, turn: EpisodeTurn, history: LoopExchange[]): number => {
    const earlier = history
      .map(({ doctor }) => doctor)
      .filter((text) => !text.includes('</answer>'))
    if (repeats(afterColon(question), earlier.map(afterColon), turn).includes('Sorry')) {
      if (alone && raises)
        throw new Fault(
          'component-failed',
          'the released environment raises where every question of a step is a repeat',
        )
      // An unaccepted reply is kept with its tags and never shown to the judge again.
      return -2
    }
    history.push({ doctor: question, patient: '' })
    return stripHeader(outcomeText(turn)).includes('Sorry') ? -1 : 1
  }
}

/** Released score of env_patient_llm.py: a generative patient, and texts compared as bags of jieba tokens. */
export async function scorePatientParity(
  episode: Episode,
  truth: GraderView,
  options: ParityOptions,
): Promise<Score> {
  const { turns, paid, commitment } = await replayLoop(episode, options, {
    ...{ invalid: -2, oneMark: true, unlabelled: 'question', absorbing: false, remembersAll: true },
    ask: generativeReward(options, true),
  })
  const gold = goldTexts(truth, episode.language)
  return sumScore(
    {
      turns,
      diagnosis: commitment ? 5 * bagF1(commitment.diagnosis, gold.diagnosis) : 0,
      recommendation: 5 * bagF1(commitment?.recommendation ?? '', gold.recommendation),
    },
    paid,
  )
}

/** Reads a judge's similarity: the first digit from 0 to 5 in the answer tags, or without tags anywhere; else 0. */
export const readSimilarityParity = (words: string): number =>
  Number(/[0-5]/.exec(strip(readAnswerTag(words) ?? words))?.[0] ?? 0)

/** Released score of env_patient_llm_rm.py: a generative patient, and a similarity judge, even for empty texts. */
export async function scoreJudgeParity(
  [episode, truth, context]: RewardArguments,
  options: ParityOptions,
  judge: Judge,
): Promise<Score> {
  const { turns, paid, commitment } = await replayLoop(episode, options, {
    ...{ invalid: -2, oneMark: true, unlabelled: 'nothing', absorbing: true, remembersAll: true },
    ask: generativeReward(options, false),
  })
  const gold = goldTexts(truth, episode.language)
  const judged = async (of: 'diagnosis' | 'recommendation'): Promise<number> => {
    if (!commitment) return 0
    const request = { of, reference: gold[of], answer: commitment[of] ?? '' }
    return readSimilarityParity(await judge({ task: 'similarity', ...request }, context))
  }
  return sumScore(
    {
      turns,
      diagnosis: await judged('diagnosis'),
      recommendation: await judged('recommendation'),
    },
    paid,
  )
}
