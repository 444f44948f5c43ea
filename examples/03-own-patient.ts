/** A patient of your own: wrap the one that comes with the package, or write the whole function. */
import { make, type Patient } from 'bedside'
import { rulePatient } from 'bedside/envs'
import { loadKnowledge } from 'bedside/knowledge'

const plain = rulePatient({ knowledge: loadKnowledge() })

/** Says nothing but hello to the first question, and answers from then on. */
const shy: Patient = async (utterance, context) => {
  if (context.dialogue.length > 0) return plain(utterance, context)
  return { text: 'Hello, doctor.', understood: 'courtesy', questions: 1, asked: [], told: [] }
}

const env = make('consultation', { patient: shy })
await env.reset({ seed: 3 })
for (const question of ['Have you had a fever?', 'Have you had a fever?']) {
  const { observation } = await env.step({ kind: 'ask', text: question })
  const outcome = observation.turns.at(-1)?.outcome
  if (outcome?.kind === 'answered') console.log(outcome.text)
}
await env.close()
