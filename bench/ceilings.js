/** Accuracy of whoever knows everything, of whoever knows what the patient knows, and of the doctors, by tier. */
import {
  caseSource,
  fullInformation,
  loadKnowledge,
  play,
  posteriorOver,
  setting,
  summarise,
  tiers,
} from '../dist/index.js'

const count = Number(process.argv[2] ?? 1000)
const knowledge = loadKnowledge()

const share = (hits) => {
  const p = hits / count
  return `${p.toFixed(3)} ± ${(1.96 * Math.sqrt((p * (1 - p)) / count)).toFixed(3)}`
}

for (const tier of Object.keys(tiers)) {
  const posterior = posteriorOver(knowledge, tiers[tier])
  const make = caseSource(knowledge, { tier, split: 'heldout' })
  let all = 0
  let told = 0
  for (let n = 0; n < count; n++) {
    const truth = make(n)
    const right = ({ probabilities }) =>
      knowledge.diseases[probabilities.indexOf(Math.max(...probabilities))].id ===
      truth.gold.dx[0].id
    if (right(fullInformation(posterior, truth))) all += 1
    if (right(fullInformation(posterior, truth, { knownBy: 'patient' }))) told += 1
  }
  console.log(
    `${tier}: full information ${share(all)}, all the patient knows ${share(told)} (n ${count})`,
  )
  const world = await setting({ tier, heldOut: Math.min(count, 400) })
  for (const [name, agent] of Object.entries(world.agents)) {
    const summary = summarise(
      await play({
        cases: world.heldOut,
        makeEnv: world.makeEnv,
        agent: agent(),
        agentName: name,
        measures: world.measures,
      }),
    )
    const { mean, ci95 } = summary.accuracy
    console.log(
      `  ${name}: accuracy ${mean.toFixed(3)} [${ci95.map((end) => end.toFixed(3)).join(', ')}], reward ${summary.reward.mean.toFixed(3)}, ${summary.questions.toFixed(1)} questions, ${summary.exams.toFixed(1)} exams`,
    )
  }
}
