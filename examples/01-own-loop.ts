import { ended, make } from 'bedside'

const env = make('consultation', { tier: 'easy' })
await env.reset({ seed: 7 })
let step = await env.step('Question: What brings you in today?')
while (!ended(step))
  step = await env.step(
    step.observation.turnsLeft > 1 ? 'Order: full blood count' : 'Diagnosis: Influenza',
  )
console.log(step.info.stop, step.reward)
