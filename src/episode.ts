/** Episode: the record of one consultation. Facts only, no reward, so any reward can be computed later. */
import type { DoctorView } from './case.js'
import type { RoleUsage } from './chat.js'
import type { Action, Language, Stop, Turn, TurnFacts } from './turn.js'

/** A speaker of a consultation. Any of them may be a policy, a model, or rules. */
export type Role = 'doctor' | 'patient' | 'examiner' | 'judge'

/** Tokens and money that a model spent on one reply. */
export interface ReplyUsage {
  readonly promptTokens: number
  readonly completionTokens: number
  /** In the currency of the model's price list. */
  readonly cost?: number
}

/** What a policy drew, with how it drew it. */
interface Drawing {
  /** The tokens it drew. */
  readonly tokens: readonly number[]
  /** log P of each drawn token under the policy at `temperature`, natural logarithm. */
  readonly logprobs: readonly number[]
  /** Version of the weights; one per token where they changed while it drew. */
  readonly policyVersion: number | readonly number[]
  readonly temperature: number
  /** `scaled`: log-probs of the temperature-scaled distribution; `raw`: of temperature 1. */
  readonly logprobMode: 'scaled' | 'raw'
  readonly stopReason: 'stop' | 'length'
  readonly usage?: ReplyUsage
}

/** Sampled tokens of one reply, as the policy hands them over; passed on to the trainer, never recomputed from text. */
export interface Sample extends Drawing {
  /** All tokens that the policy had read before it drew. */
  readonly prompt: readonly number[]
  /** Name of the policy. @default the name of the agent, or of the role */
  readonly policy?: string
}

/**
 * Sampled tokens of one reply, as an episode keeps them: without the tokens that the role's stream holds already.
 *
 * A role's tokens form streams: a stream is what its draws heard and drew, one after another. The prompt of a draw is
 * the stream so far and what was `heard` since. A prompt that does not extend the stream begins another, with all of
 * it heard: a fork.
 */
export interface Draw extends Drawing {
  readonly role: Role
  readonly policy: string
  /** Number of the stream among those of its role and policy, from 0. */
  readonly stream: number
  /** Tokens read since the stream's last draw. */
  readonly heard: readonly number[]
}

/** A turn with its facts and, if a policy or a model spoke, the doctor's reply text and everybody's draws. */
export interface EpisodeTurn extends Turn {
  readonly facts: TurnFacts
  /** The reply as written, hidden reasoning included; for format rewards, never for a judge. */
  readonly text?: string
  /** Draws of this turn, in the order in which they were made. */
  readonly draws?: readonly Draw[]
}

/** The turn's draw by a role; the last one where there are several. */
export const findDraw = (
  { draws }: Pick<EpisodeTurn, 'draws'>,
  role: Role = 'doctor',
): Draw | undefined => draws?.findLast((draw) => draw.role === role)

/** The versions of the weights that drew, one or more. */
export const drawVersions = ({ policyVersion }: Drawing): readonly number[] =>
  typeof policyVersion === 'number' ? [policyVersion] : policyVersion

/** Whether `tokens` begins with the tokens of `parts`, one part after another. */
export function extendsParts(
  tokens: readonly number[],
  parts: readonly (readonly number[])[],
): boolean {
  let at = 0
  for (const part of parts) {
    if (part.length > tokens.length - at) return false
    for (let i = 0; i < part.length; i++) if (part[i] !== tokens[at + i]) return false
    at += part.length
  }
  return true
}

/**
 * Makes the draw of a sample, given the episode's earlier draws: the part of its prompt that is new.
 * @param name the policy's name where the sample has none
 */
export function encodeDraw(
  earlier: readonly Draw[],
  role: Role,
  { prompt, policy, ...drawn }: Sample,
  name: string,
): Draw {
  const named = policy ?? name
  const own = earlier.filter((draw) => draw.role === role && draw.policy === named)
  const last = own.at(-1)?.stream ?? -1
  const read = own
    .filter(({ stream }) => stream === last)
    .flatMap(({ heard, tokens }) => [heard, tokens])
  const extending = last >= 0 && extendsParts(prompt, read)
  const known = extending ? read.reduce((sum, { length }) => sum + length, 0) : 0
  return {
    role,
    policy: named,
    stream: extending ? last : last + 1,
    heard: prompt.slice(known),
    ...drawn,
  }
}

