/**
 * The patient's reward of MrlX-TakesTwo (2025), parity and fixed, for training the patient: facts told unasked,
 * withheld or contradicted.
 */
import { type Finding, type GraderView, textInLanguage } from '../../case.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { notApplicable, ok, type Reward, type Score } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { defineReward, type RewardArguments } from '../define.js'
import { askJudge, askUntilRead } from '../judges/ask-judge.js'
import type { ConductCounts, Judge, JudgedLine } from '../judges/judge.js'
import { roundLikePython } from '../text/python-text.js'
import { goldTexts } from './doctoragent-rl-texts.js'
import { type ConductRates, judgedDialogue, readRatesObject, readRatesParity } from './takestwo.js'

/** Options of {@link takestwoPatient}. */
export interface TakesTwoPatientOptions {
  /** Whether to use the released formula. @default false */
  readonly parity?: boolean
  /** @default the rule: the findings asked and told in the turns' facts, against the case's findings */
  readonly judge?: Judge
}

/** The patient's profile: the complaint, and each finding in its recorded words or by its state. */
function renderProfile({ complaint, findings }: GraderView, { language }: Episode): string {
  const facts = findings
    .filter(({ knownBy }) => knownBy === 'patient')
    .map(({ id, state, utterance }) =>
      utterance ? textInLanguage(utterance, language) : `${id}: ${state}`,
    )
  return [textInLanguage(complaint.text, language), ...facts].join('\n')
}

/** Classes of an utterance after which any fact may be told. */
const inviting = new Set(['open', 'courtesy'])

/** Counts findings told unasked, withheld though asked and known, and told wrongly, each once. */
function countFaultsByFacts({ turns }: Episode, { findings }: GraderView): ConductCounts {
  const known = new Map<string, Finding>()
  for (const finding of findings) if (finding.knownBy === 'patient') known.set(finding.id, finding)
  const [extra, missing, opposite] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const asked = new Set<string>()
  const told = new Set<string>()
  for (const { action, facts } of turns) {
    if (action.kind !== 'ask') continue
    for (const id of facts.asked) asked.add(id)
    for (const { finding, state } of facts.told) {
      if (!asked.has(finding) && !inviting.has(facts.understood ?? '')) extra.add(finding)
      if (state === 'unknown') continue
      told.add(finding)
      const truth = known.get(finding)
      if (truth && truth.state !== 'unknown' && truth.state !== state) opposite.add(finding)
    }
  }
  for (const id of asked)
    if (!told.has(id) && (known.get(id)?.state ?? 'unknown') !== 'unknown') missing.add(id)
  return { extra: extra.size, missing: missing.size, opposite: opposite.size }
}

const visibleLines = ({ turns }: Episode): readonly JudgedLine[] =>
  turns.flatMap(({ action, outcome }): JudgedLine[] => {
    const said: JudgedLine[] =
      action.kind === 'ask' ? [{ role: 'doctor', text: stripHiddenReasoning(action.text) }] : []
    if (outcome.kind === 'answered')
      said.push({ role: 'patient', text: stripHiddenReasoning(outcome.text) })
    if (outcome.kind === 'examined') said.push({ role: 'examiner', text: outcome.text })
    return said
  })

const hasSpoken = ({ turns }: Episode): boolean =>
  turns.some(({ outcome }) => outcome.kind === 'answered')

const ratesScore = (total: number, rates: ConductRates, evidence: string): Score => ({
  total,
  parts: {
    information: ok(rates.information, evidence),
    completeness: ok(rates.completeness, evidence),
    conflict: ok(rates.conflict, evidence),
  },
})

/** How often the release asks its judge for a reply that it can read, at most; then it raises. */
const releasedAsks = 5

/** What the published prompt shows to the judge, but for the dialogue. */
const shown = (episode: Episode, truth: GraderView) => ({
  profile: renderProfile(truth, episode),
  ...goldTexts(truth, episode.language),
})

/** Bound on the absolute value of a sum of rates; beyond it the reply counts as unreadable. */
const maxTotal = 100

async function scoreParity(
  [episode, truth, context]: RewardArguments,
  judge?: Judge,
): Promise<Score> {
  const dialogue = judgedDialogue(episode.turns)
  // As published: a dialogue without an answer makes no sample of the patient.
  if (!dialogue.some(({ role }) => role === 'patient'))
    return { total: null, parts: { conduct: notApplicable } }
  const request = { task: 'patient-conduct', ...shown(episode, truth), dialogue } as const
  const read = (reply: string) => (readRatesObject(reply) ? reply : undefined)
  const words = judge
    ? (await askUntilRead(judge, request, { asks: releasedAsks, read, context })).reply
    : JSON.stringify(countFaultsByFacts(episode, truth))
  const rates = readRatesParity(words)
  // The order of the release's weights: sums of decimals differ by their order.
  const total = roundLikePython(rates.completeness + rates.conflict + rates.information)
  if (!(Math.abs(total) <= maxTotal))
    throw new Fault('model-unreadable', `expected rates, got \`${words.slice(0, 200)}\``)
  return ratesScore(total, rates, judge?.judgeName ?? 'rule')
}

async function scoreFixed(
  [episode, truth, context]: RewardArguments,
  judge?: Judge,
): Promise<Score> {
  if (!hasSpoken(episode))
    return { total: 0, parts: { conduct: ok(0, 'the patient was never asked') } }
  const dialogue = visibleLines(episode)
  const request = { task: 'patient-conduct', ...shown(episode, truth), dialogue } as const
  const { extra, missing, opposite } = judge
    ? await askJudge(judge, request, context, { asks: releasedAsks })
    : countFaultsByFacts(episode, truth)
  const rate = (faults: number): number => Math.max(0, 1 - 0.2 * faults)
  const rates = { information: rate(extra), completeness: rate(missing), conflict: rate(opposite) }
  const mean = (rates.information + rates.completeness + rates.conflict) / 3
  const evidence = `${judge?.judgeName ?? 'rule'}: ${extra} extra, ${missing} missing, ${opposite} opposite`
  return ratesScore(mean, rates, evidence)
}

/**
 * Parity: the sum of a judge's three rates, rounded to three digits, nominally 0 to 3 but not checked: in [-100, 100],
 * and unavailable beyond it or for a reply at which the released code raises. The judge reads the doctor's thoughts; a
 * dialogue without an answer makes no sample.
 *
 * Fixed, in [0, 1]: the mean of the rates, each 1 less .2 per fault and at least 0, counted by the judge or else from
 * the facts of the turns; 0 where the patient never spoke. The judge reads the visible text only.
 */
export const takestwoPatient = ({ parity = false, judge }: TakesTwoPatientOptions = {}): Reward =>
  defineReward(
    {
      name: parity ? 'takestwo-patient-parity' : 'takestwo-patient',
      bounds: parity ? [-maxTotal, maxTotal] : [0, 1],
      source: `MrlX-TakesTwo \`MedPatientRewardMultiturn\` (2025), ${parity ? 'as released' : 'fixed'}`,
      pays: 'patient',
      parity,
    },
    (...scored) => (parity ? scoreParity : scoreFixed)(scored, judge),
  )
