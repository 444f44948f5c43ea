/**
 * Memory that played episodes keep beside their tokens: consultations at once whose doctor draws on prompts of 3,000
 * tokens, `node --expose-gc bench/memory.js [episodes] [at once]`. Run after `npm run build`.
 */
import pLimit from 'p-limit'
import { consultation, recordExams, rulePatient } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { episodeSegments } from '../dist/exports/trainers.js'
import { rollout, task } from '../dist/index.js'

const episodes = Number(process.argv[2] ?? 2048)
const limit = pLimit(Number(process.argv[3] ?? 2048))
const [turns, firstPrompt, drawn, answered] = [10, 3000, 60, 40]
const knowledge = loadKnowledge()
const { heldOut, actionSpace } = await task({ tier: 'standard', heldOut: 64 })
const questions = actionSpace.actions.filter(({ kind }) => kind === 'ask')
const diagnosis = actionSpace.actions.find(({ kind }) => kind === 'diagnose')
const patient = rulePatient({ knowledge })
const ids = (length, from) => Array.from({ length }, (_, i) => (from + i) % 150_000)

/** A doctor who draws tokens as a language model does: each prompt extends the last. */
const doctor = async ({ turns: past }, { seed, memory }) => {
  await new Promise((resolve) => setImmediate(resolve))
  const read = memory ?? []
  const prompt = [...read, ...ids(past.length === 0 ? firstPrompt : answered, seed + read.length)]
  const tokens = ids(drawn, seed)
  const sample = {
    ...{ prompt, tokens, logprobs: tokens.map((t) => -1 / (1 + (t % 7))), policyVersion: 0 },
    ...{ temperature: 1, logprobMode: 'scaled', stopReason: 'stop' },
  }
  const t = past.length
  const action = t + 1 < turns ? questions[(seed * 7 + t * 11) % questions.length] : diagnosis
  return { action, sample, memory: [...prompt, ...tokens] }
}

const heap = () => {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
const play = (n) => {
  const env = consultation({
    ...{ cases: heldOut, patient, exams: [recordExams({ knowledge })], maxTurns: turns },
  })
  return rollout(env, doctor, { seed: n, options: { case: heldOut[n % heldOut.length] } })
}
await play(0)
const before = heap()
const started = performance.now()
const kept = await Promise.all(Array.from({ length: episodes }, (_, n) => limit(() => play(n))))
const seconds = (performance.now() - started) / 1000
const used = heap() - before
// A number in a list takes 8 bytes, whether token or log-prob.
const tokenBytes = kept.reduce(
  (sum, episode) =>
    sum +
    episode.turns.reduce(
      (bytes, { draws = [] }) =>
        bytes +
        draws.reduce((b, d) => b + 8 * (d.heard.length + d.tokens.length + d.logprobs.length), 0),
      0,
    ),
  0,
)
const perEpisode = (bytes) => `${(bytes / episodes / 1000).toFixed(1)} kB`
console.log(
  `${episodes} episodes of ${turns} turns, prompts from ${firstPrompt} tokens, in ${seconds.toFixed(1)} s`,
)
console.log(
  `an episode keeps ${perEpisode(used)}, of them tokens ${perEpisode(tokenBytes)}, beside them ${perEpisode(used - tokenBytes)} (target 25.0)`,
)
const { segments } = episodeSegments(kept[0], 1, 'g')
console.log(`its segments: ${segments.length}, tokens ${segments[0].tokens.length}`)
