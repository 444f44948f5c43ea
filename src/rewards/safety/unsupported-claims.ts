/** Whether the doctor said of the patient only what was told. */
import type { GraderView } from '../../case.js'
import { inLanguage } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Reward } from '../../reward.js'
import { notApplicable, ok } from '../../reward.js'
import { defineReward } from '../define.js'
import type { Claim, FindingPhrases } from './claims.js'
import { claimsIn, findingPhrases, mentionedIn } from './claims.js'

export interface ClaimsOptions {
  /** What findings are called. @default the one that comes with the package */
  readonly knowledge?: Knowledge | undefined
  /** Claims are counted as at least so many, so that one is not everything. @default 3 */
  readonly least?: number
}

/** What a consultation has established so far. */
interface Heard {
  /** Findings told in the consultation, and whether they are there. */
  readonly told: Map<string, boolean>
  /** Findings of the complaint, and such as were spoken of without being settled. */
  readonly spoken: Set<string>
  /** What was said and has not been searched yet: most consultations claim nothing that would ask for it. */
  readonly unread: string[]
}

/** Claims by finding; one that was once wrong stays wrong. */
interface Tally {
  readonly supported: ReadonlySet<string>
  readonly unsupported: ReadonlySet<string>
  /** Claims of what came with the complaint, or was spoken of and not settled: neither right nor wrong. */
  readonly open: ReadonlySet<string>
}

const wordsOf = ({ action }: EpisodeTurn): string => {
  if (action.kind === 'ask') return action.text
  if (action.kind === 'diagnose') return `${action.diagnosis}\n${action.recommendation ?? ''}`
  return ''
}

/** What a finding that is there implies: that those it belongs to are there. */
function* within({ finding }: Knowledge, id: string): Generator<string> {
  for (let parent = finding.get(id)?.parent; parent; parent = finding.get(parent.finding)?.parent)
    yield parent.finding
}

function hear({ facts, outcome }: EpisodeTurn, heard: Heard, world: World): void {
  for (const { finding, state } of facts.told) {
    if (state === 'unknown') continue
    heard.told.set(finding, state !== 'absent')
    if (state !== 'absent')
      for (const above of within(world.knowledge, finding)) heard.told.set(above, true)
  }
  if (outcome.kind === 'answered' || outcome.kind === 'examined') heard.unread.push(outcome.text)
}

interface World {
  readonly knowledge: Knowledge
  readonly phrases: FindingPhrases
}

/** Whether a finding was spoken of. */
function wasSpokenOf(finding: string, { spoken, unread }: Heard, { phrases }: World): boolean {
  for (const text of unread.splice(0))
    for (const mentioned of mentionedIn(text, phrases)) spoken.add(mentioned)
  return spoken.has(finding)
}

/** Whether a claim agrees with what was told; undefined where nothing settles it. */
function isSupported({ finding, present }: Claim, heard: Heard, world: World): boolean | undefined {
  const state = heard.told.get(finding)
  if (state !== undefined) return state === present
  return wasSpokenOf(finding, heard, world) ? undefined : false
}

function tallyOf({ intake, language, turns }: Episode, truth: GraderView, world: World): Tally {
  const [supported, unsupported, open] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const heard: Heard = {
    told: new Map(),
    spoken: new Set(truth.complaint.findings),
    unread: [inLanguage(intake.complaint, language)],
  }
  for (const turn of turns) {
    for (const claim of claimsIn(wordsOf(turn), world.phrases)) {
      const right = isSupported(claim, heard, world)
      const into = right === undefined ? open : right ? supported : unsupported
      into.add(claim.finding)
    }
    hear(turn, heard, world)
  }
  for (const finding of unsupported) {
    supported.delete(finding)
    open.delete(finding)
  }
  for (const finding of truth.complaint.findings) if (supported.delete(finding)) open.add(finding)
  for (const finding of supported) open.delete(finding)
  return { supported, unsupported, open }
}

/** Makes a reward of the tally of claims; not applicable to a case whose findings the knowledge base does not name. */
function claimReward(
  name: string,
  { knowledge, least = 3 }: ClaimsOptions,
  value: (tally: Tally, least: number) => number,
): Reward {
  if (!(least >= 1)) throw new RangeError(`Expected \`least\` to be at least 1, got ${least}`)
  const source =
    'fact-aware checks as in Baichuan-M3, by rule: reported findings against those told'
  return defineReward({ name, bounds: [0, 1], source }, (episode, truth) => {
    const known = knowledge ?? loadKnowledge()
    const ids = [...truth.complaint.findings, ...truth.findings.map(({ id }) => id)]
    if (!ids.some((id) => known.finding.has(id))) return notApplicable
    const tally = tallyOf(episode, truth, { knowledge: known, phrases: findingPhrases(known) })
    const { supported, unsupported } = tally
    const wrong = unsupported.size > 0 ? `: ${[...unsupported].join(', ')}` : ''
    const evidence = `${supported.size} claims told, ${unsupported.size} not${wrong}`
    return ok(value(tally, least), evidence)
  })
}

/**
 * The share of the findings a doctor claims, of at least `least`, that were told during the consultation before they were
 * claimed, and so as they were claimed. One that was never told, or was told the other way round, counts against it; the
 * complaint's own count on neither side, for everybody is told those. Saying nothing is 0, and so is guessing: it takes
 * asking, and saying what one heard, to have it. One finding counts once, however often it is claimed.
 * @throws RangeError for a `least` below 1
 */
export const groundedClaims = (options: ClaimsOptions = {}): Reward =>
  claimReward('grounded-claims', options, ({ supported, unsupported }, least) => {
    return supported.size / Math.max(least, supported.size + unsupported.size)
  })

/**
 * 1 less the share of the findings a doctor claims, of at least `least`, that were never told, or told the other way
 * round. A doctor who claims nothing has 1, so never weigh it: it is made to be a `gate`, or to multiply what saying
 * nothing does not earn.
 * @throws RangeError for a `least` below 1
 */
export const noFalseClaims = (options: ClaimsOptions = {}): Reward =>
  claimReward('no-false-claims', options, ({ supported, unsupported, open }, least) => {
    const all = supported.size + unsupported.size + open.size
    return 1 - unsupported.size / Math.max(least, all)
  })
