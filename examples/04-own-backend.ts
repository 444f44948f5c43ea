/** A backend of your own: a softmax over scripted doctors, which learns to send the better one. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Agent, Backend, Capabilities } from 'bedside'
import { Fault, pickWeighted } from 'bedside'
import { assertSteppable, normaliserKinds as normalisers, stepReport } from 'bedside/trainers'

const can: Capabilities = { losses: ['ppo-clip'], normalisers, entropy: false, exports: [] }

/** One token, drawn before the first turn, decides which doctor plays the whole consultation. */
export function bandit(doctors: readonly Agent[]): Backend {
  let state = { logits: doctors.map(() => 0), version: 0 }
  const softmax = (temperature: number) => {
    const exps = state.logits.map((z) => Math.exp((z - Math.max(...state.logits)) / temperature))
    return exps.map((e) => e / exps.reduce((a, b) => a + b))
  }
  return {
    name: 'bandit',
    capabilities: can,
    get policyVersion() {
      return state.version
    },
    sampler({ temperature = 1 } = {}) {
      const [p, policyVersion] = [softmax(temperature || 1e-9), state.version]
      const how = { policyVersion, temperature, logprobMode: 'scaled', stopReason: 'stop' } as const
      return async (observation, context) => {
        const drawn = pickWeighted(p, context.seed, 'doctor')
        const { action } = await doctors[drawn]!(observation, context)
        const sample = { prompt: [0], tokens: [drawn], logprobs: [Math.log(p[drawn]!)], ...how }
        return observation.turns.length > 0 ? { action } : { action, sample }
      }
    },
    async step(batch) {
      assertSteppable(this, batch)
      const [sums, logits] = [stepReport(batch.loss, state.version), [...state.logits]]
      batch.segments.forEach((segment, s) => {
        const [p, drawn] = [softmax(segment.temperature), segment.tokens[1]!]
        const [weight, logprobs] = [batch.normaliser.perSegment[s]!, [Math.log(p[drawn]!)]]
        const [slope = 0] = sums.add({ segment, logprobs, weight })
        for (const [i, q] of p.entries())
          logits[i]! -= batch.adam.learningRate * slope * (Number(i === drawn) - q)
      })
      const moved = logits.map((z, i) => (z - state.logits[i]!) / batch.adam.learningRate)
      state = { logits, version: state.version + 1 }
      return sums.report(state.version, Math.hypot(...moved))
    },
    async save(folder) {
      await mkdir(folder, { recursive: true })
      await writeFile(`${folder}/bandit.json`, JSON.stringify(state))
    },
    async load(folder) {
      const text = readFile(`${folder}/bandit.json`, 'utf8')
      const saved = await text.then(JSON.parse).catch(() => undefined)
      if (saved?.logits?.length !== doctors.length) throw new Fault('bad-checkpoint', folder)
      state = saved
    },
    export: async (format) => Promise.reject(new RangeError(`Expected no format, got ${format}`)),
    async [Symbol.asyncDispose]() {},
  }
}
