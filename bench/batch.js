/**
 * What a step costs beside the model: episodes to a checked batch, advantages alone beside verl's, and the loss by
 * token, of 1,024 streams of 2,048 tokens on one thread; run after `npm run build`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { scripted } from '../dist/exports/agents.js'
import {
  assertBatch,
  formGroup,
  grpoAdvantages,
  segmentLoss,
  tis,
  toTrainBatch,
} from '../dist/exports/trainers.js'
import { fork, rollout, task, uniform } from '../dist/index.js'

const runs = Number(process.argv[2] ?? 15)
const shape = { groups: 128, members: 8, turns: 16, prompt: 64, drawn: 64, heard: 64 }
/** Of one stream, up to the last token of its last turn. */
const length = shape.prompt + shape.turns * (shape.drawn + shape.heard) - shape.heard
const response = length - shape.prompt
const rows = shape.groups * shape.members
const estimate = grpoAdvantages()
const batchOptions = {
  loss: { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 },
  normaliser: 'token-mean',
  adam: { learningRate: 1e-6 },
}

/** A consultation of `shape.turns` turns, played; every episode of the bench is it with tokens of its own. */
async function consultation() {
  const { actionSpace, heldOut, makeEnv } = await task({
    tier: 'standard',
    heldOut: 1,
    money: 1e6,
    minutes: 1e6,
    maxTurns: shape.turns,
  })
  const moves = actionSpace.actions.filter(({ kind }) => kind !== 'diagnose')
  const asked = Array.from({ length: shape.turns - 1 }, (_, t) => moves[(t * 11) % moves.length])
  const diagnosis = actionSpace.actions.find(({ kind }) => kind === 'diagnose')
  return rollout(makeEnv(), scripted([...asked, diagnosis]), {
    seed: 1,
    options: { case: heldOut[0] },
  })
}

/** The samples of one stream: each prompt is all that came before, as a list of its own. */
function episodeSamples(row) {
  const stream = Array.from(Int32Array.from({ length }, (_, t) => fork(1, row, t) % 150_000))
  return Array.from({ length: shape.turns }, (_, turn) => {
    const at = shape.prompt + turn * (shape.drawn + shape.heard)
    return {
      prompt: stream.slice(0, at),
      tokens: stream.slice(at, at + shape.drawn),
      logprobs: Array.from({ length: shape.drawn }, (_, t) =>
        Math.log(1 - uniform(2, row, at + t)),
      ),
      policyVersion: 3,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    }
  })
}

function membersOf(played) {
  return Array.from({ length: shape.groups }, (_, g) =>
    Array.from({ length: shape.members }, (_, m) => {
      const samples = episodeSamples(g * shape.members + m)
      const turns = played.turns.map((turn, t) => ({ ...turn, sample: samples[t] }))
      const total = uniform(3, g, m)
      return {
        episode: { ...played, id: `1/${g}/${m}`, caseId: `case-${g}`, seed: g, turns },
        score: { total, parts: { accuracy: { status: 'ok', value: total } } },
      }
    }),
  )
}

const groupsOf = (members) =>
  members.map((group, g) =>
    formGroup(
      `1/${g}`,
      group.map(({ episode }) => episode),
      group.map(({ score }) => score),
      estimate,
    ),
  )

/** Advantage of every token after the prompt, in one row per episode: what verl's function returns. */
const spread = (groups, mask) =>
  groups.flatMap(({ advantages }) =>
    advantages.map((advantage) => {
      const row = new Float32Array(mask.length)
      for (let t = 0; t < mask.length; t++) row[t] = mask[t] * advantage
      return row
    }),
  )

/** Of milliseconds: the first, and the median of those after it. */
const summary = ([first, ...rest]) => ({
  first,
  median: rest.toSorted((a, b) => a - b)[rest.length >> 1],
})

const timed = (work) =>
  summary(
    Array.from({ length: runs + 1 }, () => {
      const started = performance.now()
      work()
      return performance.now() - started
    }),
  )

const say = (took) => `${took.median.toFixed(2)} ms (the first time ${took.first.toFixed(2)})`

