/** Judges whether the doctor's diagnosis is the gold one: by the alias table first, else by a judge. */
import { type GraderView, primaryDiagnosis, textInLanguage } from '../../case.js'
import { diagnosisOf, type Episode } from '../../episode.js'
import type { RewardContext } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { findInGold } from '../outcome/diagnosis-list.js'
import { readMention } from '../outcome/disease-names.js'
import { detectEvasion } from '../outcome/evasion.js'
import { askJudge, type Judge } from './judge.js'

const evidenceLength = 80

/**
 * Judges the visible text of the doctor's diagnosis against the primary one of the gold standard. No diagnosis, a list,
 * an abstention and an essay are wrong without asking; a name of the gold standard needs no judge.
 * @throws Fault where the judge cannot be asked, or its reply is unreadable twice
 */
export async function judgeDiagnosis(
  episode: Episode,
  { gold }: Pick<GraderView, 'gold'>,
  judge: Judge,
  context?: RewardContext,
) {
  const given = diagnosisOf(episode)
  const diagnosis = given && stripHiddenReasoning(given.diagnosis)
  if (!diagnosis) return { right: false, evidence: 'no diagnosis' }
  const reference = textInLanguage(primaryDiagnosis(gold).name, episode.language)
  const said = diagnosis.slice(0, evidenceLength)
  const evaded = detectEvasion(diagnosis, reference)
  if (evaded) return { right: false, evidence: `${evaded}: ${said}` }
  const mention = readMention(diagnosis)
  const listed = mention && findInGold(gold, mention)
  if (listed) return { diagnosis, right: listed.exact, evidence: `alias table: ${said}` }
  const right = await askJudge(
    judge,
    { task: 'same-diagnosis', reference, answer: diagnosis },
    context,
  )
  return {
    diagnosis,
    right,
    evidence: `${judge.judgeName}: ${right ? 'Correct' : 'Wrong'}: ${said}`,
  }
}
