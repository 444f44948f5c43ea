import { ended, make } from 'bedside'

const env = make('consultation', { tier: 'easy' })
await env.reset({ seed: 1 })
let step = await env.step('Question: What brings you in today?')
const reply = () => (step.observation.turnsLeft > 1 ? 'Order: ECG' : 'Diagnosis: Influenza')
while (!ended(step)) step = await env.step(reply())
console.log(step.info.stop, step.reward)
