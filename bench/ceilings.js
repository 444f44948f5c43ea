/**
 * What can be reached, by tier: doctors who guess, ask badly, ask well and know everything, on the same held-out
 * cases; then how long the oracle takes for a step. Run after `npm run build`:
 * `node bench/ceilings.js [cases] [seed] [tier...]`.
 */

import { fullInformationDoctor, oracle } from '../dist/exports/agents.js'
import { caseSource } from '../dist/exports/cases.js'
import { consultation, recordExams, rulePatient } from '../dist/exports/envs.js'
import { playCases, summarise } from '../dist/exports/evaluation.js'
import { loadKnowledge, tiers } from '../dist/exports/knowledge.js'
import { rollout, task } from '../dist/index.js'
import { syntheticKnowledge } from './synthetic.js'

const [count = 400, seed = 0] = process.argv.slice(2, 4).map(Number)
const wanted = process.argv.slice(4)
const knowledge = loadKnowledge()

const spread = ({ mean, ci95 }) =>
  `${mean.toFixed(3)} [${ci95.map((end) => end.toFixed(3)).join(', ')}]`

/** Each row: a name, the questions a doctor has where that is not what the tier gives, and the doctor. */
const rows = [
  ['prior', undefined, ({ agents }) => agents.prior()],
  ['complaint only', undefined, ({ agents }) => agents['complaint-only']()],
  ['random questions', 10, ({ agents }) => agents['random-ask']()],
  ['positive chaser', 10, ({ agents }) => agents['positive-chaser']()],
  ...[5, 10, 15].map((turns) => [
    'EIG, questions only',
    turns,
    ({ agents }) => agents.oracle({ questionsOnly: true }),
  ]),
  ['EIG with examinations', undefined, ({ agents }) => agents.oracle()],
  ['EIG per cost', undefined, ({ agents }) => agents['eig-per-cost']()],
  ['value of information', undefined, ({ agents }) => agents.voi()],
  ['full information', undefined, ({ agents }) => agents['full-information']()],
  [
    'all the patient knows',
    undefined,
    ({ tier }) => fullInformationDoctor({ knowledge, ...tiers[tier], knownBy: 'patient' }),
  ],
]

async function ceilings(tier) {
  const { maxTurns, money } = tiers[tier]
  console.log(`\n${tier}: ${count} held-out cases, seed ${seed}, ${maxTurns} turns, money ${money}`)
  console.log('accuracy [95 %]        reward  questions  exams  money  doctor')
  const worlds = new Map()
  for (const [name, questions, make] of rows) {
    const turns = questions === undefined ? maxTurns : questions + 1
    if (!worlds.has(turns))
      worlds.set(turns, await task({ tier, seed, heldOut: count, maxTurns: turns }))
    const world = worlds.get(turns)
    const { heldOut: cases, makeEnv, measures } = world
    const played = await playCases({
      cases,
      makeEnv,
      measures,
      seed,
      agent: make(world),
      agentName: name,
    })
    const { accuracy, reward, questions: asked, exams, money: spent } = summarise(played, seed)
    console.log(
      [
        spread(accuracy).padEnd(21),
        reward.mean.toFixed(3).padStart(7),
        asked.toFixed(1).padStart(10),
        exams.toFixed(1).padStart(6),
        spent.toFixed(0).padStart(6),
        ` ${questions === undefined ? name : `${name}, ${questions}`}`,
      ].join(' '),
    )
  }
}

const rounds = 25

/** Microseconds of an oracle's step: 100 consultations played again and again, each time by an oracle that has read none. */
async function oracleStep(questionsOnly) {
  const base = syntheticKnowledge(100, 300, 60)
  const make = caseSource(base, { tier: 'standard' })
  const cases = Array.from({ length: 100 }, (_, n) => make(n))
  const { money, minutes, maxTurns } = tiers.standard
  const env = consultation({
    ...{ cases, money, minutes, maxTurns },
    patient: rulePatient({ knowledge: base }),
    exams: [recordExams({ knowledge: base })],
  })
  const doctor = () => oracle({ knowledge: base, ...tiers.standard, questionsOnly })
  const agent = doctor()
  const seen = []
  const watched = (observation, context) => {
    seen.push(observation)
    return agent(observation, context)
  }
  for (const [n, truth] of cases.entries())
    await rollout(env, watched, { seed: n, options: { case: truth } })
  const means = Array.from({ length: rounds }, () => {
    const again = doctor()
    const started = performance.now()
    for (const observation of seen) again(observation, { seed: 0 })
    return (1000 * (performance.now() - started)) / seen.length
  }).sort((a, b) => a - b)
  const what = questionsOnly ? '225 questions' : '225 questions and 60 examinations'
  console.log(
    `an oracle's step at 100 diseases and 300 findings, ${what}: ${means[0].toFixed(0)} µs in the best of ${rounds} rounds of ${seen.length}, ${means[rounds >> 1].toFixed(0)} in the middle one (target 150)`,
  )
}

for (const tier of wanted.length > 0 ? wanted : Object.keys(tiers)) await ceilings(tier)
console.log('')
for (const questionsOnly of [false, true]) await oracleStep(questionsOnly)
