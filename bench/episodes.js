/** Fifteen-turn rule-patient episodes per second on one thread, rewards included; run after `npm run build`. */
import { rollout, scripted, setting } from '../dist/index.js'

const turns = 15
const seconds = Number(process.argv[2] ?? 3)

/** Episodes per second over `seconds`, after a warm-up of 200. */
async function rate(world, cases, scored) {
  const { actions } = world.vocabulary
  const moves = actions.filter(({ kind }) => kind !== 'diagnose')
  const diagnosis = actions.find(({ kind }) => kind === 'diagnose')
  const play = async (n) => {
    const script = Array.from(
      { length: turns - 1 },
      (_, t) => moves[(n * 7 + t * 11) % moves.length],
    )
    const truth = cases[n % cases.length]
    const env = scored ? world.makeEnv() : world.makeBareEnv()
    const episode = await rollout(env, scripted([...script, diagnosis]), {
      seed: n,
      options: { case: truth },
    })
    if (episode.turns.length !== turns)
      throw new Error(`Expected ${turns} turns, got ${episode.turns.length}`)
  }
  for (let n = 0; n < 200; n++) await play(n)
  const started = performance.now()
  let n = 0
  while (performance.now() - started < seconds * 1000) await play(n++)
  return n / ((performance.now() - started) / 1000)
}

for (const language of ['en', 'zh']) {
  const options = {
    tier: 'standard',
    language,
    heldOut: 200,
    money: 1e6,
    minutes: 1e6,
    maxTurns: turns,
  }
  const world = await setting(options)
  const bare = await setting({
    ...options,
    reward: Object.assign(async () => ({ total: 0, parts: {} }), {
      rewardName: 'none',
      bounds: [0, 0],
      source: 'bench',
    }),
  })
  const withReward = await rate({ ...world, makeBareEnv: bare.makeEnv }, world.heldOut, true)
  const without = await rate({ ...world, makeBareEnv: bare.makeEnv }, world.heldOut, false)
  console.log(
    `${language}: ${withReward.toFixed(0)} fifteen-turn episodes/s with the default reward (target 300), ${without.toFixed(0)} without it (${(without / withReward).toFixed(2)}x)`,
  )
}
