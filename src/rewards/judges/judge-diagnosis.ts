/** Judges whether the doctor's diagnosis is the gold one: by the alias table first, else by a judge. */
import { type GraderView, primaryDiagnosis, textInLanguage } from '../../case.js'
import { diagnosisOf, type Episode } from '../../episode.js'
import type { RewardContext } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { findInGold, primaryDiagnosisId } from '../outcome/diagnosis-list.js'
import { type Mention, readMention } from '../outcome/disease-names.js'
import { detectEvasion } from '../outcome/evasion.js'
import { type Formulary, findInFormulary } from '../outcome/formulary.js'
import { type AskOptions, askJudge } from './ask-judge.js'
import type { Judge } from './judge.js'

const evidenceLength = 80

/** Options of {@link judgeDiagnosis}. */
export interface JudgeDiagnosisOptions extends AskOptions {
  /** Diseases known by name: a diagnosis that is another of them is wrong without asking. @default none */
  readonly formulary?: Formulary
}

/** Whether a mention is the primary diagnosis, as far as names decide; undefined where a judge has to. */
export function decideByName(
  gold: GraderView['gold'],
  mention: Mention,
  formulary: Formulary,
): boolean | undefined {
  const listed = findInGold(gold, mention)
  if (listed) return listed.exact
  const named = findInFormulary(formulary, mention)
  if (!named) return undefined
  const primary = primaryDiagnosisId(gold)
  if (named.id === primary) return true
  // Only where the formulary knows the right disease too is another entry certainly another disease.
  return formulary.some(({ id }) => id === primary) ? false : undefined
}

/**
 * Judges the visible text of the doctor's diagnosis against the primary one of the gold standard. No diagnosis, a list,
 * an abstention and an essay are wrong without asking; a name of the gold standard or of another disease needs no judge.
 * @throws Fault where the judge cannot be asked, or no reply of it can be read
 */
export async function judgeDiagnosis(
  episode: Episode,
  { gold }: Pick<GraderView, 'gold'>,
  judge: Judge,
  context?: RewardContext,
  { asks, formulary = [] }: JudgeDiagnosisOptions = {},
) {
  const given = diagnosisOf(episode)
  const diagnosis = given && stripHiddenReasoning(given.diagnosis)
  if (!diagnosis) return { right: false, evidence: 'no diagnosis' }
  const reference = textInLanguage(primaryDiagnosis(gold).name, episode.language)
  const said = diagnosis.slice(0, evidenceLength)
  const evaded = detectEvasion(diagnosis, reference)
  if (evaded) return { right: false, evidence: `${evaded}: ${said}` }
  const mention = readMention(diagnosis)
  const known = mention && decideByName(gold, mention, formulary)
  if (known !== undefined) return { diagnosis, right: known, evidence: `alias table: ${said}` }
  const right = await askJudge(
    judge,
    { task: 'same-diagnosis', reference, answer: diagnosis },
    context,
    asks === undefined ? {} : { asks },
  )
  return {
    diagnosis,
    right,
    evidence: `${judge.judgeName}: ${right ? 'Correct' : 'Wrong'}: ${said}`,
  }
}
