/**
 * What every preset pays the red team, by tier and language; run after `npm run build`:
 *
 *   node bench/audit.js [cases] [search] [reward...]
 *
 * `cases` held-out cases each (500), a blind adversary trained on each of this package's own presets in `search`
 * consultations (20000; 0 for none). Targets: no policy above random + 0.02 of the range, the adversary not above + 0.05.
 * Parity formulas only print what they pay. Exit code 1 where a target is missed.
 */
import { auditRewards } from '../dist/exports/evaluation.js'
import { namedReward, presetNames } from '../dist/exports/rewards.js'

const [cases = 500, search = 20_000] = process.argv.slice(2, 4).map(Number)
const wanted = process.argv.slice(4)
const rewards =
  wanted.length > 0 ? wanted : presetNames.filter((name) => namedReward(name).pays !== 'patient')
const searched = wanted.length > 0 ? wanted : ['default', 'safety-first', 'efficiency']

const shown = (value, digits = 3) => (value === null ? '–' : value.toFixed(digits))

/** One reward's line: the policy of the red team that gained most, and the adversary. */
function line({ reward, parity, random, ceiling, range, policies, passed }) {
  const blind = policies.find(({ name }) => name === 'blind-adversary')
  const rest = policies.filter((policy) => policy !== blind)
  const top = rest.reduce((most, one) =>
    (one.gain ?? -Infinity) > (most.gain ?? -Infinity) ? one : most,
  )
  const width = range.high - range.low
  const gain = (one) =>
    one && one.gain !== null
      ? `${shown(one.gain / width)} [${one.ci95.map((end) => shown(end / width)).join(', ')}]`
      : ''
  const exploits = rest.filter(({ exploit }) => exploit).length
  return [
    reward.padEnd(30),
    shown(random).padStart(7),
    shown(ceiling?.mean ?? null).padStart(7),
    `${top.name.padEnd(20)} ${gain(top)}`.padEnd(46),
    String(exploits).padStart(4),
    gain(blind).padEnd(24),
    parity ? 'parity' : passed ? 'passed' : 'FAILED',
  ].join('  ')
}

const heading = `${'reward'.padEnd(30)}   random   oracle  most gained, as a share of the range              exploits  blind adversary`
for (const tier of ['easy', 'standard', 'hard'])
  for (const language of ['en', 'zh']) {
    console.log(
      `\n${tier}, ${language}: ${cases} held-out cases, seed 0, search ${search}\n${heading}`,
    )
    const world = { tier, language, count: cases }
    const without = rewards.filter((name) => search === 0 || !searched.includes(name))
    const within = rewards.filter((name) => !without.includes(name))
    const audits = [
      ...(within.length > 0 ? await auditRewards({ ...world, rewards: within, search }) : []),
      ...(without.length > 0 ? await auditRewards({ ...world, rewards: without }) : []),
    ]
    for (const audit of audits) console.log(line(audit))
    if (audits.some(({ passed }) => !passed)) process.exitCode = 1
  }
