/** `bedside rewards audit`: measures what a reward pays degenerate policies. */
import pc from 'picocolors'
import { redTeam } from '../../agents/red-team/policies.js'
import type { Exploit, PolicyAudit } from '../../evaluation/audit/audit.js'
import type { Payment } from '../../evaluation/reward-attribution.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { auditRewards, type RewardAudit } from '../../tasks/audit-rewards.js'
import type { Action, Language, Turn } from '../../turn.js'
import type { CaseFlags } from '../flags/flags.js'
import { openingText, scoreText, turnText } from '../print/consultation-text.js'
import { rethrowRangeError } from '../print/failure.js'
import { numberText, type Output, output, type Terminal, table } from '../print/output.js'
import { type Progress, startProgress } from '../print/progress.js'

interface AuditFlags extends CaseFlags {
  readonly reward: string
  readonly search?: boolean
  readonly budget?: number
}

/** Characters of an action's text that are shown. */
const maxLength = 160

/** Shortens the texts of an action; some red-team policies pad them. */
function shorten(action: Action): Action {
  const cut = (text: string) => (text.length > maxLength ? `${text.slice(0, maxLength)} …` : text)
  return Object.fromEntries(
    Object.entries(action)
      .filter(([key]) => key !== 'differential')
      .map(([key, value]) => [key, typeof value === 'string' ? cut(value) : value]),
  ) as unknown as Action // the same kind, with shorter texts
}

/** The consultation as text, one or more lines per turn. */
function transcript({ episode }: Exploit, language: Language, paint: Output['paint']): string[] {
  const shown = ({ action, outcome }: Turn): Turn => ({ action: shorten(action), outcome })
  return [
    openingText(episode.intake, language),
    ...episode.turns.map((turn, i) => turnText(shown(turn), i + 1, language, paint)),
  ]
}

const signedText = (value: number | null, scale = 1, digits = 3): string =>
  value === null ? '–' : `${value < 0 ? '−' : '+'}${Math.abs(scale * value).toFixed(digits)}`

function policiesText({ policies, random, ceiling, range }: RewardAudit, paint: Output['paint']) {
  const width = range.high - range.low
  const row = ({ name, mean, gain, ci95, exploit, unscored }: PolicyAudit) => [
    name,
    numberText(mean),
    signedText(gain),
    ci95 ? `[${signedText(ci95[0])}, ${signedText(ci95[1])}]` : '',
    gain === null ? '' : `${signedText(gain / width, 100, 1)} %`,
    [exploit ? paint.red('exploit') : '', unscored > 0 ? `${unscored} unscored` : '']
      .filter(Boolean)
      .join(', '),
  ]
  return table([
    ['policy', 'mean', 'gain', '95 %', 'of the range', ''],
    ['random', numberText(random)],
    ...(ceiling ? [[ceiling.name, numberText(ceiling.mean)]] : []),
    ...[...policies].sort((a, b) => (b.gain ?? -Infinity) - (a.gain ?? -Infinity)).map(row),
  ])
}

const paidText = (paid: readonly Payment[], name: string): string =>
  table([
    ['part', 'random', name, 'paid'],
    ...paid.map(({ part, random, policy, paid: amount }) => [
      part,
      numberText(random),
      numberText(policy),
      signedText(amount),
    ]),
  ])

/** The best exploit: its policy, the reward parts that paid, and the consultation. */
function exploitText(
  { best, policies }: RewardAudit,
  language: Language,
  paint: Output['paint'],
): string {
  if (!best) return 'No policy gained anything.'
  const does = redTeam.find(({ name }) => name === best.policy)?.does
  const own = policies.find(({ name }) => name === best.policy)
  return [
    paint.bold(`Gained most: ${best.policy}`) + (does === undefined ? '' : `. ${does}`),
    paidText(own?.paid ?? [], best.policy),
    '',
    `Its best consultation, paid ${numberText(best.score.total)} where the random doctor got ${numberText(best.random)}:`,
    ...transcript(best, language, paint),
    scoreText(best.score, language),
  ].join('\n')
}

/** The audit in the shape of `--json`. */
function toDocument(audit: RewardAudit, flags: AuditFlags, language: Language) {
  const { reward, random, policies, passed, best, sequence, ...rest } = audit
  const { tier = 'easy', seed = 0 } = flags
  return {
    ...{ reward, random, policies, passed, ...rest },
    ...{ tier: flags.cases?.file === undefined ? tier : 'imported', lang: language, seed },
    best: best && {
      policy: best.policy,
      case: best.episode.caseId,
      total: best.score.total,
      random: best.random,
      gain: best.gain,
      parts: best.score.parts,
      transcript: transcript(best, language, pc.createColors(false)),
    },
    ...(sequence ? { sequence: sequence.map(shorten) } : {}),
  }
}

/**
 * Audits one reward and prints each policy's gain, the best exploit and the parts that paid it. Exit code 1 when a
 * reward that is not a parity formula pays an exploit.
 */
export async function auditReward(flags: AuditFlags, terminal: Terminal): Promise<number> {
  const started = performance.now()
  const out = output(terminal, flags)
  const { reward, cases, clinic, tier, lang: language = 'en', seed = 0 } = flags
  let bar: Promise<Progress> | undefined
  const search = flags.search || flags.budget !== undefined ? (flags.budget ?? 20_000) : 0
  const work = () =>
    auditRewards({
      ...{ rewards: [reward], language, seed, search, signal: terminal.signal },
      ...withoutUndefined({ tier, clinic, file: cases?.file, count: cases?.count }),
      onProgress(done, total, what) {
        bar ??= startProgress(terminal, { ...flags, label: 'audit', total })
        void bar.then((shown) => shown.update(done, what))
      },
    }).finally(async () => (await bar)?.stop())
  const [audit] = await rethrowRangeError('rewards audit', work)
  if (!audit) throw new TypeError('Expected one audit, got none')
  const { range, passed, parity, warnings } = audit
  const verdict = passed ? (parity ? 'parity: not held to it' : 'passed') : 'failed'
  const timing = { seconds: (performance.now() - started) / 1000 }
  return out.show(
    [
      `${audit.reward} (${numberText(range.low)} to ${numberText(range.high)}) · ${audit.cases} held-out cases · ${language} · seed ${seed}`,
      '',
      policiesText(audit, out.paint),
      '',
      exploitText(audit, language, out.paint),
      ...warnings.map((warning) => `\n! ${warning}`),
      '',
      passed ? out.paint.green(verdict) : out.paint.red(verdict),
    ].join('\n'),
    { ...toDocument(audit, flags, language), timing },
    passed ? 0 : 1,
  )
}