/** Record of one finished consultation. */
export interface Episode {
  readonly id: string
  readonly caseId: string
  /** Env seed, the same for all siblings of a group. */
  readonly seed: number
  readonly agent: string
  readonly language: Language
  readonly intake: DoctorView
  readonly turns: readonly EpisodeTurn[]
  readonly end: 'terminated' | 'truncated'
  readonly stop: Stop
  /** Turn limit. */
  readonly maxTurns: number
  readonly spent: { readonly money: number; readonly minutes: number }
  readonly budget: { readonly money: number; readonly minutes: number }
  /**
   * What the language models behind doctor, patient, examiner and judge used, by role; absent where none was metered. An
   * answer that several episodes share counts in each.
   */
  readonly usage?: Readonly<Record<string, RoleUsage>>
}

/** Members of a finished episode that its env knows. */
export type EpisodeEnd = Omit<Episode, 'id' | 'agent' | 'end' | 'usage'>

/**
 * Makes the episode of an env's last step. A stop by a limit (turns or budget) is a truncation, any other a termination.
 * An env does not know its agent or the episode's place in a run: `rollout` sets `agent` and `id`.
 */
export const finishedEpisode = ({
  caseId,
  seed,
  language,
  intake,
  turns,
  stop,
  maxTurns,
  spent,
  budget,
}: EpisodeEnd): Episode => ({
  id: `${caseId}/${seed}`,
  caseId,
  seed,
  agent: 'agent',
  language,
  intake,
  turns,
  end: stop === 'max-turns' || stop === 'budget' ? 'truncated' : 'terminated',
  stop,
  maxTurns,
  spent,
  budget,
})

/** The diagnosis the doctor committed to, if one was reached. */
export function diagnosisOf(
  episode: Episode,
): Extract<Action, { readonly kind: 'diagnose' }> | undefined {
  const last = episode.turns.at(-1)?.action
  return last?.kind === 'diagnose' ? last : undefined
}

/** Replies of patients that a model plays, by how they came about; a fault that ends a consultation is not among them. */
export interface SpeechCounts {
  readonly replies: number
  /** Replies of a skin: the model's words, at once or at the second try; the template, as they did not fit or it failed. */
  readonly passed: number
  readonly retried: number
  readonly template: number
  readonly fault: number
  /** Replies of a free patient whose facts could not be read for certain. */
  readonly unread: number
  /** Replies that name a disease which nobody had named, or contradict the case or an earlier reply. */
  readonly diseaseNamed: number
  readonly contradiction: number
}

const noSpeech: SpeechCounts = Object.freeze({
  ...{ replies: 0, passed: 0, retried: 0, template: 0, fault: 0 },
  ...{ unread: 0, diseaseNamed: 0, contradiction: 0 },
})

const sumOfSpeech = (a: SpeechCounts, b: SpeechCounts): SpeechCounts => ({
  replies: a.replies + b.replies,
  passed: a.passed + b.passed,
  retried: a.retried + b.retried,
  template: a.template + b.template,
  fault: a.fault + b.fault,
  unread: a.unread + b.unread,
  diseaseNamed: a.diseaseNamed + b.diseaseNamed,
  contradiction: a.contradiction + b.contradiction,
})

/** The sum of counts; undefined of none. */
export const addSpeech = (all: Iterable<SpeechCounts | undefined>): SpeechCounts | undefined =>
  [...all].reduce((sum, one) => (sum && one ? sumOfSpeech(sum, one) : (one ?? sum)), undefined)

function turnSpeech({ outcome, facts }: EpisodeTurn): SpeechCounts | undefined {
  const { wording, flags, unread } = facts
  if (outcome.kind !== 'answered' || !(wording ?? flags)) return undefined
  return {
    ...noSpeech,
    replies: 1,
    ...(wording ? { [wording]: 1 } : {}),
    unread: unread ? 1 : 0,
    diseaseNamed: flags?.includes('disease-named') ? 1 : 0,
    contradiction: flags?.includes('contradiction') ? 1 : 0,
  }
}

/** Counts the replies of patients that a model plays; undefined where there are none. */
export const countSpeech = (episodes: Iterable<Pick<Episode, 'turns'>>): SpeechCounts | undefined =>
  addSpeech([...episodes].flatMap(({ turns }) => turns.map(turnSpeech)))
