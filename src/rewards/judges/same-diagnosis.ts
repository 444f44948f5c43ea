/** Whether the doctor's one diagnosis is the case's own: the alias table first, and a judge for what is left. */
import type { GraderView } from '../../case.js'
import { inLanguage, primary } from '../../case.js'
import type { Episode } from '../../episode.js'
import { diagnosisOf } from '../../episode.js'
import type { RewardContext } from '../../reward.js'
import { visible } from '../../text/hidden-reasoning.js'
import { evasion } from '../outcome/commitment.js'
import { inGold } from '../outcome/gold.js'
import { mentionOf } from '../outcome/naming.js'
import { askJudge } from './ask-judge.js'
import type { Judge } from './judge.js'

/** What was made of the diagnosis, and who or what decided it. */
export interface JudgedDiagnosis {
  /** Its visible text; absent where there was none, or it commits to nothing. */
  readonly diagnosis?: string
  readonly right: boolean
  readonly evidence: string
}

const longest = 80

/**
 * Judges the visible text of the doctor's diagnosis against the primary one of the gold standard. None, a list, an
 * abstention and an essay are wrong before anybody is asked; a name of the gold standard needs no judge.
 * @throws Fault where the judge cannot be asked, or not be read twice
 */
export async function judgeDiagnosis(
  episode: Episode,
  { gold }: Pick<GraderView, 'gold'>,
  judge: Judge,
  context?: RewardContext,
): Promise<JudgedDiagnosis> {
  const given = diagnosisOf(episode)
  const diagnosis = given && visible(given.diagnosis)
  if (!diagnosis) return { right: false, evidence: 'no diagnosis' }
  const reference = inLanguage(primary(gold).name, episode.language)
  const said = diagnosis.slice(0, longest)
  const evaded = evasion(diagnosis, reference)
  if (evaded) return { right: false, evidence: `${evaded}: ${said}` }
  const mention = mentionOf(diagnosis)
  const listed = mention && inGold(gold, mention)
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
