/** A backend of your own: a softmax over scripted doctors, which learns to send the better one. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Agent, Backend, Capabilities } from 'bedside'
import { assertBatch, assertSupported, Fault, normaliserKinds, pickWeighted } from 'bedside'
import { tally, tokenLoss } from 'bedside/trainers'

const losses = ['policy-gradient', 'ppo-clip'] as const
const capabilities: Capabilities = {
  losses,
  normalisers: normaliserKinds,
  entropy: false,
  exports: ['json'],
}

/** One token, drawn before the first turn, decides which doctor plays the whole consultation. */
export function bandit(doctors: readonly Agent[]): Backend {
  let logits = doctors.map(() => 0)
  let version = 0
  const softmax = (temperature: number): number[] => {
    const exps = logits.map((z) => Math.exp((z - Math.max(...logits)) / temperature))
    return exps.map((e) => e / exps.reduce((a, b) => a + b))
  }
  const write = (file: string) => writeFile(file, JSON.stringify({ version, logits }))
  return {
    name: 'bandit',
    capabilities,
    get policyVersion() {
      return version
    },
    sampler({ temperature = 1 } = {}) {
      const [p, policyVersion] = [softmax(temperature || 1e-9), version]
      return async (observation, context) => {
        const chosen = pickWeighted(p, context.seed, 'doctor')
        const { action } = await (doctors[chosen] as Agent)(observation, context)
        const logprobs = [Math.log(p[chosen] as number)]
        const drawn = {
          prompt: [doctors.length],
          tokens: [chosen],
          logprobs,
          policyVersion,
          temperature,
        }
        if (observation.turns.length > 0) return { action }
        return { action, sample: { ...drawn, logprobMode: 'scaled', stopReason: 'stop' } }
      }
    },
    async step(batch) {
      assertSupported(capabilities, batch)
      assertBatch(batch)
      if (batch.policyVersion !== version)
        throw new RangeError(`Expected a batch for version ${version}, got ${batch.policyVersion}`)
      const gradient = logits.map(() => 0)
      const sums = tally()
      batch.segments.forEach(({ tokens, temperature, ...segment }, s) => {
        const [p, chosen] = [softmax(temperature), tokens[1] as number]
        const [logprob, sampled] = [Math.log(p[chosen] as number), segment.logprobs[0] as number]
        const loss = tokenLoss(batch.loss, logprob, sampled, segment.advantages[0] as number)
        const weight = batch.normaliser.perSegment[s] as number
        sums.add({
          loss,
          logprob,
          sampled,
          weight,
          entropy: 0,
          bonus: 0,
          current: segment.policyVersions[0] === version,
        })
        p.forEach((q, i) => {
          gradient[i] =
            (gradient[i] as number) +
            (weight * loss.slope * ((i === chosen ? 1 : 0) - q)) / temperature
        })
      })
      const report = sums.report(version + 1, Math.hypot(...gradient))
      logits = logits.map((z, i) => z - batch.adam.learningRate * (gradient[i] as number))
      version += 1
      return report
    },
    async save(folder) {
      await mkdir(folder, { recursive: true })
      await write(`${folder}/bandit.json`)
    },
    async load(folder) {
      const saved = await readFile(`${folder}/bandit.json`, 'utf8')
        .then(JSON.parse)
        .catch(() => undefined)
      if (saved?.logits?.length !== doctors.length)
        throw new Fault('bad-checkpoint', `${folder}: expected ${doctors.length} logits`)
      ;({ logits, version } = saved)
    },
    export: (_format, file) => write(file),
    async [Symbol.asyncDispose]() {},
  }
}
