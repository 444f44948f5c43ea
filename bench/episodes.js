/** Fifteen-turn rule-patient episodes per second on one thread, rewards included; run after `npm run build`. */

import { scripted } from '../dist/exports/agents.js'
import { graderView, rollout, task } from '../dist/index.js'

const turns = 15
const seconds = Number(process.argv[2] ?? 3)

/** Episodes per second over `seconds`, after a warm-up of 200. */
async function rate({ actionSpace, heldOut, makeEnv }, reward) {
  const moves = actionSpace.actions.filter(({ kind }) => kind !== 'diagnose')
  const diagnosis = actionSpace.actions.find(({ kind }) => kind === 'diagnose')
  const play = async (n) => {
    const asked = Array.from(
      { length: turns - 1 },
      (_, t) => moves[(n * 7 + t * 11) % moves.length],
    )
    const truth = heldOut[n % heldOut.length]
    const doctor = scripted([...asked, diagnosis])
    const episode = await rollout(makeEnv(), doctor, { seed: n, options: { case: truth } })
    if (episode.turns.length !== turns)
      throw new Error(`Expected ${turns} turns, got ${episode.turns.length}`)
    await reward?.(episode, graderView(truth), {})
  }
  for (let n = 0; n < 200; n++) await play(n)
  const started = performance.now()
  let n = 0
  while (performance.now() - started < seconds * 1000) await play(n++)
  return n / ((performance.now() - started) / 1000)
}

for (const language of ['en', 'zh']) {
  const big = { money: 1e6, minutes: 1e6, maxTurns: turns }
  const world = await task({ tier: 'standard', language, heldOut: 200, ...big })
  const scored = await rate(world, world.reward)
  const bare = await rate(world)
  console.log(
    `${language}: ${scored.toFixed(0)} fifteen-turn episodes/s with the default reward (target 300); without it ${(bare / scored).toFixed(2)} times as many`,
  )
}
