/** Grounding rewards: whether the doctor's claims about the patient are supported by the consultation so far. */
import { type GraderView, textInLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import { notApplicable, ok, type Reward } from '../../reward.js'
import { unitReward } from '../define.js'
import type { Claim, FindingPhrases } from './claims.js'
import { findClaims, findingPhrases, findMentionedFindings } from './claims.js'

/** Options of {@link groundedClaims} and {@link noFalseClaims}. */
export interface ClaimsOptions {
  /** Knowledge base with the wordings of findings. @default that of the package */
  readonly knowledge?: Knowledge | undefined
  /** Minimum divisor of the share of claims, so that a single claim does not decide it. @default 3 */
  readonly least?: number
}

interface KnownFacts {
  /** Findings reported in the consultation, and whether they are present. */
  readonly reported: Map<string, boolean>
  /** Findings of the complaint, and those mentioned without being settled. */
  readonly mentioned: Set<string>
  /** Replies not searched for mentions yet: most consultations make no claim that needs the search. */
  readonly unread: string[]
}

/** Claims by finding; a finding claimed wrongly once stays unsupported. */
interface ClaimTally {
  readonly supported: ReadonlySet<string>
  readonly unsupported: ReadonlySet<string>
  /** Claims of findings in the complaint, or mentioned and not settled: neither right nor wrong. */
  readonly open: ReadonlySet<string>
}

const doctorText = ({ action }: EpisodeTurn): string => {
  if (action.kind === 'ask') return action.text
  if (action.kind === 'diagnose') return `${action.diagnosis}\n${action.recommendation ?? ''}`
  return ''
}

/** The ancestors of a finding, which are present if it is. */
function* ancestors({ finding }: Knowledge, id: string): Generator<string> {
  for (let parent = finding.get(id)?.parent; parent; parent = finding.get(parent.finding)?.parent)
    yield parent.finding
}

function recordTurn({ facts, outcome }: EpisodeTurn, known: KnownFacts, lexicon: ClaimLexicon) {
  for (const { finding, state } of facts.told) {
    if (state === 'unknown') continue
    known.reported.set(finding, state !== 'absent')
    if (state !== 'absent')
      for (const above of ancestors(lexicon.knowledge, finding)) known.reported.set(above, true)
  }
  if (outcome.kind === 'answered' || outcome.kind === 'examined') known.unread.push(outcome.text)
}

interface ClaimLexicon {
  readonly knowledge: Knowledge
  readonly phrases: FindingPhrases
}

function wasMentioned(id: string, { mentioned, unread }: KnownFacts, { phrases }: ClaimLexicon) {
  for (const text of unread.splice(0))
    for (const finding of findMentionedFindings(text, phrases)) mentioned.add(finding)
  return mentioned.has(id)
}

/** Whether a claim agrees with the established facts; undefined where nothing settles it. */
function isSupported({ finding, present }: Claim, known: KnownFacts, lexicon: ClaimLexicon) {
  const state = known.reported.get(finding)
  if (state !== undefined) return state === present
  return wasMentioned(finding, known, lexicon) ? undefined : false
}

function tallyClaims(episode: Episode, truth: GraderView, lexicon: ClaimLexicon): ClaimTally {
  const { intake, language, turns } = episode
  const [supported, unsupported, open] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const known: KnownFacts = {
    reported: new Map(),
    mentioned: new Set(truth.complaint.findings),
    unread: [textInLanguage(intake.complaint, language)],
  }
  for (const turn of turns) {
    for (const claim of findClaims(doctorText(turn), lexicon.phrases)) {
      const right = isSupported(claim, known, lexicon)
      const into = right === undefined ? open : right ? supported : unsupported
      into.add(claim.finding)
    }
    recordTurn(turn, known, lexicon)
  }
  for (const finding of unsupported) {
    supported.delete(finding)
    open.delete(finding)
  }
  for (const finding of truth.complaint.findings) if (supported.delete(finding)) open.add(finding)
  for (const finding of supported) open.delete(finding)
  return { supported, unsupported, open }
}

/** Makes a reward from the tally of claims; not applicable to a case none of whose findings the knowledge base has. */
function claimReward(
  name: string,
  { knowledge, least = 3 }: ClaimsOptions,
  value: (tally: ClaimTally, least: number) => number,
): Reward {
  if (!(least >= 1)) throw new RangeError(`Expected \`least\` to be at least 1, got ${least}`)
  const source =
    'fact-aware checks as in Baichuan-M3, by rule: reported findings against those told'
  return unitReward(name, source, (episode, truth) => {
    const known = knowledge ?? loadKnowledge()
    const ids = [...truth.complaint.findings, ...truth.findings.map(({ id }) => id)]
    if (!ids.some((id) => known.finding.has(id))) return notApplicable
    const tally = tallyClaims(episode, truth, { knowledge: known, phrases: findingPhrases(known) })
    const { supported, unsupported } = tally
    const wrong = unsupported.size > 0 ? `: ${[...unsupported].join(', ')}` : ''
    const evidence = `${supported.size} claims told, ${unsupported.size} not${wrong}`
    return ok(value(tally, least), evidence)
  })
}

/**
 * The share of the findings a doctor claims, of at least `least`, that were reported in the consultation before the
 * claim and agree with it. A finding never reported, or reported otherwise, counts against it; those of the complaint do
 * not count, as every doctor is given them. Claiming nothing is 0, and so is guessing: it takes asking and repeating the
 * answers. Each finding counts once, however often it is claimed.
 * @throws RangeError for a `least` below 1
 */
export const groundedClaims = (options: ClaimsOptions = {}): Reward =>
  claimReward('grounded-claims', options, ({ supported, unsupported }, least) => {
    return supported.size / Math.max(least, supported.size + unsupported.size)
  })

/**
 * 1 less the share of the findings a doctor claims, of at least `least`, that were never reported, or reported
 * otherwise. A doctor who claims nothing gets 1, so never weigh it: use it as a `gate`, or multiply it with a reward
 * that silence does not earn.
 * @throws RangeError for a `least` below 1
 */
export const noFalseClaims = (options: ClaimsOptions = {}): Reward =>
  claimReward('no-false-claims', options, ({ supported, unsupported, open }, least) => {
    const all = supported.size + unsupported.size + open.size
    return 1 - unsupported.size / Math.max(least, all)
  })