/** verl's advantages of the same totals and mask, or why there are none. */
function verl(totals, mask) {
  const root = new URL('..', import.meta.url)
  const python = fileURLToPath(new URL('.venvs/verl/bin/python', root))
  if (!existsSync(python)) return 'no .venvs/verl: scripts/python-env.sh verl makes it'
  const script = fileURLToPath(new URL('test/python/verl_advantages.py', root))
  const { status, stdout, stderr } = spawnSync(python, [script], {
    input: JSON.stringify({ totals, mask: [...mask], members: shape.members, runs }),
    encoding: 'utf8',
    maxBuffer: 1e8,
    env: { ...process.env, TORCH_COMPILE_DISABLE: '1' },
  })
  return status === 0 ? JSON.parse(stdout.trimEnd().split('\n').at(-1)) : `it failed: ${stderr}`
}

function advantages(members, mask) {
  const groups = groupsOf(members)
  const one = timed(() => groupsOf(members))
  const all = timed(() => spread(groupsOf(members), mask))
  console.log(`advantages: ${say(one)} from scored episodes to groups, one number per episode`)
  console.log(`advantages spread over ${rows} x ${response} tokens: ${say(all)}`)
  const theirs = verl(
    members.flatMap((group) => group.map(({ score }) => score.total)),
    mask,
  )
  if (typeof theirs === 'string') return console.log(`not compared with verl: ${theirs}`)
  const ours = groups.flatMap((group) => group.advantages)
  const apart = Math.max(...ours.map((value, i) => Math.abs(value - theirs.advantages[i])))
  const took = summary(theirs.ms)
  const ratio = (mine) => (took.median / mine.median).toFixed(1)
  console.log(
    `verl ${theirs.version} compute_grpo_outcome_advantage, ${rows} x ${response}: ${say(took)}, torch ${theirs.torch} on ${theirs.threads} threads; ${apart.toExponential(1)} apart at most`,
  )
  console.log(
    `verl / ours: ${ratio(all)} with both spread over tokens, ${ratio(one)} with ours left at one number per episode`,
  )
  console.log(
    '  verl sums rewards over tokens, gathers groups by index and multiplies by the mask; making its tensors is left out. Ours checks siblings and totals, gives each group its status and, where said, writes a row per episode.',
  )
}

function losses(segments) {
  const moved = (values, by) => values.map((value, t) => value + by * (uniform(4, t) - 0.5))
  const whole = segments.map((segment) => ({
    ...segment,
    oldLogprobs: moved(segment.logprobs, 0.02),
    refLogprobs: moved(segment.logprobs, 0.1),
  }))
  const now = segments.map(({ logprobs }) => moved(logprobs, 0.2))
  const besides = {
    entropy: 0,
    kl: { estimator: 'k3', coefficient: 1e-3 },
    correction: tis('token'),
  }
  for (const kind of ['ppo-clip', 'gspo']) {
    const loss = { kind, low: 0.2, high: 0.28, ...besides }
    const took = timed(() => {
      for (let s = 0; s < whole.length; s++) segmentLoss(loss, whole[s], now[s])
    })
    const rate = (rows * response) / took.median / 1000
    console.log(
      `${kind} with kl k3 and token TIS: ${say(took)}, ${rate.toFixed(0)} million tokens/s, half of them drawn`,
    )
  }
}

const members = membersOf(await consultation())
let made
const took = timed(() => {
  made = toTrainBatch(groupsOf(members), 1, 3, batchOptions)
  assertBatch(made.batch)
})
const { batch, forks } = made
const drawn = batch.segments.reduce((sum, { mask }) => sum + mask.reduce((a, b) => a + b, 0), 0)
console.log(
  `${batch.segments.length} segments x ${batch.segments[0].tokens.length} tokens, ${drawn} of them drawn in ${shape.turns} turns each, ${forks} forks`,
)
console.log(`episodes to a checked batch: ${say(took)}; target 150 ms`)
advantages(members, batch.segments[0].mask)
losses(batch.segments)
