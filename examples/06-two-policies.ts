/**
 * Two policies learn in one loop: a doctor, who is paid for the right diagnosis, and a patient, who chooses how to answer
 * and is paid where the doctor was right, less a little for each answer given. Each has its own group advantages.
 */
import { type Reply, task } from 'bedside'
import { consultation, policyPatient, recordExams, rulePatient } from 'bedside/envs'
import { loadKnowledge, replySpace } from 'bedside/knowledge'
import { defineReward } from 'bedside/rewards'
import { embedded, playGroup, toTrainBatch } from 'bedside/trainers'

const [steps, groupsPerStep, size] = [Number(process.env.STEPS ?? 120), 16, 8]
const knowledge = loadKnowledge()
const { caseAt, actionSpace, measures } = await task({ clinic: ['tiredness'], maxTurns: 6 })
const [patient, exams] = [rulePatient({ knowledge }), [recordExams({ knowledge })]]

/** The patient's choices: to answer, or to shrug. */
const styles = {
  answers: (reply: Reply) => reply,
  shrugs: (reply: Reply) => ({
    ...reply,
    text: 'I cannot say.',
    understood: 'unknown' as const,
    told: [],
  }),
}
const doctor = embedded({ actionSpace })
const talker = embedded({ actionSpace: replySpace('en', Object.keys(styles)) })

const effort = defineReward({ name: 'effort', bounds: [-0.02, 1] }, async (episode, truth) => {
  const { total } = await measures.accuracy(episode, truth, {})
  const told = episode.turns.filter(({ facts }) => facts.told.length > 0).length
  return (total ?? 0) - (0.02 * told) / episode.maxTurns
})
const rewards = { doctor: measures.accuracy, patient: effort }
const batch = { loss: { kind: 'ppo-clip', low: 0.2, high: 0.2, entropy: 0.01 } } as const

for (let step = 1; step <= steps; step++) {
  const [asks, policy] = [doctor.sampler(), talker.sampler()]
  const played = await Promise.all(
    Array.from({ length: groupsPerStep }, (_, place) => {
      const n = (step - 1) * groupsPerStep + place
      const makeEnv = ({ seed }: { readonly seed: number }) =>
        consultation({
          ...{ cases: caseAt, exams, maxTurns: 6 },
          patient: policyPatient({ policy, patient, styles, seed }),
        })
      return playGroup(caseAt(n), { makeEnv, agent: asks, rewards, size, seed: n })
    }),
  )
  for (const [role, backend] of [
    ['doctor', doctor],
    ['patient', talker],
  ] as const) {
    const groups = played.flatMap(({ groups }) => groups[role] ?? [])
    const options = {
      ...batch,
      normaliser: 'token-mean',
      adam: () => ({ learningRate: 0.05 }),
    } as const
    const made = toTrainBatch(groups, step, backend.policyVersion, options)
    if (made) await backend.step(made.batch)
  }
  const draws = played.flatMap(({ episodes }) => episodes.flatMap(({ turns }) => turns))
  const spoke = draws.flatMap((turn) => turn.draws?.filter(({ role }) => role === 'patient') ?? [])
  const answered = spoke.filter(({ tokens }) => tokens[0] === 0).length / spoke.length
  const scores = played.flatMap(({ groups }) => groups.doctor?.scores ?? [])
  const right = scores.reduce((sum, { total }) => sum + (total ?? 0), 0) / scores.length
  if (step % 20 === 0 || step === 1)
    console.log(
      `step ${step}: doctor right ${right.toFixed(2)}, patient answers ${answered.toFixed(2)}`,
    )
}
