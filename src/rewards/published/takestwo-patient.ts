/**
 * The patient's reward of MrlX-TakesTwo (2025), for training the patient: what it told unasked, kept back, and got wrong.
 * `parity` gives what was released, faults included; else it is mended.
 */
import type { Finding, GraderView } from '../../case.js'
import { inLanguage } from '../../case.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { Reward, RewardContext, Score } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { visible } from '../../text/hidden-reasoning.js'
import { defineReward } from '../define.js'
import type { ConductCounts } from '../judges/ask-judge.js'
import { askJudge } from '../judges/ask-judge.js'
import type { Judge, JudgedLine } from '../judges/judge.js'
import type { Rates } from './takestwo-released.js'
import { judgedDialogue, releasedRates, rounded } from './takestwo-released.js'

export interface TakesTwoPatientOptions {
  /** The released formula, faults included. @default false */
  readonly parity?: boolean
  /** @default the rule: what the turns' facts say was asked and told, against the case's findings */
  readonly judge?: Judge
}

/** What the patient was to keep to: the complaint, and each finding in its recorded words or by its state. */
function profileOf({ complaint, findings }: GraderView, { language }: Episode): string {
  const facts = findings
    .filter(({ knownBy }) => knownBy === 'patient')
    .map(({ id, state, utterance }) =>
      utterance ? inLanguage(utterance, language) : `${id}: ${state}`,
    )
  return [inLanguage(complaint.text, language), ...facts].join('\n')
}

/** An open question, or a courtesy, invites to tell what one likes. */
const inviting = new Set(['open', 'courtesy'])

/** Findings told unasked, kept back though asked and known, and told otherwise than they are; each counted once. */
function countsByFacts({ turns }: Episode, { findings }: GraderView): ConductCounts {
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

/** The lines that others could hear. */
const heardLines = ({ turns }: Episode): readonly JudgedLine[] =>
  turns.flatMap(({ action, outcome }): JudgedLine[] => {
    const said: JudgedLine[] =
      action.kind === 'ask' ? [{ role: 'doctor', text: visible(action.text) }] : []
    if (outcome.kind === 'answered') said.push({ role: 'patient', text: visible(outcome.text) })
    if (outcome.kind === 'examined') said.push({ role: 'examiner', text: outcome.text })
    return said
  })

type Scored = readonly [Episode, GraderView, RewardContext]

const hasSpoken = ({ turns }: Episode): boolean =>
  turns.some(({ outcome }) => outcome.kind === 'answered')

const parted = (total: number, rates: Rates, evidence: string): Score => ({
  total,
  parts: {
    information: ok(rates.information, evidence),
    completeness: ok(rates.completeness, evidence),
    conflict: ok(rates.conflict, evidence),
  },
})

/** Nothing that a judge of rates says sums up to more, or less, than this. */
const most = 100

async function released([episode, truth, context]: Scored, judge?: Judge): Promise<Score> {
  const dialogue = judgedDialogue(episode.turns)
  // As published: of a dialogue without an answer no sample of the patient is made.
  if (!dialogue.some(({ role }) => role === 'patient'))
    return { total: null, parts: { conduct: notApplicable } }
  const words = judge
    ? await judge(
        { task: 'patient-conduct', profile: profileOf(truth, episode), dialogue },
        context,
      )
    : JSON.stringify(countsByFacts(episode, truth))
  const rates = releasedRates(words)
  const total = rounded(rates.information + rates.completeness + rates.conflict)
  if (!(Math.abs(total) <= most))
    throw new Fault('model-unreadable', `expected rates, got \`${words.slice(0, 200)}\``)
  return parted(total, rates, judge?.judgeName ?? 'rule')
}

async function mended([episode, truth, context]: Scored, judge?: Judge): Promise<Score> {
  if (!hasSpoken(episode))
    return { total: 0, parts: { conduct: ok(0, 'the patient was never asked') } }
  const request = { profile: profileOf(truth, episode), dialogue: heardLines(episode) }
  const { extra, missing, opposite } = judge
    ? await askJudge(judge, { task: 'patient-conduct', ...request }, context)
    : countsByFacts(episode, truth)
  const rate = (faults: number): number => Math.max(0, 1 - 0.2 * faults)
  const rates = {
    information: rate(extra),
    completeness: rate(missing),
    conflict: rate(opposite),
  }
  const mean = (rates.information + rates.completeness + rates.conflict) / 3
  const evidence = `${judge?.judgeName ?? 'rule'}: ${extra} extra, ${missing} missing, ${opposite} opposite`
  return parted(mean, rates, evidence)
}

/**
 * Released: the sum of a judge's three rates, to three digits, nominally 0 to 3 but taken as they come: [-100, 100], and
 * beyond it unavailable, as a reply is that the released code raises at. The judge reads the doctor's thoughts; a
 * dialogue without an answer makes no sample.
 *
 * Mended, in [0, 1]: their mean, each 1 less .2 for a fault and not below 0, counted by the judge or else by the facts of
 * the turns; 0 where the patient never spoke. The judge reads what could be heard.
 */
export function takestwoPatient({ parity = false, judge }: TakesTwoPatientOptions = {}): Reward {
  return parity
    ? defineReward(
        {
          name: 'takestwo-patient-parity',
          bounds: [-most, most],
          source: 'MrlX-TakesTwo `MedPatientRewardMultiturn` (2025), as released',
          pays: 'patient',
          parity,
        },
        (...scored) => released(scored, judge),
      )
    : defineReward(
        {
          name: 'takestwo-patient',
          bounds: [0, 1],
          source: 'MrlX-TakesTwo `MedPatientRewardMultiturn` (2025), mended',
          pays: 'patient',
        },
        (...scored) => mended(scored, judge),
      )
}
